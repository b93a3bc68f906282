package logical

import (
	"slices"

	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// seekIDs turns a scan whose nodes are filtered by id = e or id IN e into a
// seek, and begins one that is filtered by id(n) > e behind e.
func seekIDs(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	scan, ok := f.In.(*NodeScan)
	if !ok {
		return
	}
	have := Defined(scan.In)
	for i, p := range f.Preds {
		id, any, ok := idTest(p, scan.Slot, have)
		if !ok {
			continue
		}
		f.In = &IDSeek{Unary: scan.Unary, Slot: scan.Slot, ID: id, Any: any}
		f.Preds = slices.Delete(slices.Clone(f.Preds), i, i+1)
		if len(f.Preds) == 0 {
			*op = f.In
		}
		return
	}
	for _, p := range f.Preds {
		if after, ok := numberTest(p, scan.Slot); ok {
			scan.After = after
			return
		}
	}
}

// numberTest tells whether p is id(slot) > e where e reads no row.
func numberTest(p bound.Expr, slot int) (after bound.Expr, ok bool) {
	b, ok := p.(*bound.Binary)
	if !ok {
		return nil, false
	}
	left, right := b.L, b.R
	switch b.Op {
	case syntax.OpGt:
	case syntax.OpLt:
		left, right = right, left
	default:
		return nil, false
	}
	switch right.(type) {
	case *bound.Const, *bound.Param:
		return right, isNumber(left, slot)
	}
	return nil, false
}

// isNumber reports whether e is id(slot).
func isNumber(e bound.Expr, slot int) bool {
	c, ok := e.(*bound.Call)
	if !ok || c.Name != "id" || len(c.Args) != 1 {
		return false
	}
	s, ok := c.Args[0].(*bound.Slot)
	return ok && s.Index == slot
}
