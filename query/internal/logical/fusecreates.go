package logical

import "engram/query/internal/bound"

// fuseCreates makes one operator of CREATE clauses that follow each other, as in
// a script of a thousand of them. Then rows are made one after the other instead
// of clause by clause, so no expression of either may look at the graph.
func fuseCreates(op *Op) {
	outer, ok := (*op).(*Create)
	if !ok || !graphFree(outer.Patterns) {
		return
	}
	lists := [][]*bound.Pattern{outer.Patterns}
	n := len(outer.Patterns)
	for {
		inner, ok := outer.In.(*Create)
		if !ok || !graphFree(inner.Patterns) {
			break
		}
		lists = append(lists, inner.Patterns)
		n += len(inner.Patterns)
		outer.In = inner.In
	}
	if len(lists) == 1 {
		return
	}
	outer.Patterns = make([]*bound.Pattern, 0, n)
	for i := len(lists) - 1; i >= 0; i-- {
		outer.Patterns = append(outer.Patterns, lists[i]...)
	}
}

// graphFree reports whether the properties of patterns are made of constants,
// parameters and values that rows hold already.
func graphFree(patterns []*bound.Pattern) bool {
	for _, p := range patterns {
		for _, n := range p.Nodes {
			if !graphFreeProps(n.Props, n.PropsFrom) {
				return false
			}
		}
		for _, r := range p.Rels {
			if !graphFreeProps(r.Props, r.PropsFrom) {
				return false
			}
		}
	}
	return true
}

func graphFreeProps(props []bound.PropPat, from bound.Expr) bool {
	for _, p := range props {
		if !graphFreeExpr(p.Expr) {
			return false
		}
	}
	return from == nil || graphFreeExpr(from)
}

func graphFreeExpr(e bound.Expr) bool {
	switch e := e.(type) {
	case *bound.Const, *bound.Param, *bound.Slot:
		return true
	case *bound.Unary:
		return graphFreeExpr(e.E)
	case *bound.Binary:
		return graphFreeExpr(e.L) && graphFreeExpr(e.R)
	case *bound.List:
		for _, x := range e.Elems {
			if !graphFreeExpr(x) {
				return false
			}
		}
		return true
	}
	return false
}
