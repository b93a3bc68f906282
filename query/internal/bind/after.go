package bind

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// ORDER BY, and WHERE of WITH, see both sides of the projection, the new names
// first. Behind DISTINCT and aggregation only the columns are left; an
// expression that is written like a column stands for it.

// narrow reports whether the rows before the projection are gone behind it.
func (p *projector) narrow() bool { return p.out.Aggregates || p.out.Distinct }

// afterEnv is where ORDER BY and WHERE are bound. besideAgg tells that the
// expression contains an aggregate.
func (p *projector) afterEnv(where string, besideAgg bool) *env {
	v := &env{b: p.b, where: where, base: p.rows.base, vars: afterVars{p}}
	v.instead = func(e syntax.Expr) bound.Expr { return p.column(v, e, besideAgg) }
	if p.out.Aggregates && where == "ORDER BY" {
		v.aggregate = p.sortAggregate
	}
	return v
}

func (p *projector) sortKey(e syntax.Expr) bound.Expr {
	// A key that is written like a column is that column, whatever it holds.
	if slot, ok := p.columnSlot(e); ok {
		return p.rows.read(slot, e.At())
	}
	return p.afterEnv("ORDER BY", hasAggregate(e)).expr(e)
}

// columnSlot finds the column that e is written like, unless a name in e means
// something new behind the projection.
func (p *projector) columnSlot(e syntax.Expr) (int, bool) {
	slot, ok := p.find(p.columns, e)
	if !ok {
		return 0, false
	}
	if !hasAggregate(e) && mentions(e, p.isAlias) {
		return 0, false
	}
	return slot, true
}

func (p *projector) isAlias(e syntax.Expr) bool {
	v, ok := e.(*syntax.Variable)
	return ok && p.aliases[v.Text]
}

// column puts the column in place of an expression that is written like it.
func (p *projector) column(v *env, e syntax.Expr, besideAgg bool) bound.Expr {
	slot, ok := p.columnSlot(e)
	if !ok || v.readsLocal(e) {
		return nil
	}
	switch e.(type) {
	case *syntax.Literal, *syntax.Param:
		return nil
	case *syntax.Variable, *syntax.Property:
	default:
		if besideAgg && !hasAggregate(e) {
			p.b.ambiguous("this expression", e.At())
			return nothing(e.At())
		}
	}
	return p.rows.read(slot, e.At())
}

// sortAggregate binds an aggregate in ORDER BY: one that the clause computes
// already, or one that needs no variable.
func (p *projector) sortAggregate(f *syntax.Func, a *fn.Aggregate) bound.Expr {
	slot, ok := p.find(p.aggs, f)
	switch {
	case p.out.Distinct:
	case ok:
		return p.rows.read(slot, f.Span)
	case !mentions(f, func(e syntax.Expr) bool { _, is := e.(*syntax.Variable); return is }):
		return p.newAggregate(f, a)
	}
	// Its arguments could read only columns: say so when they don't.
	after := p.afterEnv("ORDER BY", false)
	after.aggregate = nil
	after.exprs(f.Args)
	p.b.fail(fault.Syntax("InvalidAggregation", f.Span, "ORDER BY can't compute the aggregate %s() that is not a column", a.Name).
		WithHint("Project it as a column and sort by that."))
	return nothing(f.Span)
}

// afterVars resolves variables behind a projection.
type afterVars struct{ p *projector }

func (v afterVars) resolve(name string, at syntax.Span) bound.Expr {
	p := v.p
	if e, ok := p.next.read(name, at); ok {
		return e
	}
	if slot, ok := p.always[name]; ok {
		return p.rows.read(slot, at)
	}
	if !p.narrow() {
		if e, ok := p.scope.read(name, at); ok {
			return e
		}
	}
	// A subquery asks for variables without going through env.instead.
	if slot, ok := p.findName(p.columns, name); ok {
		return p.rows.read(slot, at)
	}
	known := p.next.names()
	if p.scope.has(name) {
		p.b.fail(fault.Syntax("UndefinedVariable", at, "variable `%s` is not passed on by %s", name, p.where).
			WithHint("Add it to %s.", p.where))
		return nil
	}
	if !p.narrow() {
		known = append(known, p.scope.names()...)
	}
	p.b.undefined(name, at, known)
	return nil
}

func (v afterVars) visible(name string) bool {
	return v.p.next.has(name) || v.p.scope.has(name)
}

func (v afterVars) list() []string {
	if v.p.narrow() {
		return v.p.next.names()
	}
	all := v.p.next.clone()
	for name, slot := range v.p.scope.slots {
		if !all.has(name) {
			all.slots[name] = slot
		}
	}
	return all.names()
}
