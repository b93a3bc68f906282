package naive

import (
	"errors"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// match lays the patterns on the graph in every way, then keeps those whose
// properties and conditions hold.
func (e *Engine) match(c *bound.Match, r row) ([]row, error) {
	out, err := e.find(c.Patterns, c.Where, r)
	if err == nil && len(out) == 0 && c.Optional {
		none := append(row(nil), r...)
		for _, slot := range c.New {
			none[slot] = value.Null
		}
		return []row{none}, nil
	}
	return out, err
}

func (e *Engine) find(ps []*bound.Pattern, where bound.Expr, r row) ([]row, error) {
	s := &search{e: e, known: map[int]bool{}, used: map[value.EdgeID]bool{}, row: append(row(nil), r...)}
	for _, p := range ps {
		for i, n := range p.Nodes {
			s.known[n.Slot] = s.known[n.Slot] || n.Bound
			if i < len(p.Rels) {
				s.known[p.Rels[i].Slot] = s.known[p.Rels[i].Slot] || p.Rels[i].Bound
			}
		}
	}
	err := s.patterns(ps, func() error {
		ok, err := e.holds(ps, where, s.row)
		if ok {
			s.out = append(s.out, append(row(nil), s.row...))
		}
		return err
	})
	return s.out, err
}

// search goes depth first through all ways, changing row in place and back.
type search struct {
	e     *Engine
	known map[int]bool // slots that have a value
	used  map[value.EdgeID]bool
	row   row
	out   []row
}

// put runs then with a slot filled. A slot that has a value already must have
// this one.
func (s *search) put(slot int, v value.Value, then func() error) error {
	if s.known[slot] {
		if value.Equal(s.row[slot], v) != value.TriOf(true) {
			return nil
		}
		return then()
	}
	s.known[slot], s.row[slot] = true, v
	err := then()
	s.known[slot], s.row[slot] = false, value.Null
	return err
}

func (s *search) patterns(ps []*bound.Pattern, then func() error) error {
	if len(ps) == 0 {
		return then()
	}
	p := ps[0]
	if p.Shortest != syntax.NotShortest {
		return s.shortest(p, func() error { return s.patterns(ps[1:], then) })
	}
	return s.lay(p, func() error { return s.patterns(ps[1:], then) })
}

// lay lays one pattern on the graph in every way.
func (s *search) lay(p *bound.Pattern, then func() error) error {
	nodes, err := s.e.G.ScanNodes(0, 0, make([]value.NodeID, s.e.G.NodeCount(0)+1))
	if err != nil {
		return err
	}
	for _, id := range nodes {
		walk := &value.Path{Nodes: []value.Value{value.NodeRef(id)}}
		err := s.put(p.Nodes[0].Slot, value.NodeRef(id), func() error {
			return s.steps(p, 0, id, walk, func(done *value.Path) error {
				if p.Path < 0 {
					return then()
				}
				return s.put(p.Path, value.OfPath(done), then)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// steps lays relationship i and what follows, from node at.
func (s *search) steps(p *bound.Pattern, i int, at value.NodeID, walk *value.Path, then func(*value.Path) error) error {
	if i == len(p.Rels) {
		return then(walk)
	}
	rel := p.Rels[i]
	next := func(edges []value.Value, node value.NodeID, walk *value.Path) error {
		v := value.List(append([]value.Value(nil), edges...))
		if !rel.VarLength {
			v = edges[0]
		}
		return s.put(rel.Slot, v, func() error {
			return s.put(p.Nodes[i+1].Slot, value.NodeRef(node), func() error {
				return s.steps(p, i+1, node, walk, then)
			})
		})
	}
	return s.hops(rel, nil, at, walk, next)
}

// hops follows edges of rel from node at, one after the other, and calls next
// for every length that rel allows.
func (s *search) hops(rel *bound.RelPat, edges []value.Value, at value.NodeID, walk *value.Path,
	next func([]value.Value, value.NodeID, *value.Path) error,
) error {
	n := int64(len(edges))
	if n >= rel.Min {
		if err := next(edges, at, walk); err != nil {
			return err
		}
	}
	if rel.Max >= 0 && n >= rel.Max {
		return nil
	}
	adjacent, err := s.e.G.Expand(at, access.Both, nil, nil)
	if err != nil {
		return err
	}
	for _, a := range adjacent {
		if s.used[a.Edge] || !s.e.follows(rel, at, a) {
			continue
		}
		edge := value.EdgeRef(a.Edge)
		longer := &value.Path{
			Nodes: append(append([]value.Value(nil), walk.Nodes...), value.NodeRef(a.Node)),
			Edges: append(append([]value.Value(nil), walk.Edges...), edge),
		}
		s.used[a.Edge] = true
		err := s.hops(rel, append(append([]value.Value(nil), edges...), edge), a.Node, longer, next)
		delete(s.used, a.Edge)
		if err != nil {
			return err
		}
	}
	return nil
}

// follows reports whether rel may follow an edge by its direction and type.
func (e *Engine) follows(rel *bound.RelPat, at value.NodeID, a access.Adjacent) bool {
	loop := a.Node == at
	switch {
	case rel.Dir == syntax.RelOut && !a.Out && !loop, rel.Dir == syntax.RelIn && a.Out && !loop:
		return false
	case len(rel.Types) == 0:
		return true
	}
	for _, t := range rel.Types {
		if t == e.G.RelTypeName(a.Type) {
			return true
		}
	}
	return false
}

// holds checks labels, properties and conditions of patterns that are laid.
func (e *Engine) holds(ps []*bound.Pattern, where bound.Expr, r row) (bool, error) {
	for _, p := range ps {
		for i, n := range p.Nodes {
			if n.Labels != nil && !e.hasLabels(r[n.Slot], n.Labels) {
				return false, nil
			}
			if ok, err := e.props(r[n.Slot], n.Props, n.Where, r); !ok || err != nil {
				return false, err
			}
			if i == len(p.Rels) {
				break
			}
			edges := []value.Value{r[p.Rels[i].Slot]}
			if p.Rels[i].VarLength {
				edges = r[p.Rels[i].Slot].AsList()
			}
			if ok, err := e.isTrue(p.Rels[i].Where, r, nil); !ok || err != nil {
				return false, err
			}
			for _, edge := range edges {
				if ok, err := e.props(edge, p.Rels[i].Props, nil, r); !ok || err != nil {
					return false, err
				}
			}
		}
	}
	return e.isTrue(where, r, nil)
}

func (e *Engine) props(entity value.Value, props []bound.PropPat, where bound.Expr, r row) (bool, error) {
	for _, p := range props {
		want, err := e.eval(p.Expr, r, nil)
		if err != nil {
			return false, err
		}
		got, err := e.property(entity, p.Key)
		if err != nil {
			return false, err
		}
		if value.Equal(got, want) != value.TriOf(true) {
			return false, nil
		}
	}
	return e.isTrue(where, r, nil)
}

// isTrue evaluates a condition; nil holds.
func (e *Engine) isTrue(cond bound.Expr, r row, locals []value.Value) (bool, error) {
	if cond == nil {
		return true, nil
	}
	v, err := e.eval(cond, r, locals)
	if err != nil {
		return false, err
	}
	if !v.IsNull() && v.Kind() != value.KindBool {
		return false, errors.New("naive: a condition must be a boolean")
	}
	return v.AsBool(), nil
}

func (e *Engine) hasLabels(entity value.Value, l syntax.LabelExpr) bool {
	has := func(name string) bool {
		if entity.Kind() == value.KindEdge {
			_, _, t, ok := e.G.EdgeEnds(entity.EdgeID())
			return ok && e.G.RelTypeName(t) == name
		}
		id, ok := e.G.Label(name)
		return ok && e.G.HasLabel(entity.NodeID(), id)
	}
	switch l := l.(type) {
	case *syntax.LabelName:
		return has(l.Text)
	case *syntax.LabelNot:
		return !e.hasLabels(entity, l.E)
	case *syntax.LabelAnd:
		return e.hasLabels(entity, l.L) && e.hasLabels(entity, l.R)
	case *syntax.LabelOr:
		return e.hasLabels(entity, l.L) || e.hasLabels(entity, l.R)
	}
	return entity.Kind() == value.KindEdge || len(e.G.Labels(entity.NodeID(), nil)) > 0
}
