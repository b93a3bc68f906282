package logical

import (
	"math/bits"

	"engram/query/internal/bound"
)

// Slots is a set of slots.
type Slots []uint64

// Has reports whether s is in the set.
func (b Slots) Has(s int) bool { return s >= 0 && s>>6 < len(b) && b[s>>6]&(1<<(s&63)) != 0 }

// With returns the set with more slots in it. It leaves b alone; negative slots
// are passed over.
func (b Slots) With(slots ...int) Slots {
	out := append(Slots(nil), b...)
	for _, s := range slots {
		if s < 0 {
			continue
		}
		for s>>6 >= len(out) {
			out = append(out, 0)
		}
		out[s>>6] |= 1 << (s & 63)
	}
	return out
}

// Without returns the set with slots taken out.
func (b Slots) Without(slots ...int) Slots {
	out := append(Slots(nil), b...)
	for _, s := range slots {
		if s >= 0 && s>>6 < len(out) {
			out[s>>6] &^= 1 << (s & 63)
		}
	}
	return out
}

// Union returns the slots of either set.
func (b Slots) Union(c Slots) Slots { return b.With(c.List()...) }

// And returns the slots of both sets.
func (b Slots) And(c Slots) Slots {
	out := append(Slots(nil), b...)
	for i := range out {
		if i < len(c) {
			out[i] &= c[i]
		} else {
			out[i] = 0
		}
	}
	return out
}

// Covers reports whether every slot of c is in b.
func (b Slots) Covers(c Slots) bool {
	for i, w := range c {
		var have uint64
		if i < len(b) {
			have = b[i]
		}
		if w&^have != 0 {
			return false
		}
	}
	return true
}

// List returns the slots in ascending order.
func (b Slots) List() []int {
	var out []int
	for i, w := range b {
		for w != 0 {
			out = append(out, i<<6+bits.TrailingZeros64(w))
			w &= w - 1
		}
	}
	return out
}

// SlotsOf returns the slots that expressions read; nil ones are passed over.
func SlotsOf(exprs ...bound.Expr) Slots {
	var out Slots
	for _, e := range exprs {
		Walk(e, func(e bound.Expr) {
			if s, ok := e.(*bound.Slot); ok {
				out = out.With(s.Index)
			}
		})
	}
	return out
}

// Walk calls visit for e and every expression in it, outer ones first. Of a
// subquery it goes into the outer arguments, not into the inner query.
func Walk(e bound.Expr, visit func(bound.Expr)) {
	if e == nil {
		return
	}
	visit(e)
	switch e := e.(type) {
	case *bound.Prop:
		Walk(e.E, visit)
	case *bound.Index:
		Walk(e.E, visit)
		Walk(e.I, visit)
	case *bound.Slice:
		Walk(e.E, visit)
		Walk(e.From, visit)
		Walk(e.To, visit)
	case *bound.List:
		walkAll(e.Elems, visit)
	case *bound.Map:
		walkAll(e.Values, visit)
	case *bound.MapProjection:
		Walk(e.E, visit)
		walkAll(e.Values, visit)
	case *bound.Unary:
		Walk(e.E, visit)
	case *bound.Binary:
		Walk(e.L, visit)
		Walk(e.R, visit)
	case *bound.IsNull:
		Walk(e.E, visit)
	case *bound.IsTyped:
		Walk(e.E, visit)
	case *bound.HasLabels:
		Walk(e.E, visit)
	case *bound.Call:
		walkAll(e.Args, visit)
	case *bound.Case:
		Walk(e.Test, visit)
		walkAll(e.When, visit)
		walkAll(e.Then, visit)
		Walk(e.Else, visit)
	case *bound.ListComp:
		Walk(e.List, visit)
		Walk(e.Where, visit)
		Walk(e.Proj, visit)
	case *bound.Quantifier:
		Walk(e.List, visit)
		Walk(e.Where, visit)
	case *bound.Reduce:
		Walk(e.Init, visit)
		Walk(e.List, visit)
		Walk(e.E, visit)
	case *bound.Subquery:
		walkAll(e.Outer, visit)
	}
}

func walkAll(es []bound.Expr, visit func(bound.Expr)) {
	for _, e := range es {
		Walk(e, visit)
	}
}
