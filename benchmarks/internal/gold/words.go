package gold

import (
	"slices"
	"strings"
	"unicode"
)

// stop are words that say nothing about what a text is about.
var stop = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`a about after all also am an and any are as at back be because been before being but by
		can could did do does doing done down each even ever every few for from further get go going gone got had has have
		having he her here hers him his how i if in into is it its just let like made make many may me might more most much
		must my no nor not now of off oh ok on once one only or other our out over own really same see she should so some
		such than that the their them then there these they thing things this those though through time to too under until
		up us very was way we well were what when where which while who whom why will with would yeah yes yet you your`) {
		out[w] = true
	}
	return out
}()

// words cuts a text into words in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
}

// content are the distinct words of a text that say something, in order.
func content(text string) []string {
	var out []string
	for _, w := range words(text) {
		if len(w) >= 3 && !stop[w] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// akin reports whether two words may have one stem: with the longest of the usual
// endings off, one is the beginning of the other. It errs on the side of yes.
func akin(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	short := a
	for _, end := range []string{"ation", "ing", "ies", "ied", "ed", "es", "er", "ly", "s", "e", "y"} {
		if cut, ok := strings.CutSuffix(a, end); ok && len(cut) >= 3 {
			short = cut
			break
		}
	}
	return strings.HasPrefix(b, short) && len(short) >= 3
}

// shares reports whether a question may share a content word with a text.
func shares(question, text []string) bool {
	for _, q := range question {
		if slices.ContainsFunc(text, func(w string) bool { return akin(q, w) }) {
			return true
		}
	}
	return false
}
