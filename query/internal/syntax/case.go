package syntax

import (
	"strings"

	"engram/graph/value"

	"github.com/alecthomas/participle/v2/lexer"
)

// caseExpr parses CASE [test] WHEN .. THEN .. [ELSE ..] END.
func (p *parser) caseExpr() (Expr, error) {
	t := p.take()
	c := &Case{Span: span(t)}
	var err error
	if p.peek().Type != kwWhen {
		if c.Test, err = p.expr(); err != nil {
			return nil, err
		}
	}
	var whens [][]alternative
	for first := true; first || p.peek().Type == kwWhen; first = false {
		if err := p.expectKw(kwWhen); err != nil {
			return nil, err
		}
		when, err := p.alternatives(c)
		if err != nil {
			return nil, err
		}
		then, err := p.expr()
		if err != nil {
			return nil, err
		}
		whens, c.Then = append(whens, when), append(c.Then, then)
	}
	if p.acceptKw(kwElse) {
		if c.Else, err = p.expr(); err != nil {
			return nil, err
		}
		err = p.expectKw(kwEnd)
	} else {
		err = p.expectKw(kwEnd, "WHEN", "ELSE")
	}
	c.Span = p.since(c.Span)
	c.conditions(whens)
	return c, err
}

// alternative is one of several things behind WHEN: a value that the test may
// equal, a condition on it, or the condition of a CASE without a test.
type alternative struct {
	e         Expr
	condition bool
}

// alternatives parses what stands between WHEN and THEN. A CASE with a test takes
// several alternatives.
func (p *parser) alternatives(c *Case) ([]alternative, error) {
	var list []alternative
	for {
		var a alternative
		var err error
		start := span(p.peek())
		if a.condition = c.Test != nil && p.comparesAhead(); a.condition {
			a.e, err = p.operators(start, caseSubject(c), bindCompare)
		} else {
			a.e, err = p.expr()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, a)
		if c.Test != nil && p.accept(",") {
			continue
		}
		var also []string
		if c.Test != nil {
			also = []string{","}
		}
		return list, p.expectKw(kwThen, also...)
	}
}

// comparesAhead reports whether an operator without its left side comes next.
func (p *parser) comparesAhead() bool {
	t, next := p.peek(), p.ahead
	switch t.Type {
	case kwStarts, kwEnds:
		return next(1).Type == kwWith
	case kwContains:
		return next(1).Type != kwThen && next(1).Type != tPunct
	}
	_, power := infix(t)
	return power == bindCompare || power == bindTest || p.doubleColon()
}

func caseSubject(c *Case) Expr {
	return &Variable{Name: Name{Span: c.Test.At(), Text: CaseSubject}}
}

// conditions makes the WHENs of c. As soon as one of them has several alternatives
// or a condition, all are written as conditions.
func (c *Case) conditions(whens [][]alternative) {
	for _, list := range whens {
		c.Extended = c.Extended || len(list) > 1 || list[0].condition
	}
	for _, list := range whens {
		var when Expr
		for _, a := range list {
			e := a.e
			if c.Extended && !a.condition {
				e = &Binary{Span: e.At(), Op: OpEq, L: caseSubject(c), R: e}
			}
			if when == nil {
				when = e
			} else {
				when = &Binary{Span: when.At().To(e.At()), Op: OpOr, L: when, R: e}
			}
		}
		c.When = append(c.When, when)
	}
}

// trim parses trim([LEADING|TRAILING|BOTH] [characters] FROM text), the form of
// standard SQL, as a call of ltrim, rtrim or trim. It returns nil where the call is
// an ordinary one.
func (p *parser) trim() (Expr, error) {
	which, n := "trim", 2
	switch t := p.ahead(2); {
	case is(t, "BOTH"):
	case is(t, "LEADING"):
		which = "ltrim"
	case is(t, "TRAILING"):
		which = "rtrim"
	default:
		n = 1
	}
	if n == 2 && !startsOperand(p.ahead(3)) {
		return nil, nil // a variable of that name
	}
	if n == 1 && !p.fromAhead() {
		return nil, nil
	}
	start := span(p.take())
	return within(p, 0, func() (Expr, error) {
		for range n {
			p.take()
		}
		f := &Func{Name: which}
		var chars, text Expr
		var err error
		if !is(p.peek(), "FROM") {
			if chars, err = p.expr(); err != nil {
				return nil, err
			}
		}
		if err = p.expectWord("FROM"); err == nil {
			text, err = p.expr()
		}
		if err == nil {
			err = p.expect(")")
		}
		f.Args = []Expr{text}
		if chars != nil {
			f.Args = append(f.Args, chars)
		}
		f.Span = p.since(start)
		return f, err
	})
}

// startsOperand reports whether t can begin an operand behind another word.
func startsOperand(t *lexer.Token) bool {
	return t.Type == tString || t.Type == tParam || isName(t)
}

// fromAhead reports whether a string or parameter and FROM stand behind trim( .
func (p *parser) fromAhead() bool {
	t := p.ahead(2)
	return (t.Type == tString || t.Type == tParam) && is(p.ahead(3), "FROM")
}

// normalizedAhead reports whether [form] NORMALIZED comes next.
func (p *parser) normalizedAhead() bool {
	t := p.peek()
	return is(t, "NORMALIZED") || normalForms[strings.ToUpper(t.Value)] && isWord(t) && is(p.ahead(1), "NORMALIZED")
}

var normalForms = map[string]bool{"NFC": true, "NFD": true, "NFKC": true, "NFKD": true}

// isNormalized parses IS [NOT] [form] NORMALIZED as a call of the function.
func (p *parser) isNormalized(start Span, e Expr, not bool) Expr {
	f := &Func{Name: "isNormalized", Args: []Expr{e}}
	if t := p.take(); !is(t, "NORMALIZED") {
		f.Args = append(f.Args, &Literal{Span: span(t), Value: value.String(strings.ToUpper(t.Value))})
		p.take()
	}
	f.Span = p.since(start)
	if !not {
		return f
	}
	return &Unary{Span: f.Span, Op: OpNot, E: f}
}
