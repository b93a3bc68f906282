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
	err := p.quantified(r)
	r.Span = p.since(r.Span)
	return r, err
}

// patternDash lists what could stand in place of the second dash of an arrow.
func patternDash(r *RelPattern) []string {
	if r.Var == nil && r.Types == nil && r.TypeExpr == nil && r.Var0 == nil && r.Props == nil {
		return []string{"["}
	}
	return nil
}

// relDetail parses [v:A|B*1..3 {props} WHERE e] into r.
func (p *parser) relDetail(r *RelPattern) error {
	p.take()
	var err error
	r.Var = p.patternVar()
	if p.labelsAhead() {
		e, err := p.typeExpr()
		if err != nil {
			return err
		}
		if e, r.Dynamic, err = splitDynamic(e); err != nil {
			return err
		}
		if types, ok := typeList(e); ok {
			r.Types = types
		} else {
			r.TypeExpr = e
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
	also := patternRest(r.Var, r.Types != nil || r.TypeExpr != nil || r.Dynamic != nil, r.Props, r.Where, "a type such as :KNOWS")
	if r.Var0 == nil && r.Props == nil && r.Where == nil {
		also = append(also, "a length such as *1..3")
	}
	return p.expect("]", also...)
}

// relTypes parses :A|B; the old form :A|:B means the same.
func (p *parser) relTypes() ([]*Name, error) {
	e, err := p.typeExpr()
	if err != nil {
		return nil, err
	}
	types, ok := typeList(e)
	if !ok {
		return nil, fault.Syntax(unexpectedSyntax, e.At(), "types are listed here, as in :KNOWS|LIKES")
	}
	return types, nil
}

// typeExpr parses an expression of relationship types from its colon or IS on.
func (p *parser) typeExpr() (LabelExpr, error) {
	return within(p, ofTypes, p.labels)
}

// typeList returns the types of A|B, and whether e is no more than that.
func typeList(e LabelExpr) ([]*Name, bool) {
	switch e := e.(type) {
	case *LabelName:
		return []*Name{&e.Name}, true
	case *LabelOr:
		l, ok := typeList(e.L)
		r, also := typeList(e.R)
		return append(l, r...), ok && also
	}
	return nil, false
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

// quantified parses what GQL puts behind an arrow in place of a length: +, * or
// {min, max}.
func (p *parser) quantified(r *RelPattern) error {
	t := p.peek()
	if !isPunct(t, "+") && !isPunct(t, "*") && !isPunct(t, "{") {
		return nil
	}
	if r.Var0 != nil {
		return fault.Syntax("InvalidRelationshipPattern", span(t), "this relationship has a length already").
			WithHint("Write the length either within the brackets or behind the arrow.")
	}
	p.take()
	v := &VarLength{}
	zero, one := int64(0), int64(1)
	switch t.Value {
	case "+":
		v.Min = &one
	case "*":
		v.Min = &zero
	default:
		var err error
		if v.Min, err = p.bound(); err != nil {
			return err
		}
		switch {
		case p.accept(","):
			if v.Max, err = p.bound(); err != nil {
				return err
			}
		case v.Min == nil:
			return unexpected(p.peek(), "how often, as in {1,3}")
		default:
			v.Max = v.Min
		}
		if v.Min == nil {
			v.Min = &zero
		}
		if err := p.expect("}", ","); err != nil {
			return err
		}
	}
	v.Span = p.since(span(t))
	r.Var0 = v
	return nil
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
