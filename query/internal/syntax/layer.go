package syntax

import (
	"strings"

	"engram/graph/value"
)

// layer parses the commands on layers, as calls of procedures:
//
//	CREATE LAYER name [IF NOT EXISTS] [{...}]
//	DROP LAYER name [IF EXISTS]
func (p *parser) layer() (*Call, error) {
	t := p.take()
	p.take()
	verb := strings.ToUpper(t.Value)
	name, err := p.name("the name of a layer")
	if err != nil {
		return nil, err
	}
	lenient, err := p.ifRelationExists(verb)
	if err != nil {
		return nil, err
	}
	args := []Expr{&Literal{Span: name.Span, Value: value.String(name.Text)}}
	if verb == "CREATE" {
		options := Expr(&MapLit{Span: name.Span})
		if isPunct(p.peek(), "{") {
			if options, err = p.expr(); err != nil {
				return nil, err
			}
		}
		args = append(args, options)
	}
	args = append(args, &Literal{Span: name.Span, Value: value.Bool(lenient)})
	return &Call{Span: p.since(span(t)), Procedure: []string{verb + " LAYER"}, Args: args}, nil
}

// declare parses DECLARE SELF node and DECLARE PILLAR node AS 'name'.
func (p *parser) declare() (*Call, error) {
	t := p.take()
	what := p.peek()
	if !is(what, "SELF") && !is(what, "PILLAR") {
		return nil, unexpected(what, "SELF", "PILLAR")
	}
	p.take()
	node, err := p.expr()
	if err != nil {
		return nil, err
	}
	c := &Call{Procedure: []string{"DECLARE " + strings.ToUpper(what.Value)}, Args: []Expr{node}, Writes: true}
	if is(what, "PILLAR") {
		if !p.acceptKw(kwAs) {
			return nil, unexpected(p.peek(), "AS 'name'")
		}
		name, err := p.expr()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, name)
	}
	c.Span = p.since(span(t))
	return c, nil
}

// undeclare parses DROP SELF [IF EXISTS] and DROP PILLAR 'name' [IF EXISTS].
func (p *parser) undeclare() (*Call, error) {
	t := p.take()
	what := p.take()
	c := &Call{Procedure: []string{"DROP " + strings.ToUpper(what.Value)}}
	if is(what, "PILLAR") {
		name, err := p.expr()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, name)
	}
	lenient, err := p.ifRelationExists("DROP")
	if err != nil {
		return nil, err
	}
	c.Args = append(c.Args, &Literal{Span: span(what), Value: value.Bool(lenient)})
	c.Span = p.since(span(t))
	return c, nil
}
