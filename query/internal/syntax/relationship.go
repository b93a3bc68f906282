package syntax

import (
	"strconv"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// relationship parses -[...]-, with or without brackets and arrow heads.
func (p *parser) relationship() (*RelPattern, error) {
	r := &RelPattern{Span: span(p.peek())}
	left := p.accept("<")
	p.take()
	brackets := p.at("[")
	if brackets {
		if _, err := within(p, 0, func() (any, error) { return nil, p.relDetail(r) }); err != nil {
			return nil, err
		}
	}
	if err := p.expect("-", patternDash(r)...); err != nil {
		return nil, hinted(err, arrowHint(p.peek(), brackets))
	}
	right := p.accept(">")
	if brackets && p.at("-") {
		return nil, hinted(unexpected(p.peek(), "a node pattern such as (n)"), arrowHint(p.peek(), brackets))
	}
	switch {
	case left == right:
		r.Dir = Undirected
	case left:
		r.Dir = RelIn
	}
	r.Span = p.since(r.Span)
	return r, nil
}

// patternDash lists what could stand in place of the second dash of an arrow.
func patternDash(r *RelPattern) []string {
	if r.Var == nil && r.Types == nil && r.Var0 == nil && r.Props == nil {
		return []string{"["}
	}
	return nil
}

// relDetail parses [v:A|B*1..3 {props} WHERE e] into r.
func (p *parser) relDetail(r *RelPattern) error {
	p.take()
	var err error
	r.Var = p.patternVar()
	if p.at(":") {
		if r.Types, err = p.relTypes(); err != nil {
			return err
		}
	}
	if p.at("*") {
		if r.Var0, err = p.varLength(); err != nil {
			return err
		}
	} else if t := p.peek(); isPunct(t, "..") {
		return fault.Syntax("InvalidRelationshipPattern", span(t), "a range of lengths needs a * before it").
			WithHint("Write *.. for any length from one.")
	}
	if r.Props, err = p.props(); err != nil {
		return err
	}
	if r.Where, err = p.inlineWhere(); err != nil {
		return err
	}
	also := patternRest(r.Var, r.Types != nil, r.Props, r.Where, "a type such as :KNOWS")
	if r.Var0 == nil && r.Props == nil && r.Where == nil {
		also = append(also, "a length such as *1..3")
	}
	return p.expect("]", also...)
}

// relTypes parses :A|B; the old form :A|:B means the same.
func (p *parser) relTypes() ([]*Name, error) {
	var types []*Name
	p.take()
	for {
		if t := p.peek(); isPunct(t, "!") || isPunct(t, "%") || isPunct(t, "(") {
			return nil, fault.Unsupported(span(t), "an expression of relationship types")
		}
		name, err := p.name("a relationship type")
		if err != nil {
			return nil, err
		}
		types = append(types, name)
		if t := p.peek(); isPunct(t, "&") {
			return nil, fault.Unsupported(span(t), "an expression of relationship types")
		}
		if !p.accept("|") {
			return types, nil
		}
		p.accept(":")
	}
}

// varLength parses *, *n, *n.., *..m and *n..m.
func (p *parser) varLength() (*VarLength, error) {
	v := &VarLength{Span: span(p.take())}
	var err error
	if v.Min, err = p.bound(); err != nil {
		return nil, err
	}
	switch {
	case p.accept(".."):
		if v.Max, err = p.bound(); err != nil {
			return nil, err
		}
	case v.Min != nil:
		v.Max = v.Min
	}
	v.Span = p.since(v.Span)
	return v, nil
}

// bound takes a bound of a variable length, or nothing.
func (p *parser) bound() (*int64, error) {
	t := p.peek()
	switch {
	case t.Type == tInt:
		p.take()
		v, err := number(t, false)
		if err != nil {
			return nil, err
		}
		n := v.AsInt()
		return &n, nil
	case isPunct(t, "-") && p.ahead(1).Type == tInt:
		at := span(t).To(span(p.ahead(1)))
		return nil, fault.Syntax("InvalidRelationshipPattern", at, "the length of a path is not negative")
	case t.Type == tFloat:
		return nil, invalidBound(t)
	}
	return nil, nil
}

// invalidBound is the error for a length that is not an integer.
func invalidBound(t *lexer.Token) error {
	return fault.Syntax("InvalidRelationshipPattern", span(t), "the length %s of a path is not an integer",
		strconv.Quote(t.Value))
}
