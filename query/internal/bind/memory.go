package bind

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// recallFields are what RECALL can yield, in the order of the documentation.
func recallFields() []Field {
	number := bound.OneOf(value.KindFloat)
	return []Field{
		{"node", nodeType},
		{"score", number},
		{"lexical", number},
		{"semantic", number},
		{"activation", number},
		{"path", pathType},
		{"why", bound.OneOf(value.KindString)},
	}
}

// laterFields are what RECALL will yield but doesn't compute yet.
var laterFields = map[string]bool{"semantic": true, "salience": true, "recency": true, "receipt": true}

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

// recall binds RECALL. As the last clause it returns what it yields.
func (s *single) recall(c *syntax.Recall, last bool) {
	s.refuseLater(c)
	const clause = "RECALL"
	out := &bound.Recall{Span: c.Span, Via: texts(c.Via), Not: texts(c.Not)}
	out.Query = s.expr(c.Query, clause)
	s.b.demand(out.Query, kString|kList|kNode, clause)
	for _, seed := range c.From {
		node := s.expr(seed.Node, "FROM")
		s.b.demand(node, kNode|kList, "FROM")
		out.From = append(out.From, bound.Seed{Node: node, Weight: s.number(seed.Weight, "WEIGHT")})
	}
	out.Reinforce = slices.ContainsFunc(c.Options, func(o *syntax.RecallOption) bool { return o.Name == "REINFORCE" })
	out.Depth = s.count(c.Depth, "DEPTH")
	out.Limit = s.count(c.Limit, "LIMIT")
	yield := c.Yield
	if yield == nil {
		for _, f := range []string{"node", "score"} {
			yield = append(yield, &syntax.YieldItem{Span: c.Span, Field: &syntax.Name{Span: c.Span, Text: f}})
		}
	}
	s.candidate(c, yield, out)
	out.Yields = s.yields(yield, recallFields(), clause)
	s.emit(out)
	if last && s.outer == nil {
		s.returnYields(out.Yields, c.Span)
	}
}

// count binds an optional integer that is not a negative literal.
func (s *single) count(e syntax.Expr, what string) bound.Expr {
	if e == nil {
		return nil
	}
	out := s.expr(e, what)
	s.b.demand(out, kInt, what)
	if n, ok := constantInt(out); ok && n < 0 {
		s.b.fail(fault.Syntax("NegativeIntegerArgument", e.At(), "%s can't be negative", what))
	}
	return out
}

// candidate binds WHERE, which reads the candidate as node and as the name that
// YIELD gives it.
func (s *single) candidate(c *syntax.Recall, yield []*syntax.YieldItem, out *bound.Recall) {
	around := s.scope
	s.scope = around.clone()
	out.Node = s.scope.declare("node", nodeType)
	for _, y := range yield {
		if y.Field.Text == "node" && y.As != nil {
			s.scope.slots[y.As.Text] = out.Node
		}
	}
	out.Where = s.predicate(c.Where, "WHERE")
	s.scope = around
}

// refuseLater reports the first part of RECALL that this version can't run.
func (s *single) refuseLater(c *syntax.Recall) {
	if c.Self {
		s.b.fail(fault.Unsupported(c.Span, "SELF in RECALL"))
	}
	for _, o := range c.Options {
		if o.Name == "REINFORCE" {
			continue
		}
		s.b.fail(fault.Unsupported(o.Span, o.Name+" in RECALL"))
	}
	for _, y := range c.Yield {
		if laterFields[y.Field.Text] {
			s.b.fail(fault.Unsupported(y.Span, "YIELD "+y.Field.Text+" of RECALL"))
		}
	}
}
