package syntax

import (
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// parser is the hand-written part: expressions and patterns. It reads the same
// token stream as participle's part and leaves it behind what it took.
type parser struct {
	lex   *lexer.PeekingLexer
	last  int // offset behind the last token taken
	depth int // of operators and CASE; brackets are limited by the scanner
	mode  mode
}

// mode tells what ends an expression besides the usual. Brackets reset it.
type mode uint8

const (
	// noBar: a bar ends the expression, so x:A|B reads as x:A, then the bar.
	noBar mode = 1 << iota
	// noLayers: IN LAYERS is an option of the clause, not an operator.
	noLayers
	// noTail: a colon or brace behind the expression is the clause's.
	noTail
	// ofTypes: a label expression is about relationship types, without :A:B.
	ofTypes
)

// peek returns the next token.
func (p *parser) peek() *lexer.Token { return p.lex.Peek() }

// ahead returns the token n behind the next one. The tokens before it must not
// be the end of the statement.
func (p *parser) ahead(n int) *lexer.Token {
	c := p.lex.RawCursor()
	return &p.lex.Range(c, c+lexer.RawCursor(n)+1)[n]
}

// take returns the next token and moves behind it.
func (p *parser) take() *lexer.Token {
	t := p.lex.Next()
	p.last = end(t)
	return t
}

// at reports whether the next token is the given operator or bracket.
func (p *parser) at(punct string) bool { return isPunct(p.peek(), punct) }

// accept takes the next token if it is the given operator or bracket.
func (p *parser) accept(punct string) bool {
	if p.at(punct) {
		p.take()
		return true
	}
	return false
}

// acceptKw takes the next token if it is the given keyword.
func (p *parser) acceptKw(kw lexer.TokenType) bool {
	if p.peek().Type == kw {
		p.take()
		return true
	}
	return false
}

// expect takes the given operator or bracket, or fails. What else could have
// stood there is told by also.
func (p *parser) expect(punct string, also ...string) error {
	if p.accept(punct) {
		return nil
	}
	return unexpected(p.peek(), append(also, punct)...)
}

// expectKw takes the given keyword, or fails.
func (p *parser) expectKw(kw lexer.TokenType, also ...string) error {
	if p.acceptKw(kw) {
		return nil
	}
	return unexpected(p.peek(), append(also, words[kw-tKeyword])...)
}

// since returns the span from start to the last token taken.
func (p *parser) since(start Span) Span {
	start.End = p.last
	return start
}

// name takes a name. What it names, "a label" for example, is told when there
// is none.
func (p *parser) name(what string) (*Name, error) {
	if !isName(p.peek()) {
		return nil, unexpected(p.peek(), what)
	}
	t := p.take()
	return &Name{Span: span(t), Text: unquote(t)}, nil
}

// enter counts one more level of nesting; leave undoes it.
func (p *parser) enter() error {
	p.depth++
	if p.depth > MaxDepth {
		return tooDeep(span(p.peek()))
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// within parses with f in the given mode.
func within[T any](p *parser, m mode, f func() (T, error)) (T, error) {
	old := p.mode
	p.mode = m
	v, err := f()
	p.mode = old
	return v, err
}

// commaList parses one or more elements separated by commas.
func commaList[T any](p *parser, f func() (T, error)) ([]T, error) {
	var list []T
	for {
		v, err := f()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !p.accept(",") {
			return list, nil
		}
	}
}

// tooLong is the error for more than maxChain of the same in a row.
func tooLong(at Span, what string) *fault.Error {
	return fault.New(fault.ResourceExhausted, fault.CompileTime, "NestingTooDeep", at,
		"more than %d %s follow each other", maxChain, what)
}

// tooDeep is the error for nesting beyond MaxDepth.
func tooDeep(at Span) error {
	return fault.New(fault.ResourceExhausted, fault.CompileTime, "NestingTooDeep", at,
		"this is nested more than %d levels deep", MaxDepth)
}
