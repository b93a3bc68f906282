package eval

import (
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

func (c *compiler) binary(e *bound.Binary) Fn {
	switch e.Op {
	case syntax.OpAnd, syntax.OpOr, syntax.OpXor:
		return c.logical(e)
	case syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe, syntax.OpGt, syntax.OpGe:
		return c.comparison(e)
	case syntax.OpIn:
		return c.in(e)
	case syntax.OpMatches:
		return c.matches(e)
	}
	l, r, span := c.expr(e.L), c.expr(e.R), e.At()
	op := operators(e.Op)
	return func(env *Env, row int) (value.Value, error) {
		a, err := l(env, row)
		if err != nil {
			return value.Null, err
		}
		b, err := r(env, row)
		if err != nil {
			return value.Null, err
		}
		return op(env, a, b, span)
	}
}

// operator computes a binary operator on two values, null among them.
type operator func(env *Env, a, b value.Value, span syntax.Span) (value.Value, error)

func operators(op syntax.Op) operator {
	switch op {
	case syntax.OpAdd:
		return add
	case syntax.OpConcat:
		return concat
	case syntax.OpSub:
		return subtract
	case syntax.OpMul:
		return multiply
	case syntax.OpDiv:
		return divide
	case syntax.OpMod:
		return modulo
	case syntax.OpPow:
		return power
	case syntax.OpStartsWith:
		return stringTest(strings.HasPrefix)
	case syntax.OpEndsWith:
		return stringTest(strings.HasSuffix)
	}
	return stringTest(strings.Contains)
}

// stringTest is null unless both operands are strings.
func stringTest(test func(s, part string) bool) operator {
	return func(env *Env, a, b value.Value, _ syntax.Span) (value.Value, error) {
		if a.Kind() != value.KindString || b.Kind() != value.KindString {
			return value.Null, nil
		}
		if err := env.Pass(a.Size()); err != nil {
			return value.Null, err
		}
		return value.Bool(test(a.AsString(), b.AsString())), nil
	}
}

// comparison compiles = <> < <= > >=.
func (c *compiler) comparison(e *bound.Binary) Fn {
	l, r, cmp := c.expr(e.L), c.expr(e.R), comparer(e.Op)
	return func(env *Env, row int) (value.Value, error) {
		a, err := l(env, row)
		if err != nil {
			return value.Null, err
		}
		b, err := r(env, row)
		if err != nil {
			return value.Null, err
		}
		if err := env.Pass(min(a.Size(), b.Size())); err != nil {
			return value.Null, err
		}
		return cmp(a, b).Value(), nil
	}
}

// comparer returns a comparison with a short way for the common kinds.
func comparer(op syntax.Op) func(a, b value.Value) value.Tri {
	switch op {
	case syntax.OpEq:
		return equal
	case syntax.OpNe:
		return func(a, b value.Value) value.Tri { return equal(a, b).Not() }
	case syntax.OpLt:
		return less
	case syntax.OpLe:
		return lessOrEqual
	case syntax.OpGt:
		return func(a, b value.Value) value.Tri { return less(b, a) }
	}
	return func(a, b value.Value) value.Tri { return lessOrEqual(b, a) }
}

func equal(a, b value.Value) value.Tri {
	if a.Kind() == b.Kind() {
		switch a.Kind() {
		case value.KindInt:
			return value.TriOf(a.AsInt() == b.AsInt())
		case value.KindString:
			return value.TriOf(a.AsString() == b.AsString())
		case value.KindNode:
			return value.TriOf(a.NodeID() == b.NodeID())
		case value.KindEdge:
			return value.TriOf(a.EdgeID() == b.EdgeID())
		}
	}
	return value.Equal(a, b)
}

func less(a, b value.Value) value.Tri {
	if a.Kind() == value.KindInt && b.Kind() == value.KindInt {
		return value.TriOf(a.AsInt() < b.AsInt())
	}
	return value.Less(a, b)
}

func lessOrEqual(a, b value.Value) value.Tri {
	if a.Kind() == value.KindInt && b.Kind() == value.KindInt {
		return value.TriOf(a.AsInt() <= b.AsInt())
	}
	return value.LessOrEqual(a, b)
}
