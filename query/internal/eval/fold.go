package eval

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
)

// maxFolded is how many bytes a folded value may take: larger ones would live as
// long as the plan.
const maxFolded = 64 << 10

// Fold replaces subtrees that are constant by their values. It leaves e as it
// is and shares what didn't change. A subtree whose evaluation fails stays, so
// that its error comes when, and only when, it is evaluated.
func Fold(e bound.Expr) bound.Expr {
	f := folder{}
	return f.fold(e)
}

// errTooLarge never leaves this file.
var errTooLarge = fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted", "too large to fold")

type folder struct {
	env   *Env // made when it is needed: most expressions have nothing to fold
	taken int64
	depth int
}

func (f *folder) run(e Fn) (value.Value, error) {
	if f.env == nil {
		f.env = &Env{}
		f.env.Grow = func(n int64) error {
			if f.taken += n; f.taken > maxFolded {
				return errTooLarge
			}
			return nil
		}
	}
	return e(f.env, 0)
}

// fold folds the children of e and then e itself. Beyond maxDepth it stops:
// the compiler refuses such a tree.
func (f *folder) fold(e bound.Expr) bound.Expr {
	if e == nil || f.depth >= maxDepth {
		return e
	}
	f.depth++
	defer func() { f.depth-- }()
	e, pure := f.children(e)
	if !pure {
		return e
	}
	return f.reduce(e)
}

// reduce computes e, whose children are constants.
func (f *folder) reduce(e bound.Expr) bound.Expr {
	c := compiler{}
	compiled := c.expr(e)
	if c.err != nil {
		return e
	}
	f.taken = 0
	if l, ok := e.(*bound.List); ok {
		f.taken = -int64(len(l.Elems) * valueSize) // as large as its text: always fine
	}
	v, err := f.run(compiled)
	if err != nil {
		return e
	}
	return &bound.Const{Info: bound.Info{Span: e.At(), T: e.Type()}, Value: v}
}

func isConst(e bound.Expr) bool {
	_, ok := e.(*bound.Const)
	return ok || e == nil
}

func (f *folder) all(es []bound.Expr) (out []bound.Expr, constant bool) {
	out, constant = slices.Clone(es), true
	for i := range out {
		out[i] = f.fold(out[i])
		constant = constant && isConst(out[i])
	}
	return out, constant
}

// children returns a copy of e with folded children, and whether e can be
// computed now: all children are constants, and nothing else is read.
func (f *folder) children(e bound.Expr) (out bound.Expr, pure bool) {
	switch e := e.(type) {
	case *bound.Prop:
		c := *e
		c.E = f.fold(e.E)
		return &c, isConst(c.E)
	case *bound.Index:
		c := *e
		c.E, c.I = f.fold(e.E), f.fold(e.I)
		return &c, isConst(c.E) && isConst(c.I)
	case *bound.Slice:
		c := *e
		c.E, c.From, c.To = f.fold(e.E), f.fold(e.From), f.fold(e.To)
		return &c, isConst(c.E) && isConst(c.From) && isConst(c.To)
	case *bound.List:
		c := *e
		c.Elems, pure = f.all(e.Elems)
		return &c, pure
	case *bound.Map:
		c := *e
		c.Values, pure = f.all(e.Values)
		return &c, pure
	case *bound.Unary:
		c := *e
		c.E = f.fold(e.E)
		return &c, isConst(c.E)
	case *bound.Binary:
		c := *e
		c.L, c.R = f.fold(e.L), f.fold(e.R)
		return &c, isConst(c.L) && isConst(c.R)
	case *bound.IsNull:
		c := *e
		c.E = f.fold(e.E)
		return &c, isConst(c.E)
	case *bound.IsTyped:
		c := *e
		c.E = f.fold(e.E)
		return &c, isConst(c.E)
	case *bound.Call:
		c := *e
		c.Args, pure = f.all(e.Args)
		known, ok := fn.Lookup(e.Name)
		return &c, pure && ok && known.PureWith(len(c.Args))
	}
	return f.scopes(e)
}

// scopes folds the children of the forms that stay: those that bind variables,
// choose between branches or read the graph. A Subquery stays the very node it
// is: the plan of its query is found by it.
func (f *folder) scopes(e bound.Expr) (out bound.Expr, pure bool) {
	switch e := e.(type) {
	case *bound.MapProjection:
		c := *e
		c.E = f.fold(e.E)
		c.Values, _ = f.all(e.Values)
		return &c, false
	case *bound.HasLabels:
		c := *e
		c.E = f.fold(e.E)
		return &c, false
	case *bound.Case:
		c := *e
		c.Test, c.Else = f.fold(e.Test), f.fold(e.Else)
		c.When, _ = f.all(e.When)
		c.Then, _ = f.all(e.Then)
		return &c, false
	case *bound.ListComp:
		c := *e
		c.List, c.Where, c.Proj = f.fold(e.List), f.fold(e.Where), f.fold(e.Proj)
		return &c, false
	case *bound.Quantifier:
		c := *e
		c.List, c.Where = f.fold(e.List), f.fold(e.Where)
		return &c, false
	case *bound.Reduce:
		c := *e
		c.Init, c.List, c.E = f.fold(e.Init), f.fold(e.List), f.fold(e.E)
		return &c, false
	}
	return e, false
}

// Constant returns the value of an expression that Fold made a constant.
func Constant(e bound.Expr) (value.Value, bool) {
	if c, ok := Fold(e).(*bound.Const); ok {
		return c.Value, true
	}
	return value.Null, false
}
