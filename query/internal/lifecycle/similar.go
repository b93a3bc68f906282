package lifecycle

import (
	"slices"
	"strings"
	"unicode"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Terms returns what a text is found by, each once and in order: stems without stop
// words where the graph knows them, else words in lower case.
func Terms(g access.Reader, text string) []string {
	if a, ok := under(g).(access.TextAnalyser); ok {
		return a.SearchTerms(text)
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

// hasTerms reports whether a text has any of Terms.
func hasTerms(g access.Reader, text string) bool {
	if a, ok := under(g).(access.TextAnalyser); ok {
		return access.HasTerms(a, text)
	}
	return len(Terms(g, text)) > 0
}

// Overlap rates how much two sorted lists of terms have in common, from 0 to 1:
// twice the terms of both over the terms of each (Dice 1945).
func Overlap(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := strings.Compare(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b))
}

// content returns the text of a memory; "" when it has none.
func content(g access.Reader, id value.NodeID) (string, error) {
	v, err := prop(g, id, vocab.KeyContent)
	return v.AsString(), err
}
