package bind

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// matcher binds the patterns of one reading clause. Variables are declared
// first, properties and conditions are bound afterwards, so that they see every
// variable of the clause.
type matcher struct {
	*single
	clause string
	before *scope // what was there before the clause
	edges  map[string]bool
	fresh  []int
	later  []func()
}

func (s *single) newMatcher(clause string) *matcher {
	return &matcher{single: s, clause: clause, before: s.scope.clone(), edges: map[string]bool{}}
}

// match binds MATCH and OPTIONAL MATCH.
func (s *single) match(c *syntax.Match) {
	m := s.newMatcher("MATCH")
	out := &bound.Match{Span: c.Span, Optional: c.Optional}
	for _, p := range c.Patterns {
		out.Patterns = append(out.Patterns, m.pattern(p))
	}
	m.finish()
	out.Where = s.predicate(c.Where, "WHERE")
	out.New = m.fresh
	s.emit(out)
}

func (m *matcher) finish() {
	for _, f := range m.later {
		f()
	}
}

func (m *matcher) pattern(p *syntax.Pattern) *bound.Pattern {
	out := &bound.Pattern{Span: p.Span, Path: -1, Shortest: p.Shortest, Count: p.Count}
	for i, node := range p.Nodes {
		out.Nodes = append(out.Nodes, m.node(node))
		if i < len(p.Rels) {
			out.Rels = append(out.Rels, m.rel(p.Rels[i], p.Shortest != syntax.NotShortest))
		}
	}
	if p.Shortest != syntax.NotShortest {
		m.checkShortest(p)
	}
	if p.Var != nil {
		out.Path = m.define(p.Var, pathType)
	}
	return out
}

func (m *matcher) checkShortest(p *syntax.Pattern) {
	switch {
	case len(p.Rels) != 1:
		m.b.fail(fault.Syntax("InvalidRelationshipPattern", p.Span, "a shortest path is asked of one relationship pattern between two nodes"))
	case p.Count == 0 && p.Rels[0].Var0 != nil && p.Rels[0].Var0.Min != nil && *p.Rels[0].Var0.Min > 1:
		m.b.fail(fault.Unsupported(p.Rels[0].Var0.Span, "a shortest path with a least length above 1").
			WithHint("Write ANY SHORTEST (a)-[:KNOWS]->{2,5}(b)."))
	}
}

// define declares a variable that must be new, and notes its slot.
func (m *matcher) define(name *syntax.Name, t bound.Type) int {
	slot := m.b.define(m.scope, name, t)
	m.fresh = append(m.fresh, slot)
	return slot
}

// use returns the slot of a pattern variable and whether it had a value before
// the clause. kinds are what its value may be.
func (m *matcher) use(name *syntax.Name, t bound.Type, kinds bound.Kinds, what string) (slot int, known bool) {
	if name == nil {
		slot = m.rows.slot("", t)
		m.fresh = append(m.fresh, slot)
		return slot, false
	}
	slot, ok := m.scope.slots[name.Text]
	if !ok {
		return m.define(name, t), false
	}
	had := m.rows.vars[slot].Type
	wrongElem := kinds == kList && had.Elem != nil && had.Elem.Never(kEdge)
	if had.Never(kinds) || wrongElem {
		m.b.fail(fault.Syntax("VariableTypeConflict", name.At(), "variable `%s` is %s and can't be used as a %s",
			name.Text, an(had.Kinds), what))
	}
	return slot, m.before.has(name.Text)
}

func (m *matcher) node(p *syntax.NodePattern) *bound.NodePat {
	out := &bound.NodePat{Span: p.Span, Labels: p.Labels}
	out.Slot, out.Bound = m.use(p.Var, nodeType, kNode, "node")
	m.later = append(m.later, func() {
		out.Props, out.PropsFrom = m.props(p.Props)
		out.Where = m.predicate(p.Where, "WHERE")
		if len(p.Dynamic) > 0 {
			vars := m.rows.vars[out.Slot]
			slot := &bound.Slot{Info: info(p.Span, vars.Type), Index: out.Slot, Name: vars.Name}
			out.Where = m.alsoNamed(p.Dynamic, slot, out.Where)
		}
	})
	return out
}

// rel binds an edge of a pattern, or several. Walk tells that the pattern is a
// walk that is looked for as a whole, so that conditions are about each edge of it.
func (m *matcher) rel(p *syntax.RelPattern, walk bool) *bound.RelPat {
	out := &bound.RelPat{Span: p.Span, Types: texts(p.Types), Dir: p.Dir, Min: 1, Max: 1}
	if p.Var0 != nil {
		out.VarLength, out.Max = true, -1
		if p.Var0.Min != nil {
			out.Min = *p.Var0.Min
		}
		if p.Var0.Max != nil {
			out.Max = *p.Var0.Max
		}
		out.Slot, out.Bound = m.use(p.Var, edgesType, kList, "list of relationships")
	} else {
		out.Slot, out.Bound = m.use(p.Var, edgeType, kEdge, "relationship")
	}
	if p.Var != nil {
		if m.edges[p.Var.Text] {
			m.b.fail(fault.Syntax("RelationshipUniquenessViolation", p.Var.At(),
				"relationship `%s` can't stand for two relationships of one pattern", p.Var.Text).
				WithHint("Give the second one another name."))
		}
		m.edges[p.Var.Text] = true
	}
	m.later = append(m.later, func() {
		out.Props, out.PropsFrom = m.props(p.Props)
		walk = walk || out.VarLength
		out.Where = m.ofTypes(p, out, walk, m.predicate(ofEachEdge(p, walk), "WHERE"))
		out.Where = m.edgesNamed(p, out, walk, out.Where)
	})
	return out
}

// ofTypes adds to where the condition that the edge, or each of the edges, is of
// an expression of types such as !A.
func (m *matcher) ofTypes(p *syntax.RelPattern, out *bound.RelPat, walk bool, where bound.Expr) bound.Expr {
	if _, any := p.TypeExpr.(*syntax.LabelAny); p.TypeExpr == nil || any {
		return where
	}
	at := p.TypeExpr.At()
	vars := m.rows.vars[out.Slot]
	var test, slot bound.Expr = nil, &bound.Slot{Info: info(at, vars.Type), Index: out.Slot, Name: vars.Name}
	if walk {
		if !out.VarLength {
			slot = &bound.List{Info: info(at, edgesType), Elems: []bound.Expr{slot}}
		}
		local := &bound.Local{Info: info(at, edgeType), Index: m.env("WHERE").push("r", edgeType), Name: "r"}
		test = &bound.Quantifier{
			Info: info(at, boolType), Kind: syntax.QuantAll, Var: local.Index, List: slot,
			Where: &bound.HasLabels{Info: info(at, boolType), E: local, Labels: p.TypeExpr},
		}
	} else {
		test = &bound.HasLabels{Info: info(at, boolType), E: slot, Labels: p.TypeExpr}
	}
	if where == nil {
		return test
	}
	return &bound.Binary{Info: info(at, boolType), Op: syntax.OpAnd, L: test, R: where}
}

// ofEachEdge is the condition inside a relationship pattern. In a walk its variable
// stands for each of the edges there.
func ofEachEdge(p *syntax.RelPattern, walk bool) syntax.Expr {
	if !walk || p.Where == nil || p.Var == nil {
		return p.Where
	}
	var list syntax.Expr = &syntax.Variable{Name: *p.Var}
	if p.Var0 == nil {
		list = &syntax.ListLit{Span: p.Var.Span, Elems: []syntax.Expr{list}}
	}
	return &syntax.Quantifier{Span: p.Where.At(), Kind: syntax.QuantAll, Var: p.Var, List: list, Where: p.Where}
}

// props binds the properties of a pattern that is matched: a map, never a
// parameter.
func (m *matcher) props(e syntax.Expr) ([]bound.PropPat, bound.Expr) {
	if p, ok := e.(*syntax.Param); ok {
		m.b.fail(fault.Syntax("InvalidParameterUse", p.Span, "a parameter can't stand for all properties in %s", m.clause).
			WithHint("Name the keys: {key: $%s.key}.", p.Name))
		return nil, nil
	}
	return m.propList(e, m.clause)
}

// propList binds {k: e, ...}, or a parameter in its place.
func (s *single) propList(e syntax.Expr, where string) ([]bound.PropPat, bound.Expr) {
	switch e := e.(type) {
	case nil:
		return nil, nil
	case *syntax.MapLit:
		var out []bound.PropPat
		for i, key := range e.Keys {
			out = append(out, bound.PropPat{Key: key.Text, Expr: s.expr(e.Values[i], where)})
		}
		return out, nil
	}
	return nil, s.expr(e, where)
}
