package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// truth reads an operand of a logical operator.
func truth(v value.Value, span syntax.Span, what string) (value.Tri, error) {
	switch v.Kind() {
	case value.KindBool:
		return value.TriOf(v.AsBool()), nil
	case value.KindNull:
		return value.Unknown, nil
	}
	return value.Unknown, typeError(span, "%s must be BOOLEAN, but is %s", what, v.Kind())
}

func opName(op syntax.Op) string {
	switch op {
	case syntax.OpOr:
		return "an operand of OR"
	case syntax.OpXor:
		return "an operand of XOR"
	case syntax.OpAnd:
		return "an operand of AND"
	}
	return "the operand of NOT"
}

// logical compiles AND, OR and XOR. AND and OR don't look at the right side
// when the left one decides.
func (c *compiler) logical(e *bound.Binary) Fn {
	l, r, op := c.expr(e.L), c.expr(e.R), e.Op
	what, atL, atR := opName(op), e.L.At(), e.R.At()
	return func(env *Env, row int) (value.Value, error) {
		v, err := l(env, row)
		if err != nil {
			return value.Null, err
		}
		a, err := truth(v, atL, what)
		if err != nil {
			return value.Null, err
		}
		if a == value.False && op == syntax.OpAnd || a == value.True && op == syntax.OpOr {
			return v, nil
		}
		if v, err = r(env, row); err != nil {
			return value.Null, err
		}
		b, err := truth(v, atR, what)
		if err != nil {
			return value.Null, err
		}
		switch op {
		case syntax.OpAnd:
			return a.And(b).Value(), nil
		case syntax.OpOr:
			return a.Or(b).Value(), nil
		}
		return a.Xor(b).Value(), nil
	}
}

func (c *compiler) unary(e *bound.Unary) Fn {
	f, span := c.expr(e.E), e.At()
	switch e.Op {
	case syntax.OpNot:
		atE := e.E.At()
		return func(env *Env, row int) (value.Value, error) {
			v, err := f(env, row)
			if err != nil {
				return value.Null, err
			}
			t, err := truth(v, atE, "the operand of NOT")
			return t.Not().Value(), err
		}
	case syntax.OpNeg:
		return func(env *Env, row int) (value.Value, error) {
			v, err := f(env, row)
			if err != nil {
				return value.Null, err
			}
			return negate(v, span)
		}
	}
	return func(env *Env, row int) (value.Value, error) {
		v, err := f(env, row)
		if err == nil && !v.IsNull() && !v.IsNumber() {
			return value.Null, typeError(span, "+ needs a number, but its operand is %s", v.Kind())
		}
		return v, err
	}
}

func (c *compiler) caseExpr(e *bound.Case) Fn {
	test, when, then, other := c.opt(e.Test), c.exprs(e.When), c.exprs(e.Then), c.opt(e.Else)
	spans := make([]syntax.Span, len(e.When))
	for i := range e.When {
		spans[i] = e.When[i].At()
	}
	return func(env *Env, row int) (value.Value, error) {
		var subject value.Value
		var err error
		if test != nil {
			if subject, err = test(env, row); err != nil {
				return value.Null, err
			}
		}
		for i, w := range when {
			v, err := w(env, row)
			if err != nil {
				return value.Null, err
			}
			t := value.Unknown
			if test != nil {
				if err := env.Pass(min(subject.Size(), v.Size())); err != nil {
					return value.Null, err
				}
				t = value.Equal(subject, v)
			} else if t, err = truth(v, spans[i], "the condition after WHEN"); err != nil {
				return value.Null, err
			}
			if t == value.True {
				return then[i](env, row)
			}
		}
		if other == nil {
			return value.Null, nil
		}
		return other(env, row)
	}
}

func (c *compiler) isTyped(e *bound.IsTyped) Fn {
	f, of, not := c.expr(e.E), e.Of, e.Not
	return func(env *Env, row int) (value.Value, error) {
		v, err := f(env, row)
		return value.Bool(of.Has(v) != not), err
	}
}

func (c *compiler) hasLabels(e *bound.HasLabels) Fn {
	f, span := c.expr(e.E), e.At()
	test := c.labelTest(e.Labels)
	return func(env *Env, row int) (value.Value, error) {
		v, err := f(env, row)
		if err != nil || v.IsNull() {
			return value.Null, err
		}
		if v.Kind() != value.KindNode && v.Kind() != value.KindEdge {
			return value.Null, typeError(span, "a value of type %s has no labels", v.Kind())
		}
		if err := env.checkExists(v); err != nil {
			return value.Null, at(err, span)
		}
		return value.Bool(test(env, v)), nil
	}
}
