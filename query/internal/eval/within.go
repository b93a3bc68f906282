package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// Comparison is slot.Key Op Value, where the value is the same in all rows.
type Comparison struct {
	Slot  int
	Key   string
	Op    syntax.Op // =, <, <=, > or >=
	Value Fn
}

// ComparisonOf takes a predicate apart; ok is false when it has another form.
func ComparisonOf(e bound.Expr) (c Comparison, ok bool) {
	b, isBinary := Fold(e).(*bound.Binary)
	if !isBinary {
		return c, false
	}
	op, left, right := b.Op, b.L, b.R
	if rowFree(left) {
		op, left, right = mirrored(op), right, left
	}
	p, isProp := left.(*bound.Prop)
	if !isProp || op < syntax.OpEq || op > syntax.OpGe || op == syntax.OpNe {
		return c, false
	}
	s, isSlot := p.E.(*bound.Slot)
	switch right.(type) {
	case *bound.Const, *bound.Param:
	default:
		return c, false
	}
	if !isSlot {
		return c, false
	}
	comp := compiler{}
	return Comparison{Slot: s.Index, Key: p.Key, Op: op, Value: comp.expr(right)}, true
}

// Narrow lays a comparison with v onto bounds; ok is false when v is no number or
// the side is taken.
func (c *Comparison) Narrow(b *value.Bounds, v value.Value) (ok bool) {
	if !v.IsNumber() || v.IsNaN() {
		return false
	}
	low := c.Op == syntax.OpGt || c.Op == syntax.OpGe || c.Op == syntax.OpEq
	high := c.Op == syntax.OpLt || c.Op == syntax.OpLe || c.Op == syntax.OpEq
	if low && !b.Low.IsNull() || high && !b.High.IsNull() {
		return false
	}
	if low {
		b.Low, b.OverLow = v, c.Op == syntax.OpGt
	}
	if high {
		b.High, b.UnderHigh = v, c.Op == syntax.OpLt
	}
	return true
}
