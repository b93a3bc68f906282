// Package complete tells what may be typed next in a statement of EQL or a command of
// the console.
package complete

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Words is what can be typed, each list in the order in which it is shown.
type Words struct {
	Keywords, Functions, Procedures []string
	Labels, Types, Properties       []string
	Parameters                      []string
	// Commands are those of the console, with their colon, and Arguments what stands
	// behind one of them. A command with the argument "EQL" takes a statement.
	Commands  []string
	Arguments map[string][]string
}

// EQL is the argument of commands that take a statement.
const EQL = "EQL"

// Candidate is one way to go on.
type Candidate struct {
	// Rest is what is to be typed behind what stands there.
	Rest string
	// Word is all of it, for a list.
	Word string
}

// At returns the ways to go on behind a text, which ends at the cursor and holds all
// lines of the statement.
func (w *Words) At(text string) []Candidate {
	if trimmed := strings.TrimLeft(text, " \t"); strings.HasPrefix(trimmed, ":") {
		name, arg, more := strings.Cut(trimmed, " ")
		if !more {
			return named(w.Commands, trimmed, " ")
		}
		arg = strings.TrimLeft(arg, " ")
		if slices.Contains(w.Arguments[name], EQL) {
			return w.statement(arg)
		}
		return named(w.Arguments[name], arg, "")
	}
	return w.statement(text)
}

func (w *Words) statement(text string) []Candidate {
	code, ok := visible(text)
	if !ok {
		return nil // inside of a string or a comment
	}
	word := lastWord(code)
	before := strings.TrimRight(code[:len(code)-len(word)], " \t\n")
	if strings.HasPrefix(word, "`") {
		return w.afterMark(before, word)
	}
	if lastKeyword(before) == "CALL" {
		return named(w.Procedures, word, "(")
	}
	if variable, property, ok := cutLast(word, "."); ok {
		if before == "" || !strings.HasSuffix(before, "$") {
			return append(named(quoted(w.Properties), property, ""), dotted(w.Functions, variable, property)...)
		}
		return nil
	}
	if found := w.afterMark(before, word); found != nil {
		return found
	}
	if word == "" && strings.TrimSpace(code) != "" && !unicode.IsSpace(rune(code[len(code)-1])) && !strings.HasSuffix(code, "(") {
		return nil
	}
	return append(keywords(w.Keywords, word), functions(w.Functions, word)...)
}

// afterMark completes what a mark before the word says: the name of a label, a
// type, a property or a parameter. It returns nil when there is no such mark.
func (w *Words) afterMark(before, word string) []Candidate {
	if before == "" {
		return nil
	}
	open := innermost(before)
	switch before[len(before)-1] {
	case '$':
		return append([]Candidate{}, named(w.Parameters, word, "")...)
	case ':', '|', '&', '!':
		switch open {
		case '[':
			return append([]Candidate{}, named(quoted(w.Types), word, "")...)
		case '{':
			return nil // a value in a map
		}
		return append([]Candidate{}, named(quoted(w.Labels), word, "")...)
	case '{', ',':
		if open == '{' && !strings.HasSuffix(strings.TrimRight(before[:strings.LastIndexByte(before, '{')], " \t\n"), "CALL") {
			return append([]Candidate{}, named(quoted(w.Properties), word, ": ")...)
		}
	}
	return nil
}

// visible takes strings and comments out; ok is false when the text ends in one.
func visible(text string) (code string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		end := ""
		switch {
		case strings.HasPrefix(rest, "//"):
			end = "\n"
		case strings.HasPrefix(rest, "/*"):
			end = "*/"
		case rest[0] == '\'' || rest[0] == '"':
			end = rest[:1]
		default:
			b.WriteByte(rest[0])
			i++
			continue
		}
		n := closing(rest[len(end):], end)
		if n < 0 {
			return "", false
		}
		b.WriteByte(' ')
		i += len(end) + n + len(end)
		if end == "\n" {
			i = i - 1 + len("//") - len(end)
		}
	}
	return b.String(), true
}

// closing finds the end of a string or comment, over escaped characters of a string.
func closing(text, end string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && len(end) == 1 && end != "\n" {
			i++
			continue
		}
		if strings.HasPrefix(text[i:], end) {
			return i
		}
	}
	return -1
}

var (
	wordAtEnd = regexp.MustCompile("(`[^`]*|[\\pL\\pN_.]*)$")
	plainName = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)
	upperWord = regexp.MustCompile(`([A-Za-z]+)$`)
)

func lastWord(code string) string {
	if strings.Count(code, "`")%2 == 0 {
		return strings.Trim(wordAtEnd.FindString(strings.ReplaceAll(code, "`", "\x00")), "\x00")
	}
	return wordAtEnd.FindString(code)
}

func lastKeyword(before string) string { return strings.ToUpper(upperWord.FindString(before)) }

// innermost is the bracket that is open at the end, or 0.
func innermost(code string) byte {
	var open []byte
	for i := range len(code) {
		switch code[i] {
		case '(', '[', '{':
			open = append(open, code[i])
		case ')', ']', '}':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}

// quoted puts names that have to be in back quotes into them.
func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		if out[i] = n; !plainName.MatchString(n) {
			out[i] = "`" + strings.ReplaceAll(n, "`", "``") + "`"
		}
	}
	return out
}

// named completes names, which are compared as they are written.
func named(names []string, typed, behind string) []Candidate {
	var out []Candidate
	for _, n := range names {
		if strings.HasPrefix(n, typed) {
			out = append(out, Candidate{n[len(typed):] + behind, n})
		}
	}
	return out
}

// keywords completes keywords in the case in which one was begun.
func keywords(words []string, typed string) []Candidate {
	lower := typed != "" && typed == strings.ToLower(typed)
	var out []Candidate
	for _, k := range words {
		if len(typed) <= len(k) && strings.EqualFold(k[:len(typed)], typed) {
			if lower {
				k = strings.ToLower(k)
			}
			out = append(out, Candidate{k[len(typed):] + " ", k})
		}
	}
	return out
}

func functions(names []string, typed string) []Candidate {
	var out []Candidate
	for _, n := range names {
		if typed != "" && len(typed) <= len(n) && strings.EqualFold(n[:len(typed)], typed) && !strings.Contains(n, ".") {
			out = append(out, Candidate{n[len(typed):] + "(", n + "("})
		}
	}
	return out
}

// dotted completes functions such as duration.between.
func dotted(names []string, before, typed string) []Candidate {
	var out []Candidate
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, before+"."); ok && strings.HasPrefix(rest, typed) {
			out = append(out, Candidate{rest[len(typed):] + "(", n + "("})
		}
	}
	return out
}
