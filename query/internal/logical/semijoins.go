package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// semiJoins makes the predicates of a filter that ask whether a subquery has a row
// into operators of their own, above the filter with the others: EXISTS { }, a
// pattern as a predicate, COUNT { } compared with nothing, and NOT of these.
func semiJoins(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	kept := f.Preds[:0:0]
	var joins []*SemiJoin
	for _, p := range f.Preds {
		if j := semiJoin(p); j != nil {
			joins = append(joins, j)
		} else {
			kept = append(kept, p)
		}
	}
	if f.Preds = kept; len(kept) == 0 {
		*op = f.In
	}
	for _, j := range joins {
		j.In = *op
		*op = j
	}
}

// semiJoin returns what a predicate asks of a subquery, or nil.
func semiJoin(pred bound.Expr) *SemiJoin {
	e, anti := pred, false
	for {
		not, ok := e.(*bound.Unary)
		if !ok || not.Op != syntax.OpNot {
			break
		}
		e, anti = not.E, !anti
	}
	if s, ok := e.(*bound.Subquery); ok && s.Kind == bound.Exists {
		return &SemiJoin{Sub: s, Expr: pred, Anti: anti}
	}
	cmp, ok := e.(*bound.Binary)
	if !ok {
		return nil
	}
	op, left, right := cmp.Op, cmp.L, cmp.R
	if _, ok := left.(*bound.Const); ok {
		op, left, right = mirrored(op), right, left
	}
	s, ok := left.(*bound.Subquery)
	n, isConst := right.(*bound.Const)
	if !ok || !isConst || s.Kind != bound.Count {
		return nil
	}
	switch some, none := asksFor(op, n.Value.AsInt()); {
	case n.Value.String() != "0" && n.Value.String() != "1":
		return nil
	case some:
		return &SemiJoin{Sub: s, Expr: pred, Anti: anti}
	case none:
		return &SemiJoin{Sub: s, Expr: pred, Anti: !anti}
	}
	return nil
}

// asksFor reports whether a count compared with n, 0 or 1, asks for any rows at
// all, or for none.
func asksFor(op syntax.Op, n int64) (some, none bool) {
	switch op {
	case syntax.OpGt, syntax.OpNe:
		return n == 0, false
	case syntax.OpGe:
		return n == 1, false
	case syntax.OpEq, syntax.OpLe:
		return false, n == 0
	case syntax.OpLt:
		return false, n == 1
	}
	return false, false
}
