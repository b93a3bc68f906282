package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/schema"
	"engram/graph/value"
)

// checkConstraints looks at what the transaction changed since the last look:
// values of unique properties that another element has too, and required
// properties that are not there. It is called at the end of each statement, so
// that a statement may swap values.
func (tx *Tx) checkConstraints() error {
	defer tx.bare()()
	c := &tx.w.declared
	for _, val := range slices.Sorted(maps.Keys(c.unique)) {
		d := c.unique[val]
		if tx.schema.byID(d.ID) == nil {
			continue // dropped since
		}
		if err := tx.checkUnique(d, []byte(val)); err != nil {
			return err
		}
	}
	needed := slices.SortedFunc(maps.Keys(c.needed), func(a, b neededProp) int {
		return cmp.Or(compareIDs(a.def, b.def), compareIDs(a.elem, b.elem))
	})
	for _, n := range needed {
		if err := tx.checkNeeded(n); err != nil {
			return err
		}
	}
	c.unique, c.needed = nil, nil
	return nil
}

// checkUnique refuses a value that two living elements have.
func (tx *Tx) checkUnique(d *indexDef, val []byte) error {
	var ids []uint64
	err := tx.scanEntries(d, val, key.After(val), func(id uint64) bool {
		ids = append(ids, id)
		return true
	})
	if len(ids) < 2 || err != nil {
		return err
	}
	slices.Sort(ids)
	_, err = tx.firstTwins(d, ids)
	return err
}

// firstTwins looks among elements with equal index entries for two that are
// equal in all properties: entries of long values may be equal by chance. What
// it finds it returns as the error.
func (tx *Tx) firstTwins(d *indexDef, ids []uint64) (found bool, err error) {
	vals := make([][]value.Value, len(ids))
	for i, id := range ids {
		if vals[i], err = tx.valuesOf(d, id); err != nil {
			return false, err
		}
		for j := range i {
			if equalAll(vals[i], vals[j]) {
				return true, tx.errNotUnique(d, vals[i], ids[j], id)
			}
		}
	}
	return false, nil
}

func equalAll(a, b []value.Value) bool {
	for i := range a {
		if value.Equal(a[i], b[i]) != value.True {
			return false
		}
	}
	return true
}

// valuesOf reads the properties of a definition.
func (tx *Tx) valuesOf(d *indexDef, id uint64) ([]value.Value, error) {
	out := make([]value.Value, len(d.keys))
	for i, k := range d.keys {
		v, err := tx.storedProp(d.Edge, id, k)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// storedProp reads a property as it is stored: an external id that is derived
// does not count.
func (tx *Tx) storedProp(edge bool, id uint64, k value.KeyID) (value.Value, error) {
	if !edge {
		v, _, err := tx.storedNodeProp(value.NodeID(id), k)
		return v, err
	}
	e, err := tx.edge(value.EdgeID(id))
	if e == nil || err != nil {
		return value.Null, err
	}
	p, ok := record.GetProp(e.Props, k)
	if !ok {
		return value.Null, nil
	}
	return tx.edgeValue(value.EdgeID(id), p)
}

// checkNeeded refuses an element without a property that it must have.
func (tx *Tx) checkNeeded(n neededProp) error {
	d := tx.schema.byID(n.def)
	if d == nil || d.State == schema.Dropping || !tx.lives(d.Edge, n.elem) {
		return nil
	}
	if !d.Edge && !tx.HasLabel(value.NodeID(n.elem), value.LabelID(d.owner)) {
		return nil
	}
	v, err := tx.storedProp(d.Edge, n.elem, d.keys[0])
	if err != nil || !v.IsNull() {
		return err
	}
	return tx.errMissing(d, n.elem)
}

func errConstraint(format string, args ...any) error {
	return &Error{Code: ConstraintViolated, Detail: "ConstraintValidationFailed", Message: fmt.Sprintf(format, args...)}
}

func (tx *Tx) errNotUnique(d *indexDef, vals []value.Value, a, b uint64) error {
	texts := make([]string, len(vals))
	for i, v := range vals {
		texts[i] = d.Keys[i] + " = " + shortValue(v)
	}
	return errConstraint("%s and %s with %s both have %s, which the constraint %s forbids",
		tx.nameOf(d.Edge, a), tx.nameOf(d.Edge, b), describeOwner(d.Def), strings.Join(texts, ", "), d.Name)
}

func (tx *Tx) errMissing(d *indexDef, id uint64) error {
	return errConstraint("%s with %s has no property %s, which the constraint %s demands",
		tx.nameOf(d.Edge, id), describeOwner(d.Def), d.Keys[0], d.Name)
}

// nameOf names an element for a person, by its external id.
func (tx *Tx) nameOf(edge bool, id uint64) string {
	if edge {
		if e, err := tx.LoadEdge(value.EdgeID(id)); err == nil && e != nil {
			return "relationship " + e.ElementID
		}
		return fmt.Sprintf("relationship %d", id)
	}
	if s, err := tx.ElementID(value.NodeID(id)); err == nil {
		return "node " + s
	}
	return fmt.Sprintf("node %d", id)
}

// shortValue shows a value in at most 60 characters or so.
func shortValue(v value.Value) string {
	r := []rune(v.String())
	if len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return string(r)
}
