package bind

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// create binds CREATE. Patterns are bound from left to right: what stands
// further right may read what stands further left.
func (s *single) create(c *syntax.Create) {
	out := &bound.Create{Span: c.Span}
	for _, p := range c.Patterns {
		out.Patterns = append(out.Patterns, s.createPattern(p))
	}
	s.emit(out)
}

func (s *single) createPattern(p *syntax.Pattern) *bound.Pattern {
	out := &bound.Pattern{Span: p.Span, Path: -1}
	if p.Shortest != syntax.NotShortest {
		s.b.fail(fault.Syntax("UnexpectedSyntax", p.Span, "a shortest path can't be created"))
	}
	for i, node := range p.Nodes {
		out.Nodes = append(out.Nodes, s.createNode(node, len(p.Nodes) == 1))
		if i < len(p.Rels) {
			out.Rels = append(out.Rels, s.createRel(p.Rels[i]))
		}
	}
	if p.Var != nil {
		out.Path = s.b.define(s.scope, p.Var, pathType)
	}
	return out
}

func (s *single) createNode(p *syntax.NodePattern, alone bool) *bound.NodePat {
	out := &bound.NodePat{Span: p.Span, Labels: p.Labels}
	s.b.requirePlain(p.Labels, "CREATE")
	s.noWhere(p.Where, "CREATE")
	if p.Var != nil && s.scope.has(p.Var.Text) {
		out.Slot, out.Bound = s.reuse(p, alone), true
		return out
	}
	out.Props, out.PropsFrom = s.propList(p.Props, "CREATE")
	out.LabelsFrom = s.given(p.Dynamic, "CREATE")
	out.Slot = s.newSlot(p.Var, nodeType)
	return out
}

// reuse returns the slot of a node that exists already. The clause may join it
// to others, but can't make it, nor give it labels or properties.
func (s *single) reuse(p *syntax.NodePattern, alone bool) int {
	slot := s.scope.slots[p.Var.Text]
	if alone || p.Labels != nil || p.Dynamic != nil || p.Props != nil {
		s.b.alreadyBound(p.Var.Text, p.Var.At())
	} else if had := s.rows.vars[slot].Type; had.Never(kNode) {
		s.b.fail(fault.Syntax("VariableTypeConflict", p.Var.At(), "variable `%s` is %s and can't be used as a node",
			p.Var.Text, an(had.Kinds)))
	}
	return slot
}

func (s *single) createRel(p *syntax.RelPattern) *bound.RelPat {
	if p.Dir == syntax.Undirected && p.Var0 == nil {
		s.b.fail(fault.Syntax("RequiresDirectedRelationship", p.Span, "CREATE needs a direction for the relationship").
			WithHint("Write --> or <--."))
	}
	out := &bound.RelPat{Span: p.Span, Types: texts(p.Types), Dir: p.Dir, Min: 1, Max: 1}
	s.checkNewRel(p, "CREATE")
	out.Props, out.PropsFrom = s.propList(p.Props, "CREATE")
	out.TypeFrom = s.given(p.Dynamic, "CREATE")
	out.Slot = s.newSlot(p.Var, edgeType)
	return out
}

// checkNewRel checks what CREATE and MERGE ask of a relationship they make.
func (s *single) checkNewRel(p *syntax.RelPattern, clause string) {
	if p.Var != nil && s.scope.has(p.Var.Text) {
		s.b.alreadyBound(p.Var.Text, p.Var.At())
	}
	if p.Var0 != nil {
		s.b.fail(fault.Syntax("CreatingVarLength", p.Span, "%s can't make a relationship of variable length", clause))
	}
	if len(p.Types)+len(p.Dynamic) != 1 || p.TypeExpr != nil {
		s.b.fail(fault.Syntax("NoSingleRelationshipType", p.Span, "%s needs exactly one type for the relationship", clause).
			WithHint("Write [:TYPE]."))
	}
	s.noWhere(p.Where, clause)
}

func (s *single) noWhere(e syntax.Expr, clause string) {
	if e != nil {
		s.b.fail(fault.Syntax("UnexpectedSyntax", e.At(), "WHERE can't stand in a pattern of %s", clause))
	}
}

// newSlot makes the slot of a pattern part that the clause creates.
func (s *single) newSlot(name *syntax.Name, t bound.Type) int {
	if name == nil {
		return s.rows.slot("", t)
	}
	return s.b.define(s.scope, name, t)
}

// merge binds MERGE.
func (s *single) merge(c *syntax.Merge) {
	p := c.Pattern
	m := s.newMatcher("MERGE")
	s.checkMerge(p)
	out := &bound.Merge{Span: c.Span, Pattern: m.pattern(p)}
	// Properties may not read what the same clause makes.
	after := s.scope
	s.scope = m.before
	m.finish()
	for i, node := range p.Nodes {
		out.Pattern.Nodes[i].LabelsFrom = s.given(node.Dynamic, "MERGE")
		if i < len(p.Rels) {
			out.Pattern.Rels[i].TypeFrom = s.given(p.Rels[i].Dynamic, "MERGE")
		}
	}
	s.scope = after
	out.New = m.fresh
	out.OnCreate = s.setItems(c.OnCreate)
	out.OnMatch = s.setItems(c.OnMatch)
	s.emit(out)
}

func (s *single) checkMerge(p *syntax.Pattern) {
	if p.Shortest != syntax.NotShortest {
		s.b.fail(fault.Syntax("UnexpectedSyntax", p.Span, "a shortest path can't be merged"))
	}
	inside := map[string]bool{}
	for i, node := range p.Nodes {
		s.b.requirePlain(node.Labels, "MERGE")
		s.noWhere(node.Where, "MERGE")
		if v := node.Var; v != nil {
			known := s.scope.has(v.Text)
			if known && len(p.Nodes) == 1 || (known || inside[v.Text]) && (node.Labels != nil || node.Dynamic != nil || node.Props != nil) {
				s.b.alreadyBound(v.Text, v.At())
			}
			inside[v.Text] = true
		}
		if i < len(p.Rels) {
			s.checkNewRel(p.Rels[i], "MERGE")
		}
	}
}
