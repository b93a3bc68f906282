package graph

import (
	"encoding/binary"
	"slices"

	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/schema"
	"engram/graph/value"
)

// fetchChecked is the fetcher of a check.
func (c *checker) fetchChecked(el element, p record.Prop) (value.Value, error) {
	if !p.Overflow {
		return p.Value, nil
	}
	if el.edge {
		return c.fetch(overflowEdge, el.id, p.Key)
	}
	return c.fetch(overflowNode, el.id, p.Key)
}

// declared checks that the declared indexes have the entries that a record asks
// for, and that the record has what constraints demand. An index that is being
// filled may lack entries, and so may that of an edge that waits for the sweeper.
func (c *checker) declared(el element, dead bool) {
	c.s.schema.each(el, func(d *indexDef) {
		if !d.Indexed() {
			if !dead && !d.complete(el.props) {
				c.report.add("element %d with %s has no property %s, which the constraint %s demands",
					el.id, describeOwner(d.Def), d.Keys[0], d.Name)
			}
			return
		}
		k, err := d.entry(el, c.fetchChecked)
		if k == nil || err != nil {
			return // what cannot be fetched is reported with the property
		}
		sealed, err := c.snap.Get(store.Index, k)
		switch {
		case err != nil:
			c.report.add("the entry of element %d in the index %s cannot be read: %v", el.id, d.Name, err)
		case sealed != nil:
			c.indexed++
		case !dead && d.State == schema.Online:
			c.report.add("the entry of element %d in the index %s is missing", el.id, d.Name)
		}
	})
}

// indexWalk counts what a walk over the index space finds of the declared
// indexes, in order of key.
type indexWalk struct {
	found map[uint64]counts64
	last  []byte
	ids   []uint64 // of the elements with the value in last
	twins [][]uint64
	defs  []*indexDef // of twins
}

// entry takes the next key of the index space.
func (w *indexWalk) entry(c *checker, k []byte) {
	if k[0] != indexDeclared {
		return
	}
	if len(k) < 18 {
		c.report.add("the index entry %x is too short", k)
		return
	}
	id := binary.BigEndian.Uint64(k[1:])
	d := c.s.schema.byID(id)
	if d == nil {
		c.report.add("the index entry %x belongs to no index", k)
		return
	}
	if d.State == schema.Dropping {
		c.indexed++ // left over, to be removed
	}
	n := w.found[id]
	n.entries++
	if val := valuePart(k); string(val) != string(w.last) {
		w.flush(c)
		n.distinct++
		w.last = slices.Clone(val)
	}
	w.found[id] = n
	if d.Kind == schema.Unique && d.State == schema.Online {
		w.ids = append(w.ids, binary.BigEndian.Uint64(k[len(k)-8:]))
	}
}

// flush ends the entries of one value.
func (w *indexWalk) flush(c *checker) {
	if len(w.ids) > 1 {
		w.twins = append(w.twins, slices.Clone(w.ids))
		w.defs = append(w.defs, c.s.schema.byID(binary.BigEndian.Uint64(w.last[1:])))
	}
	w.ids = w.ids[:0]
}

// end compares the counts and looks at elements with equal entries of unique
// constraints.
func (w *indexWalk) end(c *checker) error {
	w.flush(c)
	for _, d := range c.s.schema.defs {
		if got, want := w.found[d.ID], c.s.counts[d.ID]; d.Indexed() && got != want {
			c.report.add("the index %s has %d entries of %d values, but %d of %d are counted",
				d.Name, got.entries, got.distinct, want.entries, want.distinct)
		}
	}
	tx := c.db.readTx(c.snap)
	for i, ids := range w.twins {
		ids = slices.DeleteFunc(ids, func(id uint64) bool { return !tx.lives(w.defs[i].Edge, id) })
		complete := ids[:0]
		for _, id := range ids {
			vals, err := tx.valuesOf(w.defs[i], id)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(vals, value.Value.IsNull) {
				complete = append(complete, id)
			}
		}
		if found, err := tx.firstTwins(w.defs[i], complete); found {
			c.report.add("%v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}
