package syntax

import (
	"strings"
	"unicode"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// foreign are words and signs that other languages use, with how the same is
// said here.
var foreign = map[string]string{
	"==":      "Equality is written =.",
	"!=":      "Inequality is written <>.",
	"&&":      "Write AND.",
	"!":       "Write NOT.",
	"LIKE":    "Write STARTS WITH, ENDS WITH, CONTAINS, or =~ and a regular expression.",
	"BETWEEN": "Write low <= value AND value <= high.",
	"GROUP":   "There is no GROUP BY: the items beside an aggregate are what is grouped by.",
	"HAVING":  "Write WITH ... WHERE ... in place of HAVING.",
	"SELECT":  "Read with MATCH ... WHERE ... RETURN ...",
	"FROM":    "Name what to read in a pattern, as in MATCH (n:Person).",
	"JOIN":    "Connect two patterns by a name that stands in both.",
	"UPDATE":  "Write MATCH ... SET ...",
	"NEXT":    "Go on with WITH in place of RETURN and NEXT.",
	"NULLS":   "null sorts as the greatest. Sort by x IS NULL first to have it elsewhere.",
	"USING":   "The planner takes no hints. Leave USING out.",
	"REPORT":  "Rows that fail are left out with ON ERROR CONTINUE; there is no report of them.",
}

// whole is what follows the first of two keywords.
var whole = map[string]string{"ORDER": " BY", "STARTS": " WITH", "ENDS": " WITH"}

// setHint adds to e, which is about the token t, how to write what was probably
// meant.
func setHint(e *fault.Error, t *lexer.Token) {
	sign := t.Value
	if isPunct(t, "&") {
		if rest := t.Pos.Filename[end(t):]; strings.HasPrefix(rest, t.Value) {
			sign += t.Value
		}
	}
	if isWord(t) {
		if e.Hint = foreign[strings.ToUpper(sign)]; e.Hint != "" {
			return
		}
		if near := fault.Nearest(t.Value, keywordsIn(e.Expected)); near != "" {
			e.Hint = "Did you mean " + near + whole[near] + "?"
			return
		}
	}
	if e.Hint = foreign[sign]; e.Hint == "" {
		e.Hint = prefixHint(t)
	}
}

// prefixWords are keywords that stand before an operand.
var prefixWords = []string{"DISTINCT", "NOT", "EXISTS", "COUNT", "COLLECT"}

// prefixHint is the hint for a token that follows an operand: that may be a
// misspelt keyword, as in RETURN DISTINC n.
func prefixHint(t *lexer.Token) string {
	if !isName(t) && t.Type != tInt && t.Type != tFloat && t.Type != tString && t.Type != tParam {
		return ""
	}
	before := strings.TrimRight(t.Pos.Filename[:t.Pos.Offset], " \t\r\n")
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
	if word == "" || wordType(word) != tIdent {
		return ""
	}
	if near := fault.Nearest(word, prefixWords); near != "" {
		return "Did you mean " + near + " in place of " + word + "?"
	}
	return ""
}

// subqueryHint is the hint for what can't be a map projection of e: the name may
// be a misspelt EXISTS { }.
func subqueryHint(e Expr) string {
	v, ok := e.(*Variable)
	if !ok {
		return ""
	}
	if near := fault.Nearest(v.Text, []string{"EXISTS", "COUNT", "COLLECT"}); near != "" {
		return "Did you mean " + near + " { }?"
	}
	return ""
}

// hinted adds a hint to an error that has none.
func hinted(err error, hint string) error {
	if e := fault.As(err); e != nil && e.Hint == "" {
		e.Hint = hint
	}
	return err
}

// arrowHint is the hint for a relationship that does not go on with the token t.
func arrowHint(t *lexer.Token, brackets bool) string {
	switch {
	case brackets && isPunct(t, ">"):
		return "Write ]->, with a dash before the arrow head."
	case brackets && isPunct(t, "-"):
		return "Behind brackets there is one dash: ]-> or ]-."
	case !brackets && (isPunct(t, ">") || isPunct(t, "(")):
		return "Without brackets a relationship is written -->, <-- or --."
	}
	return ""
}

// listHint is the hint for a token that stands in place of a closing parenthesis.
func listHint(t *lexer.Token) string {
	if isPunct(t, ",") {
		return "A list stands in square brackets: [1, 2]."
	}
	return ""
}

// colonHint is the hint for a token that stands behind a key in a map.
func colonHint(t *lexer.Token) string {
	if isPunct(t, "=") {
		return "A colon stands between a key and its value: {name: 'Ada'}."
	}
	return ""
}
