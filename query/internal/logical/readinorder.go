package logical

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
)

// guessLimit is what a limit that is not written as a number is taken to be.
const guessLimit = 100

// readInOrder reads nodes in the order of an index below a sort that keeps the
// first rows only, when its first key is the property that the index is ordered by:
// the sort then ends as soon as nothing that comes could be among them. It still
// sorts what it gets, so the index has to be in order about, and rows with equal keys
// come out as ever. Nodes in the order of their numbers are not sorted at all: scans
// yield them so.
func (b *builder) readInOrder(op *Op) {
	top, ok := (*op).(*TopK)
	if !ok || b.writes { // a writing transaction has entries of its own
		return
	}
	key, share, plain := top.Keys[0].Expr, 1.0, true
	for in := &top.In; ; in = (*in).Inputs()[0] {
		switch o := (*in).(type) {
		case *Project:
			key = beforeItems(key, o.Items)
		case *Filter:
			for _, p := range o.Preds {
				share *= predShare(p)
			}
		case *Expand: // one node's rows stay together and in place
			plain = false
		case *IndexSeek:
			top.InOrder = orderSeek(o, key, top.Keys[0].Desc)
			return
		case *NodeScan:
			if plain && isNumber(key, o.Slot) && !top.Keys[0].Desc && oneRow(o.In) { // scans are in this order
				*op = unsorted(top)
				return
			}
			if seek := b.orderedScan(o, key, top, share); seek != nil {
				*in, top.InOrder = seek, true
			}
			return
		default:
			return
		}
	}
}

// unsorted is a sort's skip and limit, for rows that come in its order.
func unsorted(top *TopK) Op {
	in := top.In
	if top.Skip != nil {
		in = &Skip{Unary: unary(in), N: top.Skip}
	}
	return &Limit{Unary: unary(in), N: top.Limit}
}

// beforeItems is a sort key as it reads before a projection.
func beforeItems(key bound.Expr, items []bound.Item) bound.Expr {
	of := func(slot int) bound.Expr {
		for _, it := range items {
			if it.Slot == slot {
				return it.Expr
			}
		}
		return nil
	}
	switch k := key.(type) {
	case *bound.Slot:
		if e := of(k.Index); e != nil {
			return e
		}
	case *bound.Prop:
		if s, ok := k.E.(*bound.Slot); ok {
			if from, ok := of(s.Index).(*bound.Slot); ok {
				moved := *k
				moved.E = from
				return &moved
			}
		}
	case *bound.Call:
		if k.Name != "id" || len(k.Args) != 1 {
			break
		}
		if s, ok := k.Args[0].(*bound.Slot); ok {
			if from, ok := of(s.Index).(*bound.Slot); ok {
				moved := *k
				moved.Args = []bound.Expr{from}
				return &moved
			}
		}
	}
	return key
}

func orderOf(desc bool) Order {
	if desc {
		return Descending
	}
	return Ascending
}

// orderSeek makes a seek yield its nodes in order, if the property is the one behind
// those that are equal.
func orderSeek(o *IndexSeek, key bound.Expr, desc bool) bool {
	name, ok := propOf(key, o.Slot)
	n := len(o.Eq)
	if !ok || o.Edge || o.Any || n != len(o.Keys)-1 || o.Keys[n] != name || !oneRow(o.In) {
		return false
	}
	o.Order = orderOf(desc)
	return true
}

// orderedScan returns the seek that takes the place of a scan, nil when it would not
// pay: what passes the filters must be found well before the end.
func (b *builder) orderedScan(scan *NodeScan, key bound.Expr, top *TopK, share float64) *IndexSeek {
	name, ok := propOf(key, scan.Slot)
	ix, indexed := b.g.(access.OrderedIndexes)
	if !ok || !indexed || scan.Label == "" || !oneRow(scan.In) {
		return nil
	}
	nodes := newEstimator(b.g, nil).nodes(scan.Label)
	for _, d := range ix.Schema().All() {
		if d.Edge || !d.Usable() || d.Owner != scan.Label || !slices.Equal(d.Keys, []string{name}) {
			continue
		}
		entries, _ := ix.IndexCounts(d.ID)
		desc := top.Keys[0].Desc
		if desc && float64(entries) != nodes { // null comes first
			continue
		}
		if 2*(numberOf(top.Skip, 0)+numberOf(top.Limit, guessLimit))/share >= nodes {
			continue
		}
		return &IndexSeek{Unary: scan.Unary, Slot: scan.Slot, Owner: d.Owner, Keys: []string{name}, Order: orderOf(desc), All: true}
	}
	return nil
}

func numberOf(e bound.Expr, unknown float64) float64 {
	if e == nil {
		return 0
	}
	if c, ok := e.(*bound.Const); ok && c.Value.Kind() == value.KindInt {
		return float64(c.Value.AsInt())
	}
	return unknown
}
