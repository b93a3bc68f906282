package syntax

import (
	"strings"

	"engram/graph/value"
)

// relation parses the commands on the vocabulary, as calls of procedures:
//
//	CREATE RELATION TYPE Name [IF NOT EXISTS] [{...}]
//	ALTER RELATION TYPE Name {...}
//	DROP RELATION TYPE Name [IF EXISTS]
//	ALTER RELATION TYPES SET MODE open|closed
func (p *parser) relation() (*Call, error) {
	t := p.take()
	p.take()
	verb := strings.ToUpper(t.Value)
	if verb == "ALTER" && is(p.peek(), "TYPES") {
		p.take()
		mode, err := p.vocabularyMode()
		return &Call{Span: p.since(span(t)), Procedure: []string{"ALTER RELATION TYPES"}, Args: []Expr{mode}}, err
	}
	if err := p.expectWord("TYPE"); err != nil {
		return nil, err
	}
	name, err := p.name("the name of a relation type")
	if err != nil {
		return nil, err
	}
	lenient, err := p.ifRelationExists(verb)
	if err != nil {
		return nil, err
	}
	args := []Expr{&Literal{Span: name.Span, Value: value.String(name.Text)}}
	if verb != "DROP" {
		options := Expr(&MapLit{Span: name.Span})
		if isPunct(p.peek(), "{") || verb == "ALTER" {
			if !isPunct(p.peek(), "{") {
				return nil, unexpected(p.peek(), "{")
			}
			if options, err = p.expr(); err != nil {
				return nil, err
			}
		}
		args = append(args, options)
	}
	if verb != "ALTER" {
		args = append(args, &Literal{Span: name.Span, Value: value.Bool(lenient)})
	}
	return &Call{Span: p.since(span(t)), Procedure: []string{verb + " RELATION TYPE"}, Args: args}, nil
}

// ifRelationExists parses IF NOT EXISTS of CREATE and IF EXISTS of DROP.
func (p *parser) ifRelationExists(verb string) (bool, error) {
	if verb == "ALTER" || !p.acceptWord("IF") {
		return false, nil
	}
	if verb == "CREATE" {
		if err := p.expectKw(kwNot); err != nil {
			return false, err
		}
	}
	return true, p.expectKw(kwExists)
}

// vocabularyMode parses SET MODE open|closed.
func (p *parser) vocabularyMode() (Expr, error) {
	if !p.acceptKw(kwSet) {
		return nil, unexpected(p.peek(), "SET MODE")
	}
	if err := p.expectWord("MODE"); err != nil {
		return nil, err
	}
	t := p.peek()
	if !is(t, "OPEN") && !is(t, "CLOSED") {
		return nil, unexpected(t, "open", "closed")
	}
	p.take()
	return &Literal{Span: span(t), Value: value.Bool(is(t, "CLOSED"))}, nil
}
