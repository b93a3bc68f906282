package bound

// Walk calls visit for e and every expression inside it, outermost first. Of a
// subquery it visits the arguments, not the clauses: those read rows of their
// own. A nil e is visited not at all.
func Walk(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	each := func(es ...Expr) {
		for _, x := range es {
			Walk(x, visit)
		}
	}
	switch e := e.(type) {
	case *Prop:
		each(e.E)
	case *Index:
		each(e.E, e.I)
	case *Slice:
		each(e.E, e.From, e.To)
	case *List:
		each(e.Elems...)
	case *Map:
		each(e.Values...)
	case *MapProjection:
		each(e.E)
		each(e.Values...)
	case *Unary:
		each(e.E)
	case *Binary:
		each(e.L, e.R)
	case *IsNull:
		each(e.E)
	case *IsTyped:
		each(e.E)
	case *HasLabels:
		each(e.E)
	case *Call:
		each(e.Args...)
	case *Case:
		each(e.Test)
		for i := range e.When {
			each(e.When[i], e.Then[i])
		}
		each(e.Else)
	case *ListComp:
		each(e.List, e.Where, e.Proj)
	case *Quantifier:
		each(e.List, e.Where)
	case *Reduce:
		each(e.Init, e.List, e.E)
	case *Subquery:
		each(e.Outer...)
	}
}
