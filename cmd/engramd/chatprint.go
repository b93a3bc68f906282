package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/chatbridge"
	"engram/cmd/engramd/internal/termtext"
)

// printer prints the events of a leg.
type printer struct {
	t        *chatTerminal
	run      string
	markdown *termtext.Writer
	printed  bool
}

func (p *printer) event(e chatbridge.Event) {
	switch e.Type {
	case chatbridge.EventWorking:
		if p.printed {
			p.end()
			p.t.a.printf("\n")
		}
		if strings.Contains(e.Text, "MCP server ") {
			fmt.Fprintf(p.t.a.err, "[%s]\n", visible(e.Text))
		}
	case chatbridge.EventDelta:
		p.text(e.Text)
	case chatbridge.EventDone:
		rest, replaced := untold(p.t.shown[p.run], e.Text)
		if replaced {
			p.end()
			fmt.Fprintln(p.t.a.err, "[This takes the place of the answer above.]")
		}
		p.text(rest)
	case chatbridge.EventToolCall:
		if p.markdown != nil {
			p.end()
		}
		fmt.Fprintf(p.t.a.err, "[%s %s]\n", visible(e.Used.Name), noted(visible(e.Used.Arguments)))
	}
}

func (p *printer) end() {
	if p.markdown != nil {
		_ = p.markdown.Flush() // as above
		p.markdown = nil
	} else if p.printed {
		p.t.a.printf("\n")
	}
	p.printed = false
}

// text prints a piece of the answer.
func (p *printer) text(text string) {
	if text == "" {
		return
	}
	p.printed = true
	p.t.shown[p.run] += text
	if !p.t.markdown {
		p.t.a.printf("%s", visible(text))
		return
	}
	if p.markdown == nil {
		p.markdown = termtext.New(p.t.a.out, visible)
	}
	_ = p.markdown.WriteString(visible(text)) // a run goes on whoever reads
}

// untold is what of an answer was not shown, by all but white space, which rounds are
// told without. Where the answer does not hold what was shown, it takes its place.
func untold(shown, answer string) (rest string, replaced bool) {
	told := dense(shown)
	if told == "" {
		return answer, false
	}
	at := strings.LastIndex(dense(answer), told)
	if at < 0 {
		return answer, true
	}
	left, i := at+len(told), 0
	for left > 0 {
		r, n := utf8.DecodeRuneInString(answer[i:])
		if i += n; !unicode.IsSpace(r) {
			left -= n
		}
	}
	if strings.TrimSpace(answer[i:]) == "" {
		return "", false
	}
	return answer[i:], false
}

// dense is a text without white space.
func dense(text string) string { return strings.Join(strings.Fields(text), "") }
