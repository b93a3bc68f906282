package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// maxDepth bounds the nesting of an expression, so that compiling and running it
// stays within the stack. The parser refuses deeper text already.
const maxDepth = 10_000

// Compile compiles an expression. Errors are those that the binder should have
// told: unknown functions or forms; wrong values are errors of the closure.
func Compile(e bound.Expr) (Fn, error) {
	c := compiler{}
	f := c.expr(Fold(e))
	if c.err != nil {
		return nil, c.err
	}
	return c.account(f), nil
}

// CompileAll compiles each expression. Nil expressions stay nil.
func CompileAll(es []bound.Expr) ([]Fn, error) {
	out := make([]Fn, len(es))
	for i, e := range es {
		if e == nil {
			continue
		}
		f, err := Compile(e)
		if err != nil {
			return nil, err
		}
		out[i] = f
	}
	return out, nil
}

// compiler keeps the first error; after it, closures are still made but the
// caller drops them.
type compiler struct {
	err       error
	depth     int
	allocates bool // a form was met that may take memory
}

func (c *compiler) fail(err error) Fn {
	if c.err == nil {
		c.err = err
	}
	return func(*Env, int) (value.Value, error) { return value.Null, err }
}

func tooDeep(span syntax.Span) error {
	return fault.New(fault.ResourceExhausted, fault.CompileTime, "ResourceExhausted", span,
		"the expression is nested more than %d levels deep", maxDepth)
}

func (c *compiler) exprs(es []bound.Expr) []Fn {
	out := make([]Fn, len(es))
	for i, e := range es {
		out[i] = c.expr(e)
	}
	return out
}

// opt compiles an expression that may be absent.
func (c *compiler) opt(e bound.Expr) Fn {
	if e == nil {
		return nil
	}
	return c.expr(e)
}

func (c *compiler) expr(e bound.Expr) Fn {
	if c.depth++; c.depth > maxDepth {
		return c.fail(tooDeep(e.At()))
	}
	defer func() { c.depth-- }()
	c.allocates = c.allocates || takesMemory(e)
	switch e := e.(type) {
	case *bound.Const:
		v := e.Value
		return func(*Env, int) (value.Value, error) { return v, nil }
	case *bound.Param:
		return compileParam(e)
	case *bound.Slot:
		i := e.Index
		return func(env *Env, row int) (value.Value, error) { return env.col(i, row), nil }
	case *bound.Local:
		i := e.Index
		return func(env *Env, _ int) (value.Value, error) { return env.local(i), nil }
	case *bound.Prop:
		return c.prop(e)
	case *bound.Index:
		return c.index(e)
	case *bound.Slice:
		return c.slice(e)
	case *bound.List:
		return c.list(e)
	case *bound.Map:
		return c.mapLit(e)
	case *bound.MapProjection:
		return c.mapProjection(e)
	case *bound.Unary:
		return c.unary(e)
	case *bound.Binary:
		return c.binary(e)
	case *bound.IsNull:
		return c.isNull(e)
	case *bound.IsTyped:
		return c.isTyped(e)
	case *bound.HasLabels:
		return c.hasLabels(e)
	case *bound.Call:
		return c.call(e)
	case *bound.Case:
		return c.caseExpr(e)
	case *bound.ListComp:
		return c.listComp(e)
	case *bound.Quantifier:
		return c.quantifier(e)
	case *bound.Reduce:
		return c.reduce(e)
	case *bound.Subquery:
		return c.subquery(e)
	case nil:
		return c.fail(fault.New(fault.NotSupported, fault.CompileTime, "NotSupported", syntax.Span{}, "an expression is missing"))
	}
	return c.fail(fault.Unsupported(e.At(), "this form of expression"))
}

func compileParam(e *bound.Param) Fn {
	name, at := e.Name, e.At()
	return func(env *Env, _ int) (value.Value, error) {
		if v, ok := env.Params[name]; ok {
			return v, nil
		}
		return value.Null, fault.New(fault.ParameterMissing, fault.Runtime, "MissingParameter", at,
			"parameter $%s has no value", name).WithHint("Give one with the statement, null if nothing else.")
	}
}

// at gives an error the place of the expression it came from, unless it has one.
func at(err error, span syntax.Span) error {
	if f, ok := err.(*fault.Error); ok && !f.Span.Known() {
		return f.WithSpan(span)
	}
	return err
}

func typeError(span syntax.Span, format string, args ...any) error {
	return fault.New(fault.TypeError, fault.Runtime, "InvalidArgumentType", span, format, args...)
}
