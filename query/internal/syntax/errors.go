package syntax

import (
	"errors"
	"regexp"
	"strings"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

const unexpectedSyntax = "UnexpectedSyntax"

// unexpected is the error for a token that does not fit. Expected says in a
// user's words what would have.
func unexpected(t *lexer.Token, expected ...string) error {
	if t.Type == tBad && !isDigit(t.Value[0]) {
		return badToken(t)
	}
	e := fault.Syntax(unexpectedSyntax, span(t), "%s", "")
	e.Expected = expected
	if t.EOF() {
		e.Message = "the statement ends too early"
		return e
	}
	e.Found = t.Value
	e.Message = "unexpected " + shorten(t.Value)
	setHint(e, t)
	return e
}

// shorten cuts a long token for a message.
func shorten(s string) string {
	const most = 40
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "..."
}

// keywordsIn returns the keywords among the expected words.
func keywordsIn(expected []string) []string {
	var list []string
	for _, e := range expected {
		switch e {
		case aClause:
			list = append(append(list, clauseWords...), "EXPLAIN", "PROFILE", "BEGIN", "COMMIT", "ROLLBACK")
		case "an operator":
			list = append(list, "AND", "OR", "XOR", "IN", "STARTS", "ENDS", "CONTAINS", "IS NULL")
		default:
			if e == strings.ToUpper(e) {
				list = append(list, e)
			}
			if first, _, two := strings.Cut(e, " "); two {
				list = append(list, first)
			}
			if e == "DESC" {
				list = append(list, "DESCENDING")
			}
		}
	}
	return list
}

// badToken is the error for a token that the scanner found malformed.
func badToken(t *lexer.Token) error {
	switch c := t.Value[0]; {
	case isDigit(c) || c == '.':
		e := fault.Syntax("InvalidNumberLiteral", span(t), "%s is not a number", shorten(t.Value))
		if c == '0' && strings.Trim(t.Value, "01234567") == "" {
			e.Hint = "Octal numbers are written 0o" + strings.TrimLeft(t.Value, "0") + "."
		}
		return e
	case c == '\'' || c == '"':
		return fault.Syntax(unexpectedSyntax, opening(t, 1), "the string that begins here does not end")
	case c == '`' && t.Value == "``":
		return fault.Syntax(unexpectedSyntax, span(t), "a name has at least one character")
	case c == '`':
		return fault.Syntax(unexpectedSyntax, opening(t, 1), "the name that begins here does not end")
	case c == '/':
		return fault.Syntax(unexpectedSyntax, opening(t, 2), "the comment that begins here does not end")
	case c == '$' && len(t.Value) > 1:
		return fault.Syntax(unexpectedSyntax, span(t), "the name of this parameter is empty or does not end")
	case c == '$':
		return fault.Syntax(unexpectedSyntax, span(t), "a parameter needs a name, as in $name")
	case c < 0x80:
		return fault.Syntax(unexpectedSyntax, span(t), "the character %q has no meaning here", t.Value)
	}
	e := fault.Syntax("InvalidUnicodeCharacter", span(t), "the character %q has no meaning here", t.Value)
	if strings.ContainsAny(t.Value, "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb") {
		e.Hint = "Text stands between straight quotes, ' or \"."
	}
	return e
}

// opening is the span of the first n bytes of t.
func opening(t *lexer.Token, n int) Span {
	s := span(t)
	s.End = s.Offset + n
	return s
}

// translate makes participle's errors ours.
func translate(err error) error {
	if fault.As(err) != nil {
		return err
	}
	var u *participle.UnexpectedTokenError
	if errors.As(err, &u) {
		_, text, _ := strings.Cut(u.Message(), "(expected ")
		return unexpected(&u.Unexpected, firstOf(strings.TrimSuffix(text, ")"))...)
	}
	e := fault.Syntax(unexpectedSyntax, Span{}, "%s", err)
	var perr participle.Error
	if errors.As(err, &perr) {
		p := perr.Position()
		e.Span = spanAt(p, 0)
		e.Message = perr.Message()
	}
	return e
}

// element matches one symbol of a grammar in participle's notation: a literal,
// a production's name, or punctuation of the notation.
var element = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z0-9]+|[()|?*+]`)

// firstOf lists, in a user's words, what a grammar in participle's notation can
// begin with. Participle gives none where no alternative of the outermost rule
// fits: there a clause is missing.
func firstOf(ebnf string) []string {
	if ebnf == "" {
		return []string{aClause}
	}
	var out []string
	depth := 0
	for _, s := range element.FindAllString(ebnf, -1) {
		switch s {
		case "(":
			depth++
			continue
		case "|":
			if depth == 0 {
				continue
			}
		}
		if w := userWord(s); w != "" {
			out = append(out, w)
		}
		if depth == 0 || s == ")" {
			break
		}
	}
	return out
}

// userWord says what an element of the grammar is in a user's words.
func userWord(s string) string {
	switch s {
	case "gExpr", "gBarExpr", "gTextExpr", "gLayersExpr", "gBound", "gItem", "GSort", "GSeed":
		return anExpression
	case "gName", "GYield":
		return "a name"
	case "GLink":
		return "a node in parentheses such as (n)"
	case "gPattern":
		return "a pattern such as (n)"
	case "gClause", "GQuery", "GSingle":
		return aClause
	}
	if s[0] == '"' {
		return strings.Trim(s, `"`)
	}
	return ""
}
