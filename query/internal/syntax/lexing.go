package syntax

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"
)

// lexing is the tokenizer as participle wants it.
type lexing struct{}

// Symbols implements lexer.Definition.
func (lexing) Symbols() map[string]lexer.TokenType {
	m := map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Ident": tIdent, "Quoted": tQuoted, "Int": tInt, "Float": tFloat,
		"String": tString, "Param": tParam, "Punct": tPunct, "Bad": tBad,
	}
	for i, w := range words {
		m["Word"+w] = tKeyword + lexer.TokenType(i)
	}
	return m
}

// Lex implements lexer.Definition.
func (l lexing) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	tokens, err := tokenize(string(text))
	return &replay{tokens}, err
}

// replay hands out tokens that are already there.
type replay struct{ rest []lexer.Token }

// Next implements lexer.Lexer.
func (r *replay) Next() (lexer.Token, error) {
	t := r.rest[0]
	if len(r.rest) > 1 {
		r.rest = r.rest[1:]
	}
	return t, nil
}
