package logical

import "engram/query/internal/bound"

// projectLate computes items behind a limit instead of below it, for the rows
// that are left only: reading a property of every node to keep ten is what makes
// a small question slow. Items that the sort keys read stay below.
func projectLate(op *Op) {
	switch o := (*op).(type) {
	case *TopK:
		late(op, &o.In, keySlots(o.Keys))
	case *Limit:
		projectLate(&o.In) // a skip under the limit
		late(op, &o.In, nil)
	case *Skip:
		late(op, &o.In, nil)
	}
}

// late moves the items of the projection at in, if there is one, above op,
// except those with slots in early.
func late(op, in *Op, early Slots) {
	p, ok := (*in).(*Project)
	if !ok {
		return
	}
	var below, above []bound.Item
	work := false
	for _, it := range p.Items {
		if early.Has(it.Slot) {
			below = append(below, it)
			continue
		}
		above = append(above, it)
		switch it.Expr.(type) {
		case *bound.Slot, *bound.Const, *bound.Param:
		default:
			work = true
		}
	}
	if !work {
		return
	}
	if len(below) == 0 {
		*in = p.In
	} else {
		*in = &Project{Unary: unary(p.In), Items: below}
	}
	*op = &Project{Unary: unary(*op), Items: above}
}
