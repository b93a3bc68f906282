package audit

import "engram/graph/value"

// textScan knows which nodes have text, and what the indexes have of them. Findings
// share it.
type textScan struct {
	a   *audit
	has bits
	n   int64

	text, vector *census
}

// texts returns the scan, which is complete after the pass over the records.
func (a *audit) texts() *textScan {
	if a.text == nil {
		a.text = &textScan{a: a, has: newBits(a.shape.Slots())}
	}
	return a.text
}

func (t *textScan) record(r *record) error {
	if r.Text {
		t.has.set(r.slot)
		t.n++
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
	if c.certain, c.err = t.a.tx.IndexedTexts(func(id value.NodeID) { t.count(c, id, "full-text") }); c.err == nil {
		c.err = t.lacking(c, t.a.tx.HasWords)
	}
	return c
}

// vectors looks at the vectors, once.
func (t *textScan) vectors() *census {
	if t.vector != nil {
		return t.vector
	}
	c := &census{have: newBits(t.a.shape.Slots()), certain: true}
	t.vector = c
	var waiting []value.NodeID
	c.model, waiting, c.err = t.a.tx.IndexedVectors(func(id value.NodeID) { t.count(c, id, "vector") })
	for _, id := range waiting {
		if s, ok := t.a.shape.NodeSlot(id); ok && t.has.has(s) && !c.have.has(s) {
			c.have.set(s) // for now
			c.waiting = append(c.waiting, s)
		}
	}
	if c.err == nil && c.model != "" {
		c.err = t.lacking(c, t.a.tx.HasMeaning)
	}
	return c
}

// count notes that an index has a node.
func (t *textScan) count(c *census, id value.NodeID, index string) {
	slot, living := t.a.shape.NodeSlot(id)
	why := ""
	switch {
	case !living:
		why = "the " + index + " index has it, but it is gone"
	case !t.has.has(slot):
		why = "the " + index + " index has it, but it has no text"
	case c.have.has(slot):
		why = "the " + index + " index has it twice"
	default:
		c.have.set(slot)
		c.with++
		return
	}
	c.extra = append(c.extra, hit{id, why})
}

// lacking lists the nodes with text that an index does not have, but could.
func (t *textScan) lacking(c *census, could func(value.NodeID) (bool, error)) error {
	for s := range t.a.shape.Slots() {
		if !t.has.has(s) || c.have.has(s) {
			continue
		}
		if t.a.ctx.Err() != nil {
			return canceled(t.a.ctx)
		}
		ok, err := could(t.a.shape.NodeID(s))
		if err != nil {
			return err
		}
		if ok {
			c.rest = append(c.rest, s)
		} else {
			c.silent++
		}
	}
	return nil
}
