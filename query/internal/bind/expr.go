package bind

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// env is where an expression is bound: what its names mean there.
type env struct {
	b     *binder
	where string // the clause, for messages
	// vars resolves variables that are not locals.
	vars resolver
	// instead, when not nil, is asked before each expression is bound: it may
	// put something else in its place, or nil. It has to look out for locals.
	instead func(e syntax.Expr) bound.Expr
	// aggregate, when not nil, binds aggregate functions; else they are refused.
	aggregate func(f *syntax.Func, a *fn.Aggregate) bound.Expr

	locals []local
	base   int // locals of the expressions around, see rows.base
}

// local is a variable of a comprehension, quantifier or reduce.
type local struct {
	name string
	t    bound.Type
}

// resolver is the variables that an expression may read.
type resolver interface {
	// resolve returns what a variable stands for; it reports the error itself
	// and returns nil when there is none of that name.
	resolve(name string, at syntax.Span) bound.Expr
	// visible reports whether resolve knows the name.
	visible(name string) bool
	// list gives the visible names in alphabetical order.
	list() []string
}

// scopeVars resolves the variables of a scope.
type scopeVars struct {
	b *binder
	s *scope
}

func (v scopeVars) resolve(name string, at syntax.Span) bound.Expr {
	if e, ok := v.s.read(name, at); ok {
		return e
	}
	v.b.undefined(name, at, v.s.names())
	return nil
}

func (v scopeVars) visible(name string) bool { return v.s.has(name) }
func (v scopeVars) list() []string           { return v.s.names() }

// env makes the plain surroundings of a clause's expressions.
func (s *single) env(where string) *env {
	return &env{b: s.b, where: where, vars: scopeVars{s.b, s.scope}, base: s.rows.base}
}

// expr binds an expression of a clause.
func (s *single) expr(e syntax.Expr, where string) bound.Expr { return s.env(where).expr(e) }

// predicate binds a condition of a clause; nil stays nil.
func (s *single) predicate(e syntax.Expr, where string) bound.Expr {
	return s.env(where).condition(e)
}

func info(at syntax.Span, t bound.Type) bound.Info { return bound.Info{Span: at, T: t} }

// nothing stands in for what could not be bound.
func nothing(at syntax.Span) bound.Expr {
	return &bound.Const{Info: info(at, bound.Any)}
}

// condition binds an expression that must be a boolean; nil stays nil.
func (v *env) condition(e syntax.Expr) bound.Expr {
	if e == nil {
		return nil
	}
	out := v.bool(e)
	v.b.demand(out, kBool, "a condition")
	return out
}

// bool binds an expression where a boolean is wanted, so that a pattern may
// stand there.
func (v *env) bool(e syntax.Expr) bound.Expr {
	if p, ok := e.(*syntax.PatternExpr); ok {
		return v.patternPredicate(p)
	}
	return v.expr(e)
}

func (v *env) exprs(es []syntax.Expr) []bound.Expr {
	out := make([]bound.Expr, len(es))
	for i, e := range es {
		out[i] = v.expr(e)
	}
	return out
}

// optional binds an expression; nil stays nil.
func (v *env) optional(e syntax.Expr) bound.Expr {
	if e == nil {
		return nil
	}
	return v.expr(e)
}

// expr binds an expression.
func (v *env) expr(e syntax.Expr) bound.Expr {
	if v.b.err != nil {
		return nothing(e.At())
	}
	if v.instead != nil {
		if out := v.instead(e); out != nil {
			return out
		}
	}
	switch e := e.(type) {
	case *syntax.Literal:
		return &bound.Const{Info: info(e.Span, constType(e.Value)), Value: e.Value}
	case *syntax.Param:
		return &bound.Param{Info: info(e.Span, bound.Any), Name: e.Name}
	case *syntax.Variable:
		return v.variable(e.Text, e.At())
	case *syntax.Property:
		of := v.expr(e.E)
		t := fault.TypeError
		if of.Type().Only(bound.Of(value.KindPath)) {
			t = fault.SyntaxError // the TCK's choice for paths
		}
		v.b.demandAs(t, of, kKeyed, "property access")
		return &bound.Prop{Info: info(e.Span, bound.Any), E: of, Key: e.Key.Text}
	case *syntax.Index:
		return v.index(e)
	case *syntax.Slice:
		return v.slice(e)
	case *syntax.ListLit:
		return v.list(e)
	case *syntax.MapLit:
		return v.mapLit(e)
	case *syntax.MapProjection:
		return v.mapProjection(e)
	case *syntax.Unary:
		return v.unary(e)
	case *syntax.Binary:
		return v.binary(e)
	case *syntax.IsNull:
		return &bound.IsNull{Info: info(e.Span, boolType), E: v.expr(e.E), Not: e.Not}
	case *syntax.IsTyped:
		return &bound.IsTyped{Info: info(e.Span, boolType), E: v.expr(e.E), Of: e.ValueType, Not: e.Not}
	case *syntax.HasLabels:
		of := v.expr(e.E)
		v.b.demand(of, kEntity, "a label test")
		return &bound.HasLabels{Info: info(e.Span, boolType), E: of, Labels: e.Labels}
	case *syntax.Func:
		return v.call(e)
	case *syntax.Case:
		return v.caseExpr(e)
	case *syntax.ListComp:
		return v.listComp(e)
	case *syntax.Quantifier:
		return v.quantifier(e)
	case *syntax.Reduce:
		return v.reduce(e)
	case *syntax.PatternComp:
		return v.patternComp(e)
	case *syntax.Subquery:
		return v.subquery(e)
	case *syntax.PatternExpr:
		if e.Pattern.Shortest != syntax.NotShortest {
			return v.shortestPath(e)
		}
		v.b.fail(fault.Syntax("UnexpectedSyntax", e.Span, "a pattern can stand only where a condition is expected").
			WithHint("Use EXISTS { ... } or a pattern comprehension [(a)-->(b) | b]."))
		return nothing(e.Span)
	}
	v.b.fail(fault.Unsupported(e.At(), "this expression"))
	return nothing(e.At())
}

func (v *env) variable(name string, at syntax.Span) bound.Expr {
	for i := len(v.locals) - 1; i >= 0; i-- {
		if v.locals[i].name == name {
			return &bound.Local{Info: info(at, v.locals[i].t), Index: v.base + i, Name: name}
		}
	}
	if e := v.vars.resolve(name, at); e != nil {
		return e
	}
	return nothing(at)
}

// visible reports whether a name can be read here.
func (v *env) visible(name string) bool {
	for _, l := range v.locals {
		if l.name == name {
			return true
		}
	}
	return v.vars.visible(name)
}

// readsLocal reports whether e mentions a local in scope.
func (v *env) readsLocal(e syntax.Expr) bool {
	if len(v.locals) == 0 {
		return false
	}
	return mentions(e, func(x syntax.Expr) bool {
		name, ok := x.(*syntax.Variable)
		if !ok {
			return false
		}
		for _, l := range v.locals {
			if l.name == name.Text {
				return true
			}
		}
		return false
	})
}

// push adds a local and returns its index.
func (v *env) push(name string, t bound.Type) int {
	v.locals = append(v.locals, local{name, t})
	index := v.base + len(v.locals) - 1
	v.b.locals = max(v.b.locals, index+1)
	return index
}

func (v *env) pop(n int) { v.locals = v.locals[:len(v.locals)-n] }

func (v *env) index(e *syntax.Index) bound.Expr {
	of, i := v.expr(e.E), v.expr(e.I)
	v.b.demandAs(fault.TypeError, of, kList|kMapLike, "[...]")
	t := bound.Any
	if of.Type().Only(kList) {
		t = elemType(of.Type())
		v.b.demandAs(fault.TypeError, i, kInt, "the index of a list")
	}
	return &bound.Index{Info: info(e.Span, t), E: of, I: i}
}

func (v *env) slice(e *syntax.Slice) bound.Expr {
	of := v.expr(e.E)
	out := &bound.Slice{E: of, From: v.optional(e.From), To: v.optional(e.To)}
	v.b.demandAs(fault.TypeError, of, kList, "[..]")
	for _, limit := range []bound.Expr{out.From, out.To} {
		if limit != nil {
			v.b.demandAs(fault.TypeError, limit, kInt, "the bound of a slice")
		}
	}
	out.Info = info(e.Span, bound.Type{Kinds: kList | bound.Null.Kinds, Elem: of.Type().Elem})
	return out
}

func (v *env) list(e *syntax.ListLit) bound.Expr {
	out := &bound.List{Elems: v.exprs(e.Elems)}
	t := bound.OneOf(value.KindList)
	for i, elem := range out.Elems {
		u := elem.Type()
		if i > 0 {
			u = t.Elem.Or(u)
		}
		t.Elem = &u
	}
	out.Info = info(e.Span, t)
	return out
}

func (v *env) mapLit(e *syntax.MapLit) bound.Expr {
	out := &bound.Map{Info: info(e.Span, bound.OneOf(value.KindMap)), Values: v.exprs(e.Values)}
	for _, k := range e.Keys {
		out.Keys = append(out.Keys, k.Text)
	}
	return out
}

func (v *env) mapProjection(e *syntax.MapProjection) bound.Expr {
	of := v.expr(e.E)
	v.b.demand(of, kMapLike, "a map projection")
	out := &bound.MapProjection{Info: info(e.Span, bound.OneOf(value.KindMap)), E: of}
	for _, item := range e.Items {
		if item.All {
			out.Star = true
			continue
		}
		out.Keys = append(out.Keys, item.Key.Text)
		out.Values = append(out.Values, v.optional(item.Value))
	}
	return out
}

func (v *env) unary(e *syntax.Unary) bound.Expr {
	var of bound.Expr
	if e.Op == syntax.OpNot {
		of = v.bool(e.E)
	} else {
		of = v.expr(e.E)
	}
	return &bound.Unary{Info: info(e.Span, v.b.unaryType(e.Op, of)), Op: e.Op, E: of}
}

func (v *env) binary(e *syntax.Binary) bound.Expr {
	bind := v.expr
	if e.Op == syntax.OpAnd || e.Op == syntax.OpOr || e.Op == syntax.OpXor {
		bind = v.bool
	}
	l, r := bind(e.L), bind(e.R)
	return &bound.Binary{Info: info(e.Span, v.b.binaryType(e.Op, l, r)), Op: e.Op, L: l, R: r}
}

func (v *env) caseExpr(e *syntax.Case) bound.Expr {
	if e.Extended {
		return v.extendedCase(e)
	}
	return v.plainCase(e, v.optional(e.Test))
}

// extendedCase binds a CASE whose conditions speak of its test: the test is
// computed once, by a reduce() over one element, and then read by a name.
func (v *env) extendedCase(e *syntax.Case) bound.Expr {
	test := v.expr(e.Test)
	one := &bound.List{Info: info(e.Span, bound.ListOf(bound.Null)), Elems: []bound.Expr{nothing(e.Span)}}
	out := &bound.Reduce{Init: test, List: one, Acc: v.push(syntax.CaseSubject, test.Type())}
	out.Var = v.push("", bound.Null)
	out.E = v.plainCase(e, nil)
	v.pop(2)
	out.Info = info(e.Span, out.E.Type())
	return out
}

func (v *env) plainCase(e *syntax.Case, test bound.Expr) bound.Expr {
	out := &bound.Case{Test: test}
	t := bound.Null
	for i, when := range e.When {
		if test == nil {
			out.When = append(out.When, v.condition(when))
		} else {
			out.When = append(out.When, v.expr(when))
		}
		then := v.expr(e.Then[i])
		out.Then = append(out.Then, then)
		t = t.Or(then.Type())
	}
	if out.Else = v.optional(e.Else); out.Else != nil {
		t = t.Or(out.Else.Type())
	}
	out.Info = info(e.Span, t)
	return out
}

func (v *env) listComp(e *syntax.ListComp) bound.Expr {
	list := v.expr(e.List)
	v.b.demand(list, kList, "a list comprehension")
	elem := elemType(list.Type())
	out := &bound.ListComp{List: list, Var: v.push(e.Var.Text, elem)}
	out.Where = v.condition(e.Where)
	if out.Proj = v.optional(e.Proj); out.Proj != nil {
		elem = out.Proj.Type()
	}
	v.pop(1)
	out.Info = info(e.Span, bound.ListOf(elem))
	return out
}

func (v *env) quantifier(e *syntax.Quantifier) bound.Expr {
	list := v.expr(e.List)
	v.b.demand(list, kList, "a quantifier")
	out := &bound.Quantifier{Info: info(e.Span, boolType), Kind: e.Kind, List: list}
	out.Var = v.push(e.Var.Text, elemType(list.Type()))
	out.Where = v.condition(e.Where)
	v.pop(1)
	return out
}

func (v *env) reduce(e *syntax.Reduce) bound.Expr {
	out := &bound.Reduce{Info: info(e.Span, bound.Any), Init: v.expr(e.Init), List: v.expr(e.List)}
	v.b.demand(out.List, kList, "reduce()")
	// The accumulator's type may change with every step: nothing is known of it.
	out.Acc = v.push(e.Acc.Text, bound.Any)
	out.Var = v.push(e.Var.Text, elemType(out.List.Type()))
	out.E = v.expr(e.E)
	v.pop(2)
	return out
}
