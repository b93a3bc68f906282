package bind

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// importer brings variables of the surroundings into a subquery: name i becomes
// argument slot i of every part.
type importer struct {
	names []string
	types []bound.Type
	base  int // locals in use around
	// explicit subqueries (CALL without a list) see only what their first WITH
	// names.
	explicit bool
	anyEnd   bool // the query may end without RETURN
}

// enter fills the argument slots of one part and returns the clauses left to
// bind.
func (m *importer) enter(s *single, clauses []syntax.Clause) []syntax.Clause {
	s.rows.base = m.base
	s.always = map[string]int{}
	for i, name := range m.names {
		slot := s.rows.slot(name, m.types[i])
		s.rows.args = append(s.rows.args, slot)
		if !m.explicit {
			s.scope.slots[name] = slot
			s.always[name] = slot
		}
	}
	if !m.explicit {
		return clauses
	}
	with := importingWith(clauses)
	if with == nil {
		return clauses
	}
	for i, name := range m.names {
		if with.Star || importedBy(with)[name] {
			s.scope.slots[name] = i
		}
	}
	return clauses[1:]
}

// importingWith returns the WITH that names what a CALL subquery imports, or
// nil: it is the first clause and does nothing else.
func importingWith(clauses []syntax.Clause) *syntax.Projection {
	if len(clauses) == 0 {
		return nil
	}
	p, ok := clauses[0].(*syntax.Projection)
	if !ok || p.Return || p.Distinct || p.OrderBy != nil || p.Skip != nil || p.Limit != nil || p.Where != nil {
		return nil
	}
	for _, item := range p.Items {
		if _, ok := item.Expr.(*syntax.Variable); !ok || item.As != nil {
			return nil
		}
	}
	return p
}

func importedBy(p *syntax.Projection) map[string]bool {
	out := map[string]bool{}
	for _, item := range p.Items {
		if v, ok := item.Expr.(*syntax.Variable); ok {
			out[v.Text] = true
		}
	}
	return out
}

// imports prepares a subquery that mentions n: what of it is visible here is
// imported. It returns the expressions that fill the arguments.
func (v *env) imports(n *names, at syntax.Span) (*importer, []bound.Expr) {
	m := &importer{base: v.base + len(v.locals), anyEnd: true}
	var outer []bound.Expr
	for _, name := range n.list {
		if !v.visible(name) {
			continue
		}
		e := v.variable(name, at)
		m.names = append(m.names, name)
		m.types = append(m.types, e.Type())
		outer = append(outer, e)
	}
	return m, outer
}

// inner makes the bound subquery: its arguments are slots 0, 1, ... .
func inner(at syntax.Span, kind bound.SubqueryKind, t bound.Type, q *bound.Query, outer []bound.Expr) *bound.Subquery {
	slots := make([]int, len(outer))
	for i := range slots {
		slots[i] = i
	}
	return &bound.Subquery{Info: info(at, t), Kind: kind, Query: q, Outer: outer, Inner: slots}
}

// subquery binds EXISTS {}, COUNT {} and COLLECT {}.
func (v *env) subquery(e *syntax.Subquery) bound.Expr {
	if bad := firstUpdate(e.Query); bad != nil {
		v.b.fail(fault.Syntax("InvalidClauseComposition", bad.At(), "a subquery in an expression can't change the graph"))
		return nothing(e.Span)
	}
	n := &names{}
	n.query(e.Query)
	m, outer := v.imports(n, e.Span)
	m.anyEnd = e.Kind != syntax.CollectSubquery
	q := v.b.query(e.Query, m)
	if v.b.err != nil {
		return nothing(e.Span)
	}
	switch e.Kind {
	case syntax.ExistsSubquery:
		return inner(e.Span, bound.Exists, boolType, q, outer)
	case syntax.CountSubquery:
		return inner(e.Span, bound.Count, intType, q, outer)
	}
	if len(q.Columns) != 1 {
		v.b.fail(fault.Syntax("InvalidClauseComposition", e.Span, "COLLECT { } must return one column, not %d", len(q.Columns)))
		return nothing(e.Span)
	}
	elem := bound.Type{}
	for i, part := range q.Parts {
		t := part.Vars[part.Out[0]].Type
		if i == 0 {
			elem = t
		} else {
			elem = elem.Or(t)
		}
	}
	return inner(e.Span, bound.Collect, bound.ListOf(elem), q, outer)
}

// firstUpdate returns the first clause of q that writes, or nil.
func firstUpdate(q *syntax.Query) syntax.Clause {
	for _, part := range q.Parts {
		for _, c := range part.Clauses {
			switch c := c.(type) {
			case *syntax.Create, *syntax.Merge, *syntax.Set, *syntax.Remove, *syntax.Delete,
				*syntax.Foreach, *syntax.Remember:
				return c
			case *syntax.Call:
				if c.Writes || c.Memory {
					return c
				}
			case *syntax.CallSubquery:
				if bad := firstUpdate(c.Query); bad != nil {
					return bad
				}
			}
		}
	}
	return nil
}

// patternPredicate binds a pattern as a condition: whether it has a match. It
// may not introduce variables.
func (v *env) patternPredicate(e *syntax.PatternExpr) bound.Expr {
	if e.Pattern.Shortest != syntax.NotShortest {
		return v.shortestPath(e)
	}
	v.onlyKnown(e.Pattern)
	q, outer := v.patternQuery(e.Pattern, nil, nil, e.Span)
	return inner(e.Span, bound.Exists, boolType, q, outer)
}

// shortestPath binds shortestPath(...) as an expression: the path, or null when
// there is none; allShortestPaths(...) is the list of them. It may not introduce
// variables.
func (v *env) shortestPath(e *syntax.PatternExpr) bound.Expr {
	v.onlyKnown(e.Pattern)
	p := *e.Pattern
	p.Var = &syntax.Name{Span: e.Span, Text: shortestVar}
	q, outer := v.patternQuery(&p, nil, &syntax.Variable{Name: *p.Var}, e.Span)
	paths := inner(e.Span, bound.Collect, bound.ListOf(pathType), q, outer)
	if p.Shortest == syntax.AllShortestPaths {
		return paths
	}
	return &bound.Call{Info: info(e.Span, orNull(pathType)), Name: "head", Args: []bound.Expr{paths}}
}

// shortestVar is the name of the path inside shortestPath(...), which nobody can
// write.
const shortestVar = " path"

func (v *env) onlyKnown(p *syntax.Pattern) {
	check := func(name *syntax.Name) {
		if name != nil && !v.visible(name.Text) {
			v.b.undefined(name.Text, name.At(), v.vars.list())
		}
	}
	check(p.Var)
	for i, node := range p.Nodes {
		check(node.Var)
		if i < len(p.Rels) {
			check(p.Rels[i].Var)
		}
	}
}

// patternComp binds [p = pattern WHERE e | e].
func (v *env) patternComp(e *syntax.PatternComp) bound.Expr {
	if hasAggregate(e.Proj) {
		v.b.fail(fault.Syntax("InvalidAggregation", e.Proj.At(), "an aggregate can't be used inside a pattern comprehension").
			WithHint("Count matches with COUNT { }, or compute it with WITH first."))
		return nothing(e.Span)
	}
	q, outer := v.patternQuery(e.Pattern, e.Where, e.Proj, e.Span)
	elem := bound.Any
	if v.b.err == nil {
		part := q.Parts[0]
		elem = part.Vars[part.Out[0]].Type
	}
	return inner(e.Span, bound.Collect, bound.ListOf(elem), q, outer)
}

// patternQuery makes the query MATCH p WHERE where RETURN proj; proj may be nil.
func (v *env) patternQuery(p *syntax.Pattern, where, proj syntax.Expr, at syntax.Span) (*bound.Query, []bound.Expr) {
	n := &names{}
	n.pattern(p)
	n.exprs(where, proj)
	m, outer := v.imports(n, at)
	clauses := []syntax.Clause{&syntax.Match{Span: p.Span, Patterns: []*syntax.Pattern{p}, Where: where}}
	if proj != nil {
		item := &syntax.Item{Span: proj.At(), Expr: proj, Text: "value"}
		clauses = append(clauses, &syntax.Projection{Span: proj.At(), Return: true, Items: []*syntax.Item{item}})
	}
	q := &syntax.Query{Parts: []*syntax.SingleQuery{{Clauses: clauses}}}
	return v.b.query(q, m), outer
}

// callSubquery binds CALL { }.
func (s *single) callSubquery(c *syntax.CallSubquery) {
	if c.Batches != nil {
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.Batches.Span,
			"CALL { } IN TRANSACTIONS stands once and only in the outermost query, without UNION").
			WithHint("Run it as a statement of its own."))
		return
	}
	m := &importer{base: s.rows.base, explicit: !c.Scoped}
	out := &bound.CallSubquery{Span: c.Span}
	for _, name := range s.imported(c) {
		slot, ok := s.scope.slots[name.Text]
		if !ok {
			s.b.undefined(name.Text, name.At(), s.scope.names())
			return
		}
		out.Inner = append(out.Inner, len(m.names))
		out.Outer = append(out.Outer, slot)
		m.names = append(m.names, name.Text)
		m.types = append(m.types, s.rows.vars[slot].Type)
	}
	out.Query = s.b.query(c.Query, m)
	if s.b.err != nil {
		return
	}
	for i, name := range out.Query.Columns {
		t := bound.Type{}
		for _, part := range out.Query.Parts {
			t = t.Or(part.Vars[part.Out[i]].Type)
		}
		out.Out = append(out.Out, s.b.define(s.scope, &syntax.Name{Span: c.Span, Text: name}, t))
	}
	s.emit(out)
}

// standaloneSubquery binds a subquery that is the whole statement: it returns what
// the subquery does.
func (s *single) standaloneSubquery(c *syntax.CallSubquery) {
	s.callSubquery(c)
	if s.b.err != nil {
		return
	}
	call, ok := s.out.Clauses[len(s.out.Clauses)-1].(*bound.CallSubquery)
	if !ok {
		return
	}
	var yields []bound.Yield
	for i, name := range call.Query.Columns {
		yields = append(yields, bound.Yield{Field: name, Slot: call.Out[i], Name: name})
	}
	s.returnYields(yields, c.Span)
}

// imported lists the variables that a CALL subquery, or one of its parts,
// imports, each once.
func (s *single) imported(c *syntax.CallSubquery) []*syntax.Name {
	var out []*syntax.Name
	seen := map[string]bool{}
	add := func(name *syntax.Name) {
		if !seen[name.Text] {
			seen[name.Text] = true
			out = append(out, name)
		}
	}
	all := func(at syntax.Span) {
		for _, name := range s.scope.names() {
			add(&syntax.Name{Span: at, Text: name})
		}
	}
	if c.Scoped {
		if c.ImportStar {
			all(c.Span)
		}
		for _, name := range c.Imports {
			add(name)
		}
		return out
	}
	for _, part := range c.Query.Parts {
		with := importingWith(part.Clauses)
		if with == nil {
			continue
		}
		if with.Star {
			all(with.Span)
		}
		for _, item := range with.Items {
			if v, ok := item.Expr.(*syntax.Variable); ok {
				add(&v.Name)
			}
		}
	}
	return out
}
