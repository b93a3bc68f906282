package syntax

import (
	"strings"

	"engram/graph/value"

	"github.com/alecthomas/participle/v2/lexer"
)

const anExpression = "an expression"

// primary parses an operand.
func (p *parser) primary() (Expr, error) {
	t := p.peek()
	switch t.Type {
	case tInt, tFloat:
		v, err := number(p.take(), false)
		if err != nil {
			return nil, err
		}
		return &Literal{Span: span(t), Value: v}, nil
	case tString:
		s, err := stringValue(p.take())
		if err != nil {
			return nil, err
		}
		return &Literal{Span: span(t), Value: value.String(s)}, nil
	case tParam:
		return p.param(), nil
	case tQuoted:
		return p.nameOrCall()
	case tBad:
		return nil, badToken(t)
	}
	switch {
	case isPunct(t, "("):
		if p.patternAhead(0) {
			return p.patternExpr()
		}
		return p.parenthesised()
	case isPunct(t, "["):
		return p.bracketed()
	case isPunct(t, "{"):
		return p.mapLit()
	case isWord(t):
		return p.word()
	}
	return nil, unexpected(t, anExpression)
}

// param takes a parameter.
func (p *parser) param() *Param {
	t := p.take()
	name := t.Value[1:]
	if name[0] == '`' {
		name = unquote(&lexer.Token{Type: tQuoted, Value: name})
	}
	return &Param{Span: span(t), Name: name}
}

// parenthesised parses (expression). The brackets leave no node, and the span is
// that of the expression within.
func (p *parser) parenthesised() (Expr, error) {
	return within(p, 0, func() (Expr, error) {
		p.take()
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		return e, hinted(p.expect(")", "an operator"), listHint(p.peek()))
	})
}

// word parses an operand that begins with a word: a constant, a special form, a
// function call or a variable.
func (p *parser) word() (Expr, error) {
	t := p.peek()
	next := p.ahead(1)
	switch t.Type {
	case kwNull, kwTrue, kwFalse:
		p.take()
		v := value.Null
		if t.Type != kwNull {
			v = value.Bool(t.Type == kwTrue)
		}
		return &Literal{Span: span(t), Value: v}, nil
	case kwCase:
		return p.caseExpr()
	case kwExists, kwCount, kwCollect:
		if isPunct(next, "{") && p.subqueryAhead() {
			return p.subquery()
		}
	case kwAll, kwAny, kwNone, kwSingle:
		if isPunct(next, "(") && isName(p.ahead(2)) && p.ahead(3).Type == kwIn {
			return p.quantifier()
		}
	case kwReduce:
		if isPunct(next, "(") && isName(p.ahead(2)) && isPunct(p.ahead(3), "=") {
			return p.reduce()
		}
	case kwShortestPath, kwAllShortestPaths:
		if isPunct(next, "(") {
			return p.patternExpr()
		}
	case kwAnd, kwOr, kwXor, kwIn, kwIs, kwThen, kwWhen:
		return nil, unexpected(t, anExpression)
	}
	if t.Type >= kwStarts && t.Type < kwLast && !isPunct(next, "(") && !endsOperand(next) {
		// A clause that lacks its expression, as in RETURN LIMIT 3.
		return nil, unexpected(t, anExpression)
	}
	return p.nameOrCall()
}

// endsOperand reports whether t may follow a variable, so that a keyword before
// it is a variable's name.
func endsOperand(t *lexer.Token) bool {
	switch {
	case t.EOF(), t.Type == tPunct, isPunct(t, "["), isPunct(t, "{"):
		return true
	case t.Type < tKeyword || t.Type >= kwLast:
		return false
	}
	switch t.Type {
	case kwBy, kwNull, kwTrue, kwFalse, kwNot, kwCase, kwDistinct, kwExists, kwCount, kwCollect,
		kwAll, kwAny, kwNone, kwSingle, kwReduce, kwShortestPath, kwAllShortestPaths:
		return false
	}
	return true
}

// nameOrCall parses a variable or a function call.
func (p *parser) nameOrCall() (Expr, error) {
	n := 1
	for isPunct(p.ahead(n), ".") && isName(p.ahead(n+1)) {
		n += 2
	}
	if isPunct(p.ahead(n), "(") {
		if n == 1 && is(p.peek(), "TRIM") {
			if e, err := p.trim(); e != nil || err != nil {
				return e, err
			}
		}
		return p.call()
	}
	name, err := p.name("a name")
	if err != nil {
		return nil, err
	}
	return &Variable{Name: *name}, nil
}

// call parses name([DISTINCT] arguments).
func (p *parser) call() (Expr, error) {
	t := p.take()
	f := &Func{Span: span(t), Name: unquote(t)}
	for p.accept(".") {
		f.Name += "." + unquote(p.take())
	}
	return within(p, 0, func() (Expr, error) {
		p.take()
		switch {
		case p.at("*") && isPunct(p.ahead(1), ")"):
			p.take()
			f.Star = true
		case p.at(")"):
		default:
			f.Distinct = p.acceptKw(kwDistinct)
			args, err := commaList(p, p.expr)
			if err != nil {
				return nil, err
			}
			f.Args = args
		}
		if err := p.expect(")", ","); err != nil {
			return nil, err
		}
		f.Span = p.since(f.Span)
		normalForm(f)
		return f, nil
	})
}

// normalForm makes a text of the word NFC of normalize(s, NFC), and its like.
func normalForm(f *Func) {
	if !strings.EqualFold(f.Name, "normalize") || len(f.Args) != 2 {
		return
	}
	switch v, ok := f.Args[1].(*Variable); {
	case !ok:
	case v.Text == "NFC", v.Text == "NFD", v.Text == "NFKC", v.Text == "NFKD":
		f.Args[1] = &Literal{Span: v.Span, Value: value.String(v.Text)}
	}
}

// mapLit parses {key: value, ...}.
func (p *parser) mapLit() (Expr, error) {
	return within(p, 0, func() (Expr, error) {
		m := &MapLit{Span: span(p.take())}
		for !p.at("}") {
			also := []string{"}"}
			if len(m.Keys) > 0 {
				if err := p.expect(",", "}"); err != nil {
					return nil, err
				}
				also = nil
			}
			if !isName(p.peek()) {
				return nil, unexpected(p.peek(), append(also, "a key")...)
			}
			key, err := p.name("a key")
			if err != nil {
				return nil, err
			}
			if err := p.expect(":"); err != nil {
				return nil, hinted(err, colonHint(p.peek()))
			}
			v, err := p.expr()
			if err != nil {
				return nil, err
			}
			m.Keys, m.Values = append(m.Keys, key), append(m.Values, v)
		}
		p.take()
		m.Span = p.since(m.Span)
		return m, nil
	})
}

// mapProjection parses {.key, .*, key: e, variable} behind e.
func (p *parser) mapProjection(e Expr) (Expr, error) {
	return within(p, 0, func() (Expr, error) {
		p.take()
		m := &MapProjection{E: e}
		for !p.at("}") {
			if len(m.Items) > 0 {
				if err := p.expect(",", "}"); err != nil {
					return nil, err
				}
			}
			item, err := p.projectionItem()
			if err != nil {
				return nil, hinted(err, subqueryHint(e))
			}
			m.Items = append(m.Items, item)
		}
		p.take()
		m.Span = p.since(e.At())
		return m, nil
	})
}

// projectionItem parses one item of a map projection.
func (p *parser) projectionItem() (*MapProjectionItem, error) {
	if p.accept(".") {
		if p.accept("*") {
			return &MapProjectionItem{All: true}, nil
		}
		key, err := p.name("a property name")
		return &MapProjectionItem{Key: key}, err
	}
	if !isName(p.peek()) {
		return nil, unexpected(p.peek(), ".key", ".*", "key: value", "a variable")
	}
	key, err := p.name("a key")
	if err != nil {
		return nil, err
	}
	if !p.accept(":") {
		return &MapProjectionItem{Key: key, Value: &Variable{Name: *key}}, nil
	}
	v, err := p.expr()
	return &MapProjectionItem{Key: key, Value: v}, err
}
