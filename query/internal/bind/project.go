package bind

import (
	"fmt"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// projector binds one WITH or RETURN.
type projector struct {
	*single
	c     *syntax.Projection
	where string // WITH or RETURN
	out   *bound.Project
	items []item
	next  *scope // the scope behind the clause

	groups  keySet // grouping expressions
	aggs    keySet // aggregates
	columns keySet // whole items
	keys    keyer
	aliases map[string]bool
}

// item is one column, * expanded.
type item struct {
	expr  syntax.Expr
	name  string
	at    syntax.Span
	alias bool // named by AS, a variable or RETURN
	agg   bool
}

func (s *single) projection(c *syntax.Projection) {
	p := &projector{
		single: s, c: c, where: "WITH", next: newScope(s.rows),
		out:     &bound.Project{Span: c.Span, Return: c.Return, Distinct: c.Distinct},
		aliases: map[string]bool{},
	}
	if c.Return {
		p.where = "RETURN"
	}
	p.expand()
	if p.out.Aggregates && c.Word != "" {
		p.b.fail(fault.Syntax("InvalidAggregation", c.Span, "%s can't aggregate", c.Word).WithHint("Use WITH or RETURN."))
	}
	if p.out.Aggregates {
		p.aggregateItems()
	} else {
		p.plainItems()
	}
	p.hintAlias()
	p.name()
	p.tail()
	p.checkAliases()
	p.close()
}

// hintAlias says what to do about an item that reads the name of another one.
func (p *projector) hintAlias() {
	err, ok := p.b.err.(*fault.Error)
	if !ok || p.b.missing == "" || err.Hint != "" && !strings.HasPrefix(err.Hint, "Defined") && !strings.HasPrefix(err.Hint, "No variable") {
		return
	}
	for _, it := range p.c.Items {
		if it.As != nil && it.As.Text == p.b.missing {
			err.Hint = fmt.Sprintf("`%s` is named by this %s: compute it in a WITH before.", p.b.missing, p.where)
		}
	}
}

// expand lists the items, with the variables of * in alphabetical order first.
func (p *projector) expand() {
	if p.c.Star {
		all := p.scope.names()
		// What a subquery sees of its surroundings is not a column of it.
		all = slices.DeleteFunc(all, func(name string) bool {
			slot, around := p.always[name]
			return around && p.scope.slots[name] == slot
		})
		if len(all) == 0 && len(p.always) == 0 && p.c.Return {
			p.b.fail(fault.Syntax("NoVariablesInScope", p.c.Span, "RETURN * needs a variable, there is none"))
		}
		for _, name := range all {
			v := &syntax.Variable{Name: syntax.Name{Span: p.c.Span, Text: name}}
			p.add(item{expr: v, name: name, at: p.c.Span, alias: true})
		}
	}
	for _, it := range p.c.Items {
		_, isVar := it.Expr.(*syntax.Variable)
		next := item{expr: it.Expr, name: it.Text, at: it.At(), alias: p.c.Return || isVar || it.As != nil}
		if v, ok := it.Expr.(*syntax.Variable); ok {
			next.name = v.Text
		}
		if it.As != nil {
			next.name = it.As.Text
		}
		p.add(next)
	}
}

func (p *projector) add(it item) {
	it.agg = hasAggregate(it.expr)
	p.out.Aggregates = p.out.Aggregates || it.agg
	p.items = append(p.items, it)
}

func (p *projector) plainItems() {
	for i := range p.items {
		p.put(&p.items[i], p.expr(p.items[i].expr, p.where))
	}
}

// aggregateItems binds the items without aggregates first, for they are the
// grouping keys that the others may read.
func (p *projector) aggregateItems() {
	slots := make([]int, len(p.items))
	for i := range p.items {
		it := &p.items[i]
		if it.agg {
			continue
		}
		e := p.expr(it.expr, p.where)
		slots[i] = p.rows.slot(it.name, e.Type())
		p.out.Group = append(p.out.Group, bound.Item{Expr: e, Slot: slots[i], Name: it.name})
		p.note(&p.groups, it.expr, slots[i])
	}
	v := p.aggregateEnv()
	for i := range p.items {
		it := &p.items[i]
		if it.agg {
			p.put(it, v.expr(it.expr))
			continue
		}
		p.put(it, p.rows.read(slots[i], it.expr.At()))
	}
}

// put gives an item its slot.
func (p *projector) put(it *item, e bound.Expr) {
	slot := p.rows.slot(it.name, e.Type())
	p.out.Items = append(p.out.Items, bound.Item{Expr: e, Slot: slot, Name: it.name})
}

// name fills the scope behind the clause.
func (p *projector) name() {
	for i, it := range p.items {
		slot := p.out.Items[i].Slot
		if p.next.has(it.name) {
			p.b.fail(fault.Syntax("ColumnNameConflict", it.at, "two columns are named `%s`", it.name).
				WithHint("Rename one with AS."))
			return
		}
		p.next.slots[it.name] = slot
		if v, ok := it.expr.(*syntax.Variable); !ok || v.Text != it.name {
			p.aliases[it.name] = true
		}
		if p.c.OrderBy != nil || p.c.Where != nil {
			p.note(&p.columns, it.expr, slot)
		}
	}
}

// tail binds what follows the items.
func (p *projector) tail() {
	for _, s := range p.c.OrderBy {
		p.out.OrderBy = append(p.out.OrderBy, bound.Sort{Expr: p.sortKey(s.Expr), Desc: s.Desc})
	}
	p.out.Skip = p.count(p.c.Skip, "SKIP")
	p.out.Limit = p.count(p.c.Limit, "LIMIT")
	if p.c.Where != nil {
		p.out.Where = p.afterEnv("WHERE", false).condition(p.c.Where)
	}
}

// checkAliases comes last: the TCK reports other errors of the clause first.
func (p *projector) checkAliases() {
	for _, it := range p.items {
		if !it.alias {
			p.b.fail(fault.Syntax("NoExpressionAlias", it.at, "an expression in WITH needs a name").
				WithHint("Write %s AS name.", it.name))
		}
	}
}

// close puts the next scope in place.
func (p *projector) close() {
	for name, slot := range p.always {
		if !p.next.has(name) {
			p.next.slots[name] = slot
		}
	}
	p.single.scope = p.next
	if p.c.Return {
		p.single.columns = make([]string, 0, len(p.items))
		for _, it := range p.out.Items {
			p.single.columns = append(p.single.columns, it.Name)
			p.single.out.Out = append(p.single.out.Out, it.Slot)
		}
	}
	p.emit(p.out)
}

// count binds SKIP or LIMIT: an integer that reads no row.
func (p *projector) count(e syntax.Expr, what string) bound.Expr {
	if e == nil {
		return nil
	}
	v := &env{b: p.b, where: what, vars: constantOnly{p.b, p.single.scope, what}, base: p.rows.base}
	out := v.expr(e)
	p.b.demand(out, kInt, what)
	if n, ok := constantInt(out); ok && n < 0 {
		p.b.fail(fault.Syntax("NegativeIntegerArgument", e.At(), "%s can't be negative", what))
	}
	return out
}

// constantInt evaluates a signed integer literal.
func constantInt(e bound.Expr) (int64, bool) {
	switch e := e.(type) {
	case *bound.Const:
		return e.Value.AsInt(), e.Value.Kind() == value.KindInt
	case *bound.Unary:
		n, ok := constantInt(e.E)
		if e.Op == syntax.OpNeg {
			n = -n
		}
		return n, ok
	}
	return 0, false
}

// constantOnly refuses every variable.
type constantOnly struct {
	b    *binder
	s    *scope
	what string
}

func (v constantOnly) resolve(name string, at syntax.Span) bound.Expr {
	v.b.fail(fault.Syntax("NonConstantExpression", at, "%s can't depend on variables such as `%s`", v.what, name))
	return nil
}

// visible is true for all variables in scope, so that subqueries are refused too.
func (v constantOnly) visible(name string) bool { return v.s.has(name) }
func (v constantOnly) list() []string           { return v.s.names() }

// aggregateEnv is where items with aggregates are bound: outside the aggregates
// they may read grouping keys only.
func (p *projector) aggregateEnv() *env {
	v := &env{b: p.b, where: p.where, base: p.rows.base, vars: groupVars{p}}
	v.instead = func(e syntax.Expr) bound.Expr {
		switch e.(type) {
		case *syntax.Variable, *syntax.Property:
			if slot, ok := p.find(p.groups, e); ok && !v.readsLocal(e) {
				return p.rows.read(slot, e.At())
			}
		}
		return nil
	}
	v.aggregate = func(f *syntax.Func, a *fn.Aggregate) bound.Expr {
		if slot, ok := p.find(p.aggs, f); ok {
			return p.rows.read(slot, f.Span)
		}
		return p.newAggregate(f, a)
	}
	return v
}

// newAggregate adds an aggregate to the clause and reads its slot.
func (p *projector) newAggregate(f *syntax.Func, a *fn.Aggregate) bound.Expr {
	agg := p.env(p.where).aggregateArgs(f, a)
	if p.b.err != nil {
		return nothing(f.Span)
	}
	agg.Slot = p.rows.slot("", orNull(a.ResultType(types(agg.Args))))
	p.out.Aggs = append(p.out.Aggs, agg)
	p.note(&p.aggs, f, agg.Slot)
	return p.rows.read(agg.Slot, f.Span)
}

// groupVars resolves variables beside aggregates.
type groupVars struct{ p *projector }

func (v groupVars) resolve(name string, at syntax.Span) bound.Expr {
	// A subquery asks for variables without going through env.instead.
	if slot, ok := v.p.findName(v.p.groups, name); ok {
		return v.p.rows.read(slot, at)
	}
	if !v.p.scope.has(name) {
		v.p.b.undefined(name, at, v.p.scope.names())
		return nil
	}
	v.p.b.ambiguous(name, at)
	return nil
}

func (v groupVars) visible(name string) bool { return v.p.scope.has(name) }
func (v groupVars) list() []string           { return v.p.scope.names() }

func (b *binder) ambiguous(text string, at syntax.Span) {
	b.fail(fault.Syntax("AmbiguousAggregationExpression", at, "`%s` stands beside an aggregate but is not grouped by", text).
		WithHint("Compute it with WITH first, or project it as a column of its own."))
}
