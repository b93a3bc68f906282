package audit

import (
	"slices"

	"engram/graph/value"
)

// textScan knows which nodes have text, and what the indexes have of them. Findings
// share it.
type textScan struct {
	a   *audit
	has bits
	n   int64

	text, vector *census
	may          []uint32 // nodes without a vector whose text may say something
	mute         int64    // those whose text does not
}

// texts returns the scan, which is complete after the pass over the records.
func (a *audit) texts() *textScan {
	if a.text == nil {
		a.text = &textScan{a: a, has: newBits(a.shape.Slots())}
	}
	return a.text
}

// begin looks at the vectors before the pass over the records, which then sees whose text
// has none. Of a graph that is open for reading only nothing is told of its indexes, so
// that its texts need no look either.
func (t *textScan) begin() {
	c := &census{have: newBits(t.a.shape.Slots()), certain: true}
	t.vector = c
	if t.a.tx.OnlyReads() {
		return
	}
	var waiting []value.NodeID
	c.model, waiting, c.err = t.a.tx.IndexedVectors(func(id value.NodeID) { t.count(c, id, "vector") })
	for _, id := range waiting {
		if s, ok := t.a.shape.NodeSlot(id); ok && !c.have.has(s) {
			c.have.set(s)
			c.waiting = append(c.waiting, s)
		}
	}
}

func (t *textScan) record(r *record) error {
	if !r.Text {
		return nil
	}
	t.has.set(r.slot)
	t.n++
	if c := t.vector; c.err == nil && c.model != "" && !c.have.has(r.slot) {
		if r.MayMean() {
			t.may = append(t.may, r.slot)
		} else {
			t.mute++
		}
	}
	return nil
}

// census compares the nodes of an index with those that have text.
type census struct {
	have    bits
	with    int64    // nodes with text that it has
	rest    []uint32 // that it lacks
	extra   []hit    // that it should not have, or has twice
	silent  int64    // without a vector since the model knows none of their words
	certain bool     // nothing is being dropped
	judged  bool
	model   string   // of vectors; empty: none are kept
	waiting []uint32 // for an endpoint to make their vector
	err     error    // why it could not be looked at
}

// words looks at the text index, once.
func (t *textScan) words() *census {
	if t.text != nil {
		return t.text
	}
	c := &census{have: newBits(t.a.shape.Slots())}
	t.text = c
	if c.certain, c.err = t.a.tx.IndexedTexts(func(id value.NodeID) { t.count(c, id, "full-text") }); c.err != nil {
		return c
	}
	var rest []uint32
	for s := range t.a.shape.Slots() {
		if t.has.has(s) && !c.have.has(s) {
			rest = append(rest, s)
		}
	}
	t.judge(c, "full-text", rest, t.a.tx.HasWords)
	return c
}

// vectors looks at the vectors, once.
func (t *textScan) vectors() *census {
	c := t.vector
	if c.err != nil || c.model == "" || c.judged {
		return c
	}
	for _, s := range c.waiting {
		c.have.clear(s)
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(s uint32) bool { return !t.has.has(s) })
	c.silent = t.mute
	t.judge(c, "vector", t.may, t.a.tx.HasMeaning)
	return c
}

// count notes that an index has a node.
func (t *textScan) count(c *census, id value.NodeID, index string) {
	slot, living := t.a.shape.NodeSlot(id)
	switch {
	case !living:
		c.extra = append(c.extra, hit{id, "the " + index + " index has it, but it is gone"})
	case c.have.has(slot):
		c.extra = append(c.extra, hit{id, "the " + index + " index has it twice"})
	default:
		c.have.set(slot)
	}
}

// judge tells what an index has too much, and which of some nodes with text that it does
// not have it could have.
func (t *textScan) judge(c *census, index string, rest []uint32, could func(value.NodeID) (bool, error)) {
	c.judged = true
	for s := range t.a.shape.Slots() {
		switch {
		case !c.have.has(s):
		case t.has.has(s):
			c.with++
		default:
			c.extra = append(c.extra, hit{t.a.shape.NodeID(s), "the " + index + " index has it, but it has no text"})
		}
	}
	for _, s := range rest {
		if t.a.stopped() {
			c.err = canceled(t.a.ctx)
			return
		}
		ok, err := could(t.a.shape.NodeID(s))
		switch {
		case err != nil:
			c.err = err
			return
		case ok:
			c.rest = append(c.rest, s)
		default:
			c.silent++
		}
	}
}
