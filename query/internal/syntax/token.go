package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Token types. A token's Value is its text as typed, so that its end is
// Pos.Offset+len(Value); its Pos.Filename holds the whole statement, because
// tokens are all that participle hands to a Parseable.
const (
	tIdent  lexer.TokenType = iota + 1
	tQuoted                 // `name`
	tInt
	tFloat
	tString
	tParam // $name
	tPunct // operators, separators, closing brackets
	tBad   // a malformed or unfinished token, see badToken

	// tKeyword and what follows are the words below. They are names wherever a
	// name is expected.
	tKeyword lexer.TokenType = 64

	// tOpen plus n is an opening bracket whose partner is n tokens further on, or
	// missing when n is 0. Knowing the partner makes lookahead over a bracket cheap.
	tOpen lexer.TokenType = 1 << 32
)

// The words that hand-written parts of the parser test for. The rest of the
// grammar names its words in participle tags.
const (
	kwAnd = tKeyword + iota
	kwOr
	kwXor
	kwNot
	kwIn
	kwStarts
	kwEnds
	kwContains
	kwIs
	kwNull
	kwTrue
	kwFalse
	kwCase
	kwWhen
	kwThen
	kwElse
	kwEnd
	kwWhere
	kwExists
	kwCount
	kwCollect
	kwAll
	kwAny
	kwNone
	kwSingle
	kwReduce
	kwShortestPath
	kwAllShortestPaths
	kwDistinct
	kwWith
	kwLayers
	kwAs
	kwAsc
	kwDesc
	kwBy
	kwOrder
	kwSkip
	kwOffset
	kwLimit
	kwUnion
	kwYield
	kwOn
	kwMatch
	kwOptional
	kwUnwind
	kwReturn
	kwCreate
	kwMerge
	kwSet
	kwRemove
	kwDelete
	kwDetach
	kwForeach
	kwCall
	kwRemember
	kwRecall
	kwLast
)

// words is indexed by keyword minus tKeyword.
var words = strings.Fields(`AND OR XOR NOT IN STARTS ENDS CONTAINS IS NULL TRUE FALSE
	CASE WHEN THEN ELSE END WHERE EXISTS COUNT COLLECT ALL ANY NONE SINGLE REDUCE
	SHORTESTPATH ALLSHORTESTPATHS DISTINCT WITH LAYERS AS ASC DESC BY ORDER SKIP OFFSET
	LIMIT UNION YIELD ON MATCH OPTIONAL UNWIND RETURN CREATE MERGE SET REMOVE DELETE
	DETACH FOREACH CALL REMEMBER RECALL`)

// keywords maps the words, in upper case, to their token types.
var keywords = func() map[string]lexer.TokenType {
	m := make(map[string]lexer.TokenType, len(words))
	for i, w := range words {
		m[w] = tKeyword + lexer.TokenType(i)
	}
	return m
}()

// maxWord is the length of the longest keyword.
const maxWord = len("ALLSHORTESTPATHS")

// wordType returns the token type of an unquoted word.
func wordType(s string) lexer.TokenType {
	if len(s) > maxWord {
		return tIdent
	}
	var upper [maxWord]byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	if t, ok := keywords[string(upper[:len(s)])]; ok {
		return t
	}
	return tIdent
}

// isWord reports whether t is an unquoted word, keyword or not.
func isWord(t *lexer.Token) bool {
	return t.Type == tIdent || t.Type >= tKeyword && t.Type < kwLast
}

// isName reports whether t can be used as a name.
func isName(t *lexer.Token) bool { return isWord(t) || t.Type == tQuoted }

// isPunct reports whether t is the given operator, separator or bracket.
func isPunct(t *lexer.Token, s string) bool {
	return (t.Type == tPunct || t.Type >= tOpen) && t.Value == s
}

// is reports whether t is the word w, given in upper case.
func is(t *lexer.Token, w string) bool { return isWord(t) && strings.EqualFold(t.Value, w) }

// end returns the offset behind t.
func end(t *lexer.Token) int { return t.Pos.Offset + len(t.Value) }

// spanAt returns the span of n bytes at p.
func spanAt(p lexer.Position, n int) Span {
	return Span{Pos: Pos{Offset: p.Offset, Line: p.Line, Column: p.Column}, End: p.Offset + n}
}

// span returns the place of one token.
func span(t *lexer.Token) Span { return spanAt(t.Pos, len(t.Value)) }

// spanOf returns the span of a run of tokens.
func spanOf(tokens []lexer.Token) Span {
	if len(tokens) == 0 {
		return Span{}
	}
	return span(&tokens[0]).To(span(&tokens[len(tokens)-1]))
}

// unquote returns the name that a word or backticked token stands for.
func unquote(t *lexer.Token) string {
	if t.Type != tQuoted {
		return t.Value
	}
	return strings.ReplaceAll(t.Value[1:len(t.Value)-1], "``", "`")
}
