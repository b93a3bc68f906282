package tck

import (
	"regexp"
	"strings"
)

// pieceKind is a sort of token; see pieces.
type pieceKind int

const (
	aSpace     pieceKind = iota // white space and comments
	aWord                       // a name or keyword, perhaps in backticks
	aText                       // a string with its quotes
	aNumber                     // as written, right or wrong
	anOperator                  // one character
)

// piece is a token with its text as written.
type piece struct {
	kind pieceKind
	text string
}

// inner is what stands between the quotes of a text.
func (p piece) inner() string { return p.text[1 : len(p.text)-1] }

// name is the name that a word stands for.
func (p piece) name() string { return strings.Trim(p.text, "`") }

var pieceForms = []struct {
	kind pieceKind
	form *regexp.Regexp
}{
	{aSpace, regexp.MustCompile(`^(?:\s+|//[^\n]*|(?s:/\*.*?\*/))`)},
	{aText, regexp.MustCompile(`^(?s:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`)},
	{aWord, regexp.MustCompile("^(?:`[^`]*`|[\\pL_][\\pL\\pN_]*)")},
	{aNumber, regexp.MustCompile(`^(?:\d[\pL\d_]*(?:\.\d[\pL\d_]*)?|\.\d+[\pL\d]*)`)},
}

// pieces cuts text into tokens that together are the text again. What is no token
// of the language, such as half a string, comes out as operators.
func pieces(text string) []piece {
	var list []piece
next:
	for text != "" {
		for _, f := range pieceForms {
			if m := f.form.FindString(text); m != "" {
				list = append(list, piece{f.kind, m})
				text = text[len(m):]
				continue next
			}
		}
		n := len(text) - len(strings.TrimPrefix(text, string([]rune(text)[:1])))
		list = append(list, piece{anOperator, text[:n]})
		text = text[n:]
	}
	return list
}

// following is the text of the token behind number i, or "".
func following(tokens []piece, i int) string {
	for i++; i < len(tokens); i++ {
		if tokens[i].kind != aSpace {
			return tokens[i].text
		}
	}
	return ""
}

// preceding is the text of the token before number i, or "".
func preceding(tokens []piece, i int) string {
	for i--; i >= 0; i-- {
		if tokens[i].kind != aSpace {
			return tokens[i].text
		}
	}
	return ""
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func keyword(w string) bool { return keywords[strings.ToLower(w)] }

// ours reports whether the language itself has the word.
func ours(w string) bool { return keyword(w) || components[strings.ToLower(w)] }

const wordEnds = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_])}`"

var (
	keywords = set(`and or xor not in starts ends contains is null true false case when then else end where exists
		count all any none single distinct with as asc ascending desc descending by order skip limit union yield on
		match optional unwind return create merge set remove delete detach call nan inf infinity`)
	// components are keys of maps that make temporal values, and their properties.
	components = set(`year quarter month week weekyear dayofquarter quarterday weekday dayofweek ordinalday dayofyear
		day hour minute second millisecond microsecond nanosecond timezone offset offsetminutes offsetseconds
		epochseconds epochmillis years quarters months weeks days hours minutes seconds milliseconds microseconds
		nanoseconds quartersofyear monthsofyear monthsofquarter daysofweek minutesofhour secondsofminute
		millisecondsofsecond microsecondsofsecond nanosecondsofsecond date time datetime localtime localdatetime duration`)
	// blind are the functions that look at no content of texts and numbers.
	blind = set(`count collect labels type keys properties id nodes relationships length startnode endnode head last
		tail reverse coalesce exists min max all any none single size`)
	// counting are those of them whose result is a number, or which count elements.
	counting = set(`count id length size`)
	// looking are operators that look into texts; size is one because it counts characters.
	looking = set(`starts ends contains size reverse`)
	// measuring are words behind which a number counts rows.
	measuring = set(`skip limit`)
)
