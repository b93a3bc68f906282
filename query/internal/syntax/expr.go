package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// maxChain is how many operators or lookups may follow each other at one level.
// The tree is as high as that, and later stages descend it.
const maxChain = 5000

// Binding powers, from loose to tight.
const (
	bindOr = iota + 1
	bindXor
	bindAnd
	bindNot
	bindCompare
	bindTest // IN, STARTS WITH, ENDS WITH, CONTAINS, IS NULL
	bindAdd
	bindMul
	bindPow
)

// expr parses an expression.
func (p *parser) expr() (Expr, error) { return p.binary(bindOr) }

// binary parses an expression whose operators bind at least as tight as least.
func (p *parser) binary(least int) (Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := span(p.peek())
	left, err := p.prefix()
	if err != nil {
		return nil, err
	}
	return p.operators(start, left, least)
}

// operators continues left, which begins at start, with the operators that
// follow. Spans go by tokens, not by operands, because the span of an operand
// does not hold its parentheses.
func (p *parser) operators(start Span, left Expr, least int) (Expr, error) {
	var err error
	for n := 0; ; n++ {
		t := p.peek()
		op, power := infix(t)
		if p.doubleColon() {
			power = bindTest
		}
		if power == 0 || power < least || op == OpIn && p.mode&noLayers != 0 && p.ahead(1).Type == kwLayers {
			return left, nil
		}
		if n >= maxChain {
			return nil, tooLong(span(t), "operators").
				WithHint("Put values into a list, or a list parameter.")
		}
		switch {
		case power == bindCompare:
			left, err = p.comparison(start, left)
		case t.Type == kwIs:
			left, err = p.is(start, left)
		case isPunct(t, ":"):
			left, err = p.isTyped(start, left, false)
		default:
			p.take()
			if op == OpStartsWith || op == OpEndsWith {
				if err := p.expectKw(kwWith); err != nil {
					return nil, err
				}
			}
			var right Expr
			if right, err = p.binary(power + 1); err == nil {
				left = &Binary{Span: p.since(start), Op: op, L: left, R: right}
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// infix returns the operator that t stands for and its binding power, 0 if it
// is none. For IS only the power counts.
func infix(t *lexer.Token) (Op, int) {
	switch t.Type {
	case kwOr:
		return OpOr, bindOr
	case kwXor:
		return OpXor, bindXor
	case kwAnd:
		return OpAnd, bindAnd
	case kwIn:
		return OpIn, bindTest
	case kwStarts:
		return OpStartsWith, bindTest
	case kwEnds:
		return OpEndsWith, bindTest
	case kwContains:
		return OpContains, bindTest
	case kwIs:
		return 0, bindTest
	case tPunct:
		return symbol(t.Value)
	}
	return 0, 0
}

// symbol is infix for operators that are not words.
func symbol(s string) (Op, int) {
	switch s {
	case "=":
		return OpEq, bindCompare
	case "<>":
		return OpNe, bindCompare
	case "<":
		return OpLt, bindCompare
	case "<=":
		return OpLe, bindCompare
	case ">":
		return OpGt, bindCompare
	case ">=":
		return OpGe, bindCompare
	case "=~":
		return OpMatches, bindTest
	case "+":
		return OpAdd, bindAdd
	case "||":
		return OpConcat, bindAdd
	case "-":
		return OpSub, bindAdd
	case "*":
		return OpMul, bindMul
	case "/":
		return OpDiv, bindMul
	case "%":
		return OpMod, bindMul
	case "^":
		return OpPow, bindPow
	}
	return 0, 0
}

// comparison parses what follows left, which begins at start, in a comparison.
// A chain a < b < c means a < b AND b < c.
func (p *parser) comparison(start Span, left Expr) (Expr, error) {
	var chain Expr
	from := start // of the left operand
	for n := 0; ; n++ {
		op, power := infix(p.peek())
		if power != bindCompare {
			return chain, nil
		}
		if n >= maxChain {
			return nil, tooLong(span(p.peek()), "comparisons")
		}
		p.take()
		next := span(p.peek())
		right, err := p.binary(bindCompare + 1)
		if err != nil {
			return nil, err
		}
		link := &Binary{Span: p.since(from), Op: op, L: left, R: right}
		if chain == nil {
			chain = link
		} else {
			chain = &Binary{Span: p.since(start), Op: OpAnd, L: chain, R: link}
		}
		left, from = right, next
	}
}

// is parses IS [NOT] NULL and IS [NOT] :: type behind e, which begins at start.
func (p *parser) is(start Span, e Expr) (Expr, error) {
	p.take()
	not := p.acceptKw(kwNot)
	also := []string{"NOT", ":: with a type"}
	if not {
		also = also[1:]
	}
	switch {
	case p.typedAhead():
		return p.isTyped(start, e, not)
	case p.normalizedAhead():
		return p.isNormalized(start, e, not), nil
	}
	if err := p.expectKw(kwNull, also...); err != nil {
		return nil, err
	}
	return &IsNull{Span: p.since(start), E: e, Not: not}, nil
}

// prefix parses NOT, a sign, or an operand with what follows it.
func (p *parser) prefix() (Expr, error) {
	t := p.peek()
	switch {
	case t.Type == kwNot:
		p.take()
		e, err := p.binary(bindNot)
		if err != nil {
			return nil, err
		}
		return &Unary{Span: p.since(span(t)), Op: OpNot, E: e}, nil
	case isPunct(t, "-"):
		return p.sign(OpNeg)
	case isPunct(t, "+"):
		return p.sign(OpPos)
	}
	e, err := p.primary()
	if err != nil {
		return nil, err
	}
	return p.lookups(span(t), e)
}

// sign parses a signed operand. A minus directly before a number belongs to it,
// because only so the smallest integer can be written.
func (p *parser) sign(op Op) (Expr, error) {
	t := p.take()
	if n := p.peek(); op == OpNeg && (n.Type == tInt || n.Type == tFloat) {
		v, err := number(p.take(), true)
		if err != nil {
			return nil, err
		}
		return p.lookups(span(t), &Literal{Span: p.since(span(t)), Value: v})
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e, err := p.prefix()
	if err != nil {
		return nil, err
	}
	return &Unary{Span: p.since(span(t)), Op: op, E: e}, nil
}

// lookups continues e, which begins at start, with .key, [index], [from..to], :Label and {projection}.
func (p *parser) lookups(start Span, e Expr) (Expr, error) {
	for n := 0; ; n++ {
		t := p.peek()
		if n >= maxChain {
			return nil, tooLong(span(t), "lookups")
		}
		var err error
		switch {
		case isPunct(t, "."):
			p.take()
			var key *Name
			if key, err = p.name("a property name"); err == nil {
				e = &Property{Span: p.since(start), E: e, Key: key}
			}
		case isPunct(t, "["):
			e, err = p.subscript(start, e)
		case p.doubleColon():
			return e, nil
		case isPunct(t, ":") && p.mode&noTail == 0:
			var labels LabelExpr
			if labels, err = p.labels(); err == nil {
				e, err = labelled(p.since(start), e, labels)
			}
		case isPunct(t, "{") && p.mode&noTail == 0:
			if _, ok := e.(*Variable); !ok {
				return e, nil
			}
			e, err = p.mapProjection(e)
		default:
			return e, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// doubleColon reports whether :: comes next, which asks for a type.
func (p *parser) doubleColon() bool {
	return p.at(":") && p.mode&noTail == 0 && isPunct(p.ahead(1), ":")
}

// subscript parses [index] or [from..to] behind e.
func (p *parser) subscript(start Span, e Expr) (Expr, error) {
	return within(p, 0, func() (Expr, error) {
		p.take()
		var from, to Expr
		var err error
		if !p.at("..") {
			if from, err = p.expr(); err != nil {
				return nil, err
			}
			if p.accept("]") {
				return &Index{Span: p.since(start), E: e, I: from}, nil
			}
		}
		if err := p.expect("..", "]"); err != nil {
			return nil, err
		}
		if !p.at("]") {
			if to, err = p.expr(); err != nil {
				return nil, err
			}
		}
		if err := p.expect("]"); err != nil {
			return nil, err
		}
		return &Slice{Span: p.since(start), E: e, From: from, To: to}, nil
	})
}
