package bind

import (
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// isAggregate reports whether e calls an aggregate function.
func isAggregate(e syntax.Expr) bool {
	f, ok := e.(*syntax.Func)
	if !ok {
		return false
	}
	_, ok = fn.LookupAggregate(f.Name)
	return ok
}

// hasAggregate reports whether e contains an aggregate of its own row set:
// those inside patterns and subqueries are not counted.
func hasAggregate(e syntax.Expr) bool { return mentions(e, isAggregate) }

// call binds a function.
func (v *env) call(e *syntax.Func) bound.Expr {
	if a, ok := fn.LookupAggregate(e.Name); ok {
		switch {
		case v.aggregate == nil:
			v.b.fail(fault.Syntax("InvalidAggregation", e.Span, "the aggregate %s() can't be used in %s", a.Name, v.where).
				WithHint("Compute it with WITH first."))
			return nothing(e.Span)
		case v.perElement():
			v.b.fail(fault.Syntax("InvalidAggregation", e.Span, "the aggregate %s() can't be used inside a comprehension", a.Name).
				WithHint("Compute it with WITH first."))
			return nothing(e.Span)
		}
		return v.aggregate(e, a)
	}
	if pattern, ok := patternArgument(e); ok {
		return v.patternPredicate(pattern)
	}
	f, ok := fn.Lookup(e.Name)
	if !ok {
		v.unknownFunction(e)
		return nothing(e.Span)
	}
	if e.Distinct || e.Star {
		v.b.fail(fault.Syntax("UnexpectedSyntax", e.Span, "%s() is not an aggregate: it takes neither DISTINCT nor *", f.Name))
		return nothing(e.Span)
	}
	if !f.Accepts(len(e.Args)) {
		v.b.wrongCount(e.Span, f.Name+"()", f.Arity(), len(e.Args))
		return nothing(e.Span)
	}
	args := v.exprs(e.Args)
	if v.b.err == nil && f.Name != "range" { // range reports types at run time, as the TCK has it
		v.checkArgs(f.Name, f.Param, args)
	}
	return &bound.Call{Info: info(e.Span, orNull(f.ResultType(types(args)))), Name: f.Name, Args: args}
}

// perElement reports whether what is bound is computed once for each element of a
// list.
func (v *env) perElement() bool {
	for _, l := range v.locals {
		if l.name != "" && l.name != syntax.CaseSubject {
			return true
		}
	}
	return false
}

// patternArgument recognises exists((a)-->(b)), the old form of EXISTS {}.
func patternArgument(e *syntax.Func) (*syntax.PatternExpr, bool) {
	if len(e.Args) != 1 || !strings.EqualFold(e.Name, "exists") {
		return nil, false
	}
	p, ok := e.Args[0].(*syntax.PatternExpr)
	return p, ok
}

func (v *env) unknownFunction(e *syntax.Func) {
	err := fault.Syntax("UnknownFunction", e.Span, "there is no function %s()", e.Name)
	if same := foreign(e.Name); same != "" {
		err = err.WithHint("Here it is %s.", same)
	} else if near := fn.Suggest(e.Name); near != "" {
		err = err.WithHint("Did you mean %s()?", near)
	} else if strings.HasPrefix(strings.ToLower(e.Name), "apoc.") {
		err = err.WithHint("There are no functions of APOC. SHOW FUNCTIONS lists those there are.")
	}
	v.b.fail(err)
}

func (b *binder) wrongCount(at syntax.Span, what, arity string, got int) {
	b.fail(fault.Syntax("InvalidNumberOfArguments", at, "%s takes %s, not %d", what, arity, got))
}

// checkArgs reports the first argument whose type can't be right.
func (v *env) checkArgs(name string, param func(i int) bound.Type, args []bound.Expr) {
	for i, a := range args {
		v.b.demand(a, param(i).Kinds, name+"()")
	}
}

func types(es []bound.Expr) []bound.Type {
	out := make([]bound.Type, len(es))
	for i, e := range es {
		out[i] = e.Type()
	}
	return out
}

func orNull(t bound.Type) bound.Type {
	t.Kinds |= bound.Of(value.KindNull)
	return t
}

// aggregateArgs binds the arguments of an aggregate in the surroundings of the
// rows it gathers.
func (v *env) aggregateArgs(f *syntax.Func, a *fn.Aggregate) bound.Agg {
	out := bound.Agg{Span: f.Span, Name: a.Name, Distinct: f.Distinct}
	if f.Star {
		if a.Required > 0 {
			v.b.fail(fault.Syntax("UnexpectedSyntax", f.Span, "only count takes *, not %s", a.Name))
		}
		return out
	}
	if len(f.Args) == 0 || !a.Accepts(len(f.Args)) {
		v.b.wrongCount(f.Span, a.Name+"()", a.Arity(), len(f.Args))
		return out
	}
	for _, arg := range f.Args {
		if mentions(arg, isAggregate) {
			v.b.fail(fault.Syntax("NestedAggregation", f.Span, "an aggregate can't be an argument of another").
				WithHint("Compute the inner one with WITH first."))
			return out
		}
		if mentions(arg, isRandom) {
			v.b.fail(fault.Syntax("NonConstantExpression", arg.At(), "a random value can't be aggregated directly").
				WithHint("Compute it with WITH first."))
			return out
		}
	}
	out.Args = v.exprs(f.Args)
	v.checkArgs(a.Name, func(i int) bound.Type { return a.Params[i] }, out.Args)
	return out
}

func isRandom(e syntax.Expr) bool {
	f, ok := e.(*syntax.Func)
	return ok && (strings.EqualFold(f.Name, "rand") || strings.EqualFold(f.Name, "randomUUID"))
}
