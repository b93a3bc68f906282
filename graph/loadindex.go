package graph

import (
	"encoding/binary"
	"maps"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// declareLoaded notes the entries of a new element and looks for the properties
// that it must have. Uniqueness is checked with the batch.
func (l *Loader) declareLoaded(el element) error {
	var err error
	l.base.schema.each(el, func(d *indexDef) {
		switch {
		case err != nil:
		case d.Indexed():
			err = l.declared.add(d, el, func(_ element, p record.Prop) (value.Value, error) { return p.Value, nil })
		case !d.complete(el.props):
			what := "node"
			if el.edge {
				what = "relationship"
			}
			err = errConstraint("a %s with %s has no property %s, which the constraint %s demands",
				what, describeOwner(d.Def), d.Keys[0], d.Name)
		}
	})
	return err
}

// declaredPuts appends the entries of the batch, after looking for values that
// are there already. The edges of deleted hubs count too, as far as they are not
// swept: a load does not go into such detail.
func (l *Loader) declaredPuts(puts []store.Put, src source) ([]store.Put, map[uint64]counts64, error) {
	c := &l.declared
	if c.entries.Len() == 0 {
		return puts, l.base.counts, nil
	}
	for _, val := range slices.Sorted(maps.Keys(c.unique)) {
		if err := l.checkUnique(c.unique[val], val, src); err != nil {
			return nil, nil, err
		}
	}
	delta, err := c.deltas(src)
	if err != nil {
		return nil, nil, err
	}
	counts := addCounts(l.base.counts, delta)
	return countPuts(c.puts(puts, l.db.seal), l.db.seal, l.base.counts, counts), counts, nil
}

func (l *Loader) checkUnique(d *indexDef, val string, src source) error {
	var ids []uint64
	err := src.Scan(store.Index, []byte(val), key.After([]byte(val)), func(k, _ []byte) bool {
		if string(valuePart(k)) == val {
			ids = append(ids, binary.BigEndian.Uint64(k[len(k)-8:]))
		}
		return len(ids) < 2
	})
	if err != nil {
		return wrap(err)
	}
	l.declared.entries.Ascend(val, func(k string, _ bool) bool {
		if k[:len(k)-8] != val {
			return false
		}
		ids = append(ids, binary.BigEndian.Uint64([]byte(k[len(k)-8:])))
		return len(ids) < 2
	})
	if len(ids) < 2 {
		return nil
	}
	return errConstraint("two elements with %s, %d and %d, have the same values of %v, which the constraint %s forbids",
		describeOwner(d.Def), ids[0], ids[1], d.Keys, d.Name)
}
