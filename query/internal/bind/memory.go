package bind

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// remember binds REMEMBER.
func (s *single) remember(c *syntax.Remember) {
	name := c.As
	out := s.memory(c)
	out.Slot, out.Created = s.newSlot(name, nodeType), -1
	if !s.scope.has("created") {
		out.Created = s.scope.declare("created", boolType)
	}
	s.emit(out)
}

// standaloneRemember binds a REMEMBER that is the whole statement: it returns
// the memory and whether it is new.
func (s *single) standaloneRemember(c *syntax.Remember) {
	s.b.writes = true
	out := s.memory(c)
	name := &syntax.Name{Span: c.Span, Text: "node"}
	if c.As != nil {
		name = c.As
	}
	out.Slot = s.scope.declare(name.Text, nodeType)
	out.Created = s.rows.slot("created", boolType)
	s.emit(out)
	s.returnYields([]bound.Yield{{Slot: out.Slot, Name: name.Text}, {Slot: out.Created, Name: "created"}}, c.Span)
}

// memory binds what REMEMBER stores.
func (s *single) memory(c *syntax.Remember) *bound.Remember {
	const clause = "REMEMBER"
	out := &bound.Remember{Span: c.Span, Text: s.expr(c.Text, clause), Labels: texts(c.Labels), Alone: c.Alone}
	s.b.demand(out.Text, kString, clause)
	if c.Props != nil {
		out.Props = s.expr(c.Props, clause)
		s.b.demand(out.Props, bound.Of(value.KindMap), "the properties of REMEMBER")
	}
	for _, l := range c.Links {
		slot, ok := s.scope.slots[l.Node.Text]
		if !ok {
			s.b.undefined(l.Node.Text, l.Node.At(), s.scope.names())
			break
		}
		s.b.demand(s.rows.read(slot, l.Node.At()), kNode, "LINK")
		out.Links = append(out.Links, bound.Link{Node: slot, Type: l.Type.Text, Weight: s.number(l.Weight, "WEIGHT")})
	}
	return out
}

// number binds an optional number.
func (s *single) number(e syntax.Expr, what string) bound.Expr {
	if e == nil {
		return nil
	}
	out := s.expr(e, what)
	s.b.demand(out, kNumber, what)
	return out
}
