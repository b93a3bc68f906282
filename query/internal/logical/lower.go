package logical

import (
	"slices"

	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// matcher turns the patterns of one MATCH into a chain of operators.
type matcher struct {
	b        *builder
	op       Op
	have     Slots // slots with a value behind op
	nodes    []*bound.NodePat
	steps    []*step
	preds    []bound.Expr
	paths    []*bound.Pattern
	used     []usedEdge
	estimate estimator
}

// step is one edge of a pattern, to be followed once.
type step struct {
	rel         *bound.RelPat
	left, right int // slots
	shortest    syntax.Shortest
	count       int64
}

// usedEdge is an edge of the same MATCH that later ones must differ from.
type usedEdge struct {
	Used
	types []string
}

// lower plans patterns that are matched together, over op.
func (b *builder) lower(op Op, patterns []*bound.Pattern, where bound.Expr) (Op, error) {
	if err := b.patternExprs(patterns...); err != nil {
		return nil, err
	}
	if err := b.exprs(where); err != nil {
		return nil, err
	}
	m := &matcher{b: b, op: op, have: Defined(op)}
	for _, p := range patterns {
		if err := m.add(p); err != nil {
			return nil, err
		}
	}
	m.preds = conjuncts(where, m.preds)
	m.estimate = newEstimator(b.g, m.preds)
	m.solve()
	for _, p := range m.paths {
		m.op = &PathBuild{Unary: unary(m.op), Slot: p.Path, Pattern: p}
	}
	if len(m.preds) > 0 {
		m.op = &Filter{Unary: unary(m.op), Preds: m.preds}
	}
	return m.op, nil
}

// add takes a pattern apart into nodes, steps and predicates.
func (m *matcher) add(p *bound.Pattern) error {
	for _, n := range p.Nodes {
		if err := m.addNode(n, len(p.Rels) == 0); err != nil {
			return err
		}
	}
	for i, r := range p.Rels {
		m.steps = append(m.steps, &step{
			rel: r, left: p.Nodes[i].Slot, right: p.Nodes[i+1].Slot, shortest: p.Shortest, count: p.Count,
		})
		if r.PropsFrom != nil {
			return fault.Unsupported(r.Span, "a parameter map in a pattern of MATCH")
		}
		m.preds = conjuncts(r.Where, m.preds) // of a walk, about all of its edges: see package bind
		if !r.VarLength && p.Shortest == syntax.NotShortest {
			m.addProps(r.Slot, r.Props)
		}
	}
	if p.Path >= 0 {
		m.paths = append(m.paths, p)
	}
	return nil
}

func (m *matcher) addNode(n *bound.NodePat, alone bool) error {
	if n.PropsFrom != nil {
		return fault.Unsupported(n.Span, "a parameter map in a pattern of MATCH")
	}
	if !slices.ContainsFunc(m.nodes, func(o *bound.NodePat) bool { return o.Slot == n.Slot }) {
		m.nodes = append(m.nodes, n)
		if m.have.Has(n.Slot) && alone {
			slot := &bound.Slot{Info: bound.Info{Span: n.Span, T: bound.Any}, Index: n.Slot}
			m.preds = append(m.preds, &bound.IsNull{Info: boolInfo(n.Span), E: slot, Not: true})
		}
	}
	m.addLabels(n, n.Labels)
	m.addProps(n.Slot, n.Props)
	m.preds = conjuncts(n.Where, m.preds)
	return nil
}

// addLabels makes a predicate of every part of a label expression that must
// hold on its own.
func (m *matcher) addLabels(n *bound.NodePat, l syntax.LabelExpr) {
	if l == nil {
		return
	}
	if and, ok := l.(*syntax.LabelAnd); ok {
		m.addLabels(n, and.L)
		m.addLabels(n, and.R)
		return
	}
	slot := &bound.Slot{Info: bound.Info{Span: n.Span, T: bound.Any}, Index: n.Slot, Name: m.b.part.Vars[n.Slot].Name}
	m.preds = append(m.preds, &bound.HasLabels{Info: boolInfo(l.At()), E: slot, Labels: l})
}

func (m *matcher) addProps(slot int, props []bound.PropPat) {
	for _, p := range props {
		at := p.Expr.At()
		e := &bound.Slot{Info: bound.Info{Span: at, T: bound.Any}, Index: slot, Name: m.b.part.Vars[slot].Name}
		prop := &bound.Prop{Info: bound.Info{Span: at, T: bound.Any}, E: e, Key: p.Key}
		m.preds = append(m.preds, &bound.Binary{Info: boolInfo(at), Op: syntax.OpEq, L: prop, R: p.Expr})
	}
}

func boolInfo(at syntax.Span) bound.Info { return bound.Info{Span: at, T: boolType} }

// solve picks one node or step after the other until all are in the chain.
func (m *matcher) solve() {
	for {
		if s := m.nextStep(); s != nil {
			m.follow(s)
			continue
		}
		n := m.nextNode()
		if m.seekEdge(n) {
			continue
		}
		if n == nil {
			return
		}
		m.op = &NodeScan{Unary: unary(m.op), Slot: n.Slot}
		m.have = m.have.With(n.Slot)
	}
}

// nextStep returns a step that can be followed now, or nil.
func (m *matcher) nextStep() *step {
	for _, s := range m.steps {
		if m.have.Has(s.left) && m.have.Has(s.right) || m.relBound(s) {
			return s
		}
	}
	if m.b.off.Has(OrderPatterns) {
		// As written: the first open step, once its left end has a value.
		if len(m.steps) > 0 && m.have.Has(m.steps[0].left) && m.steps[0].shortest == syntax.NotShortest {
			return m.steps[0]
		}
		return nil
	}
	var best *step
	var cost float64
	for _, s := range m.steps {
		if s.shortest != syntax.NotShortest || !m.have.Has(s.left) && !m.have.Has(s.right) {
			continue
		}
		if c := m.estimate.fanout(m.have, s); best == nil || c < cost {
			best, cost = s, c
		}
	}
	return best
}

func (m *matcher) relBound(s *step) bool { return s.rel.Bound && m.have.Has(s.rel.Slot) }

// nextNode returns the node to scan for next, or nil when all have a value.
func (m *matcher) nextNode() *bound.NodePat {
	var best *bound.NodePat
	var cost float64
	for _, n := range m.nodes {
		if m.have.Has(n.Slot) {
			continue
		}
		if m.b.off.Has(OrderPatterns) {
			return n
		}
		if c := m.estimate.start(m.have, n.Slot); best == nil || c < cost {
			best, cost = n, c
		}
	}
	return best
}

// follow appends the operator for a step.
func (m *matcher) follow(s *step) {
	i := slices.Index(m.steps, s)
	m.steps = slices.Delete(m.steps, i, i+1)
	r := s.rel
	unique := m.unique(r)
	m.used = append(m.used, usedEdge{Used: Used{Slot: r.Slot, List: r.VarLength}, types: r.Types})
	from, to, dir, reverse := s.left, s.right, r.Dir, false
	if !m.have.Has(from) && m.have.Has(to) {
		from, to, dir, reverse = to, from, flip(dir), true
	}
	into := m.have.Has(from) && m.have.Has(to)
	switch {
	case m.relBound(s) || m.have.Has(r.Slot) && !r.VarLength:
		m.op = &BoundExpand{
			Unary: unary(m.op), From: s.left, Rel: r.Slot, To: s.right, Types: r.Types, Dir: r.Dir,
			FromBound: m.have.Has(s.left), ToBound: m.have.Has(s.right),
			List: r.VarLength, Min: r.Min, Max: r.Max, Unique: unique,
		}
	case s.shortest != syntax.NotShortest:
		m.op = &ShortestPath{
			Unary: unary(m.op), From: s.left, Rel: r.Slot, To: s.right, Types: r.Types, Dir: r.Dir,
			Min: r.Min, Max: r.Max, Props: r.Props, All: s.shortest == syntax.AllShortestPaths, Unique: unique,
			Count: s.count, Single: !r.VarLength, Within: m.within(s),
		}
		if sp := m.op.(*ShortestPath); sp.Single {
			sp.Min, sp.Max = 1, 1
		}
	case r.VarLength:
		m.op = &VarExpand{
			Unary: unary(m.op), From: from, Rel: r.Slot, To: to, Types: r.Types, Dir: dir,
			Min: r.Min, Max: r.Max, Props: r.Props, Into: into, Reverse: reverse, Unique: unique, Within: m.within(s),
		}
	default:
		m.op = &Expand{
			Unary: unary(m.op), From: from, Rel: r.Slot, To: to, Types: r.Types, Dir: dir,
			Into: into, Unique: unique,
		}
	}
	m.have = m.have.With(s.left, s.right, r.Slot)
}

func flip(d syntax.RelDir) syntax.RelDir {
	switch d {
	case syntax.RelOut:
		return syntax.RelIn
	case syntax.RelIn:
		return syntax.RelOut
	}
	return d
}

// unique returns the edges that r might repeat: an edge has one type, so edges
// of other types are no danger.
func (m *matcher) unique(r *bound.RelPat) []Used {
	var out []Used
	for _, u := range m.used {
		if len(r.Types) == 0 || len(u.types) == 0 || slices.ContainsFunc(u.types, func(t string) bool {
			return slices.Contains(r.Types, t)
		}) {
			out = append(out, u.Used)
		}
	}
	return out
}
