package logical

import (
	"slices"

	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// Within are conditions on every edge and every node of a walk, checked while
// the walk is looked for: all(r IN relationships(p) WHERE ...). Where a shortest
// walk is asked for, it is the shortest of those that keep to them.
type Within struct {
	Edges, Nodes []*bound.Quantifier
}

// exprs returns the conditions as they were written.
func (w *Within) exprs() []bound.Expr {
	var out []bound.Expr
	for _, q := range slices.Concat(w.Edges, w.Nodes) {
		out = append(out, q)
	}
	return out
}

// wheres returns what is evaluated for an edge or a node.
func (w *Within) wheres() []bound.Expr {
	var out []bound.Expr
	for _, q := range slices.Concat(w.Edges, w.Nodes) {
		out = append(out, q.Where)
	}
	return out
}

// within takes the predicates that are about every edge or node of step s, and
// read nothing that comes later, off the list.
func (m *matcher) within(s *step) Within {
	var w Within
	if s.shortest == syntax.NotShortest && m.b.off.Has(PushFilters) {
		return w
	}
	m.preds = slices.DeleteFunc(slices.Clone(m.preds), func(e bound.Expr) bool {
		q, ok := e.(*bound.Quantifier)
		if !ok || q.Kind != syntax.QuantAll || q.Where == nil || !m.have.Covers(SlotsOf(q.Where)) {
			return false
		}
		switch {
		case m.listsEdges(q.List, s):
			w.Edges = append(w.Edges, q)
		case m.ofPath(q.List, "nodes", s):
			w.Nodes = append(w.Nodes, q)
		default:
			return false
		}
		return true
	})
	return w
}

// listsEdges reports whether e is the list of the edges of a step.
func (m *matcher) listsEdges(e bound.Expr, s *step) bool {
	if list, ok := e.(*bound.List); ok && len(list.Elems) == 1 && !s.rel.VarLength {
		e = list.Elems[0] // of a shortest walk of one edge: see package bind
	}
	if slot, ok := e.(*bound.Slot); ok {
		return slot.Index == s.rel.Slot
	}
	return m.ofPath(e, "relationships", s)
}

// ofPath reports whether e calls a function with a path that is just a step.
func (m *matcher) ofPath(e bound.Expr, name string, s *step) bool {
	call, ok := e.(*bound.Call)
	if !ok || call.Name != name || len(call.Args) != 1 {
		return false
	}
	slot, ok := call.Args[0].(*bound.Slot)
	return ok && slices.ContainsFunc(m.paths, func(p *bound.Pattern) bool {
		return p.Path == slot.Index && len(p.Rels) == 1 && p.Rels[0] == s.rel
	})
}
