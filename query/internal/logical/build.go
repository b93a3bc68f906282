package logical

import (
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// Graph is what planning asks of the graph: names and counts.
type Graph interface {
	access.Names
	access.Statistics
}

// Build plans a statement. g may be nil: then every label is taken to be
// equally frequent. Rules in off are not applied.
func Build(s *bound.Statement, g Graph, off Rules) (*Plan, error) {
	b := &builder{g: g, off: off, writes: s.Writes, subs: map[*bound.Subquery]*Query{}}
	q, err := b.query(s.Query)
	if err != nil {
		return nil, err
	}
	return &Plan{
		Query: q, Columns: s.Columns, Writes: s.Writes, Learning: s.Learning, Whole: s.Whole, Locals: s.Locals, Text: s.Text, Mode: s.Mode,
		Implicit: s.Implicit, Subqueries: b.subs,
	}, nil
}

// builder holds what planning one statement needs.
type builder struct {
	g   Graph
	off Rules
	// writes tells that the statement writes: else no barrier is needed.
	writes bool
	subs   map[*bound.Subquery]*Query
	part   *Part // the one being built
	ask    ask   // of the query being built
}

// ask is what is wanted of a query.
type ask uint8

const (
	askRows  ask = iota
	askCount     // only how many rows there are
	askSome      // only whether there are any
)

// queryFor builds a query inside of another.
func (b *builder) queryFor(a ask, q *bound.Query) (*Query, error) {
	outer := b.ask
	defer func() { b.ask = outer }()
	b.ask = a
	return b.query(q)
}

func (b *builder) query(q *bound.Query) (*Query, error) {
	out := &Query{}
	for _, all := range q.All {
		out.Distinct = out.Distinct || !all
	}
	for _, s := range q.Parts {
		p, err := b.single(s)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, p)
	}
	return out, nil
}

func (b *builder) single(s *bound.Single) (*Part, error) {
	outer := b.part
	defer func() { b.part = outer }()
	p := &Part{Width: s.Width, Vars: append([]bound.Var(nil), s.Vars...), Args: s.Args, Out: s.Out}
	b.part = p
	op, err := b.clauses(&Argument{Slots: s.Args}, s.Clauses)
	if err != nil {
		return nil, err
	}
	p.Op = op
	b.rewrite(p)
	return p, nil
}

func (b *builder) clauses(op Op, clauses []bound.Clause) (Op, error) {
	for _, c := range clauses {
		next, err := b.clause(op, c)
		if err != nil {
			return nil, err
		}
		op = next
	}
	return op, nil
}

func unary(in Op) Unary { return Unary{In: in} }

// slot makes a slot that no variable of the statement has.
func (b *builder) slot() int {
	s := b.part.Width
	b.part.Width++
	for len(b.part.Vars) < s {
		b.part.Vars = append(b.part.Vars, bound.Var{})
	}
	b.part.Vars = append(b.part.Vars, bound.Var{})
	return s
}

func (b *builder) clause(op Op, c bound.Clause) (Op, error) {
	switch c := c.(type) {
	case *bound.Match:
		return b.match(op, c)
	case *bound.Unwind:
		if err := b.exprs(c.List); err != nil {
			return nil, err
		}
		return &Unwind{Unary: unary(op), List: c.List, Slot: c.Slot}, nil
	case *bound.Project:
		return b.project(op, c)
	case *bound.Create:
		return &Create{Unary: unary(op), Patterns: c.Patterns}, b.patternExprs(c.Patterns...)
	case *bound.Merge:
		return b.merge(op, c)
	case *bound.Set:
		return &Set{Unary: unary(op), Items: c.Items}, b.setExprs(c.Items)
	case *bound.Remove:
		for _, it := range c.Items {
			if err := b.exprs(it.Target); err != nil {
				return nil, err
			}
		}
		return &Remove{Unary: unary(op), Items: c.Items}, nil
	case *bound.Delete:
		return &Delete{Unary: unary(op), Detach: c.Detach, Exprs: c.Exprs}, b.exprs(c.Exprs...)
	case *bound.Foreach:
		return b.foreach(op, c)
	case *bound.CallProc:
		if err := b.exprs(append([]bound.Expr{c.Where}, c.Args...)...); err != nil {
			return nil, err
		}
		return b.filter(&CallProc{Unary: unary(op), Call: c}, c.Where), nil
	case *bound.CallSubquery:
		q, err := b.queryFor(askRows, c.Query)
		return &CallSubquery{Unary: unary(op), Call: c, Query: q}, err
	case *bound.SchemaChange:
		return &SchemaChange{Unary: unary(op), Cmd: c}, nil
	case *bound.Remember:
		return &Remember{Unary: unary(op), Call: c}, b.rememberExprs(c)
	case *bound.Recall:
		return &Recall{Unary: unary(op), Call: c}, b.recallExprs(c)
	}
	return nil, fault.Unsupported(c.At(), "this clause")
}

// filter puts a filter over op unless where is nil.
func (b *builder) filter(op Op, where bound.Expr) Op {
	if where == nil {
		return op
	}
	return &Filter{Unary: unary(op), Preds: conjuncts(where, nil)}
}

// conjuncts splits a predicate at its ANDs.
func conjuncts(e bound.Expr, out []bound.Expr) []bound.Expr {
	if e == nil {
		return out
	}
	if b, ok := e.(*bound.Binary); ok && b.Op == syntax.OpAnd {
		return conjuncts(b.R, conjuncts(b.L, out))
	}
	return append(out, e)
}

func (b *builder) project(op Op, c *bound.Project) (Op, error) {
	if err := b.projectExprs(c); err != nil {
		return nil, err
	}
	if c.Aggregates {
		op = &Aggregate{Unary: unary(op), Group: c.Group, Aggs: c.Aggs, Args: b.part.Args}
	}
	op = &Project{Unary: unary(op), Items: c.Items}
	if c.Distinct {
		d := &Distinct{Unary: unary(op)}
		for _, it := range c.Items {
			d.Slots = append(d.Slots, it.Slot)
		}
		op = d
	}
	if len(c.OrderBy) > 0 {
		op = &Sort{Unary: unary(op), Keys: c.OrderBy}
	}
	if c.Skip != nil {
		op = &Skip{Unary: unary(op), N: c.Skip}
	}
	if c.Limit != nil {
		op = &Limit{Unary: unary(op), N: c.Limit, Drain: writesBelow(op)}
	}
	return b.filter(op, c.Where), nil
}

// writesBelow reports whether op or an operator below it writes.
func writesBelow(op Op) bool {
	if effectsOf(op).writes() {
		return true
	}
	if c, ok := op.(*CallSubquery); ok {
		for _, p := range c.Query.Parts {
			if writesBelow(p.Op) {
				return true
			}
		}
	}
	for _, in := range op.Inputs() {
		if writesBelow(*in) {
			return true
		}
	}
	return false
}

func (b *builder) merge(op Op, c *bound.Merge) (Op, error) {
	if err := b.setExprs(c.OnCreate); err != nil {
		return nil, err
	}
	if err := b.setExprs(c.OnMatch); err != nil {
		return nil, err
	}
	inner, err := b.lower(&Argument{Slots: Defined(op).List()}, []*bound.Pattern{c.Pattern}, nil)
	return &Merge{
		Unary: unary(op), Inner: inner, Pattern: c.Pattern, New: c.New, OnCreate: c.OnCreate, OnMatch: c.OnMatch,
	}, err
}

func (b *builder) foreach(op Op, c *bound.Foreach) (Op, error) {
	if err := b.exprs(c.List); err != nil {
		return nil, err
	}
	body, err := b.clauses(&Argument{Slots: Defined(op).With(c.Slot).List()}, c.Body)
	return &Foreach{Unary: unary(op), Slot: c.Slot, List: c.List, Body: body}, err
}

func (b *builder) match(op Op, c *bound.Match) (Op, error) {
	if err := checkHops(c.Patterns); err != nil {
		return nil, err
	}
	if !c.Optional {
		return b.lower(op, c.Patterns, c.Where)
	}
	row := b.slot()
	arg := &Argument{Slots: Defined(op).With(row).List()}
	inner, err := b.lower(arg, c.Patterns, c.Where)
	return &Optional{Unary: unary(op), Inner: inner, New: c.New, RowSlot: row}, err
}
