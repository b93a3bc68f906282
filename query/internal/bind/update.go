package bind

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// update binds a clause that writes.
func (s *single) update(c syntax.Clause) {
	s.b.writes = true
	switch c := c.(type) {
	case *syntax.Create:
		s.create(c)
	case *syntax.Merge:
		s.merge(c)
	case *syntax.Set:
		s.emit(&bound.Set{Span: c.Span, Items: s.setItems(c.Items)})
	case *syntax.Remove:
		s.remove(c)
	case *syntax.Delete:
		s.delete(c)
	case *syntax.Foreach:
		s.foreach(c)
	case *syntax.Remember:
		s.remember(c)
	default:
		s.b.fail(fault.Unsupported(c.At(), "this clause"))
	}
}

func (s *single) setItems(items []*syntax.SetItem) []*bound.SetItem {
	var out []*bound.SetItem
	for _, item := range items {
		b := &bound.SetItem{Span: item.Span, Kind: item.Kind, Labels: texts(item.Labels)}
		if index, ok := item.Target.(*syntax.Index); ok && item.Kind == syntax.SetProperty {
			b = s.setKey(item.Span, index, item.Value, "SET")
			s.checkTarget(b.Target, false, "SET")
			out = append(out, b)
			continue
		}
		switch p, ok := item.Target.(*syntax.Property); {
		case item.Kind == syntax.SetProperty && ok:
			b.Target, b.Key = s.expr(p.E, "SET"), p.Key.Text
		case item.Kind == syntax.SetProperty:
			s.b.fail(fault.Syntax("UnexpectedSyntax", item.Span, "SET needs a property, such as n.key = value"))
			return out
		default:
			b.Target = s.expr(item.Target, "SET")
		}
		s.checkTarget(b.Target, item.Kind == syntax.SetLabels, "SET")
		if item.Value != nil {
			b.Value = s.expr(item.Value, "SET")
		}
		if item.Kind == syntax.SetLabels {
			b.Value = s.given(item.Dynamic, "SET")
		}
		if item.Kind == syntax.SetReplace || item.Kind == syntax.SetMerge {
			s.b.demand(b.Value, kMapLike, "SET of all properties")
		}
		out = append(out, b)
	}
	return out
}

// checkTarget checks what SET and REMOVE change.
func (s *single) checkTarget(target bound.Expr, labels bool, clause string) {
	if labels {
		s.b.demand(target, kNode, clause+" of labels")
		return
	}
	s.b.demand(target, kEntity, clause+" of properties")
}

func (s *single) remove(c *syntax.Remove) {
	out := &bound.Remove{Span: c.Span}
	for _, item := range c.Items {
		if computed := s.removeComputed(item); computed != nil {
			s.emitRemove(out)
			out = &bound.Remove{Span: c.Span}
			s.emit(&bound.Set{Span: c.Span, Items: []*bound.SetItem{computed}})
			if len(item.Labels) == 0 {
				continue
			}
		}
		b := &bound.RemoveItem{Span: item.Span, Labels: texts(item.Labels)}
		p, ok := item.Target.(*syntax.Property)
		switch {
		case len(b.Labels) > 0:
			b.Target = s.expr(item.Target, "REMOVE")
		case ok:
			b.Target, b.Key = s.expr(p.E, "REMOVE"), p.Key.Text
		default:
			s.b.fail(fault.Syntax("UnexpectedSyntax", item.Span, "REMOVE needs a property or labels, such as n.key or n:Label"))
			return
		}
		s.checkTarget(b.Target, len(b.Labels) > 0, "REMOVE")
		out.Items = append(out.Items, b)
	}
	s.emitRemove(out)
}

func (s *single) emitRemove(c *bound.Remove) {
	if len(c.Items) > 0 {
		s.emit(c)
	}
}

// removeComputed binds what an item of REMOVE computes the name of; it becomes an
// item of SET. Nil without.
func (s *single) removeComputed(item *syntax.RemoveItem) *bound.SetItem {
	if index, ok := item.Target.(*syntax.Index); ok {
		out := s.setKey(item.Span, index, nil, "REMOVE")
		s.checkTarget(out.Target, false, "REMOVE")
		return out
	}
	if len(item.Dynamic) == 0 {
		return nil
	}
	out := &bound.SetItem{Span: item.Span, Kind: syntax.UnsetLabels, Target: s.expr(item.Target, "REMOVE")}
	s.checkTarget(out.Target, true, "REMOVE")
	out.Value = s.given(item.Dynamic, "REMOVE")
	return out
}

func (s *single) delete(c *syntax.Delete) {
	out := &bound.Delete{Span: c.Span, Detach: c.Detach}
	for _, e := range c.Exprs {
		if _, ok := e.(*syntax.HasLabels); ok {
			s.b.fail(fault.Syntax("InvalidDelete", e.At(), "labels and types can't be deleted").
				WithHint("Use REMOVE n:Label, or delete the entity itself."))
		}
		target := s.expr(e, "DELETE")
		s.b.demand(target, kGraph, "DELETE")
		out.Exprs = append(out.Exprs, target)
	}
	s.emit(out)
}

// foreach binds FOREACH. Its variable and those its body makes are gone behind
// it.
func (s *single) foreach(c *syntax.Foreach) {
	out := &bound.Foreach{Span: c.Span, List: s.expr(c.List, "FOREACH")}
	s.b.demand(out.List, kList, "FOREACH")
	around := s.scope
	s.scope = around.clone()
	out.Slot = s.b.define(s.scope, c.Var, elemType(out.List.Type()))
	body := s.out.Clauses
	s.out.Clauses = nil
	for _, inner := range c.Body {
		switch inner.(type) {
		case *syntax.Create, *syntax.Merge, *syntax.Set, *syntax.Remove, *syntax.Delete, *syntax.Foreach:
			s.update(inner)
		default:
			s.b.fail(fault.Syntax("InvalidClauseComposition", inner.At(), "FOREACH takes only clauses that change the graph"))
		}
	}
	out.Body = s.out.Clauses
	s.out.Clauses = body
	s.scope = around
	s.emit(out)
}
