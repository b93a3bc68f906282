package fault

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown is how many characters of the offending line are shown.
const maxShown = 100

// Render returns the error for a person to read, over several lines: what is
// wrong and where, the line with a caret under the place, what was expected, the
// hint. Text is the statement as typed.
func (e *Error) Render(text string) string {
	var b strings.Builder
	b.WriteString(string(e.Type))
	if e.Detail != "" && e.Detail != string(e.Type) {
		b.WriteString(" (" + e.Detail + ")")
	}
	if e.Span.Known() {
		fmt.Fprintf(&b, " at line %d, column %d", e.Span.Line, e.Span.Column)
	}
	b.WriteString(": " + e.Message + "\n")
	if e.Span.Known() {
		e.renderLine(&b, text)
	}
	if len(e.Expected) > 0 {
		b.WriteString("expected " + list(e.Expected) + "\n")
	}
	if e.Hint != "" {
		b.WriteString(e.Hint + "\n")
	}
	return b.String()
}

// renderLine writes the line with the mistake and a caret line under it. Long
// lines are cut to a window around the place. Tabs and control characters are
// shown as one space, so that the caret stays under its character. A blank line
// is not shown.
func (e *Error) renderLine(b *strings.Builder, text string) {
	line, before := lineAround(text, e.Span.Offset)
	width := utf8.RuneCountInString(e.Span.Text(text))
	if strings.TrimSpace(line) == "" {
		return
	}
	runes := []rune(line)
	if before+width > len(runes) {
		width = len(runes) - before
	}
	if width < 1 {
		width = 1
	}
	lead, tail := "", ""
	if len(runes) > maxShown {
		from := before - maxShown/2
		if from < 0 {
			from = 0
		}
		to := from + maxShown
		if to > len(runes) {
			to = len(runes)
			from = to - maxShown
		}
		if from > 0 {
			lead = "..."
		}
		if to < len(runes) {
			tail = "..."
		}
		if before+width > to {
			width = max(to-before, 1)
		}
		runes, before = runes[from:to], before-from
	}
	for i, r := range runes {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			runes[i] = ' '
		}
	}
	b.WriteString("  " + lead + strings.TrimRight(string(runes), " ") + tail + "\n")
	b.WriteString("  " + strings.Repeat(" ", len(lead)+before) + strings.Repeat("^", width) + "\n")
}

// list joins alternatives: a; a or b; a, b or c. Those without a letter are
// quoted.
func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.IndexFunc(w, unicode.IsLetter) < 0 {
			quoted[i] = "'" + w + "'"
		}
	}
	n := len(quoted) - 1
	if n == 0 {
		return quoted[0]
	}
	return strings.Join(quoted[:n], ", ") + " or " + quoted[n]
}
