package bind

import (
	"slices"

	"engram/graph/schema"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// schemaChange binds a command on indexes or constraints.
func (s *single) schemaChange(c *syntax.SchemaChange) {
	s.b.writes = true
	out := &bound.SchemaChange{
		Span: c.Span, Drop: c.Drop, Constraint: c.Constraint, Lenient: c.Lenient,
		Def: schema.Def{Kind: c.Kind, Edge: c.Edge, Keys: texts(c.Keys)},
	}
	if c.Name != nil {
		out.Def.Name = c.Name.Text
	}
	if c.Owner != nil {
		out.Def.Owner = c.Owner.Text
		out.Def.Also = texts(c.Also)
	}
	for i, label := range c.Also {
		if label.Text == c.Owner.Text || slices.Contains(texts(c.Also[:i]), label.Text) {
			s.b.fail(fault.Syntax("UnexpectedSyntax", label.Span, "the label %s comes twice", label.Text))
			return
		}
	}
	for i, k := range c.Keys {
		for _, o := range c.Keys[:i] {
			if k.Text == o.Text {
				s.b.fail(fault.Syntax("UnexpectedSyntax", k.Span, "the property %s comes twice", k.Text))
				return
			}
		}
	}
	if len(c.Keys) > schema.MaxKeys {
		s.b.fail(fault.Syntax("UnexpectedSyntax", c.Keys[schema.MaxKeys].Span, "an index has at most %d properties", schema.MaxKeys))
		return
	}
	s.emit(out)
}
