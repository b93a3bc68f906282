// Package auditview shows audits: as a text for people, as SARIF for tools, and held
// against a baseline of what was accepted.
package auditview

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"engram"
)

// View says how a report is shown.
type View struct {
	Namespace string
	// Width is how many columns a line may have; 40 at least.
	Width int
	Color bool
	// Clean spells what would steer a terminal.
	Clean func(string) string
	// Verdicts are what Judge made of the findings.
	Verdicts map[string]Verdict
}

// The shape of a report: a column of statuses, one of words before what they are about,
// bars and how many parts of a group are shown.
const (
	statusWidth = 10
	wordWidth   = 12
	maxBar      = 24
	maxParts    = 8
	minWidth    = 50
)

// Write shows a report.
func (v *View) Write(w io.Writer, r *engram.AuditReport) error {
	v.Width = max(v.Width, minWidth)
	p := &printer{View: v}
	p.head(r)
	for i := range r.Findings {
		p.finding(&r.Findings[i])
	}
	p.tail(r)
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	*View
	b strings.Builder
}

func (p *printer) head(r *engram.AuditReport) {
	counts := map[engram.AuditStatus]int{}
	for i := range r.Findings {
		counts[r.Findings[i].Status]++
	}
	var parts []string
	for _, s := range []engram.AuditStatus{engram.AuditOK, engram.AuditNotice, engram.AuditDefect, engram.AuditUnknown, engram.AuditDeferred} {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	p.wrapped(0, "", fmt.Sprintf("namespace %s, transaction %d: %s", p.Namespace, r.Seq, strings.Join(parts, ", ")))
}

func (p *printer) tail(r *engram.AuditReport) {
	var fails []string
	for i := range r.Findings {
		if name := r.Findings[i].Name; p.Verdicts[name].Fails {
			fails = append(fails, name)
		}
	}
	if len(fails) > 0 {
		p.b.WriteString("\n")
		p.wrapped(0, "", "fails: "+strings.Join(fails, ", "))
	}
}

func (p *printer) finding(f *engram.AuditFinding) {
	p.b.WriteString("\n" + p.paint(f.Status, pad(string(f.Status), statusWidth)) + f.Name + "\n")
	p.note(f.Note)
	if v := p.Verdicts[f.Name]; v.Why != "" {
		p.detail("baseline", v.Why)
	}
	p.detail("measured", measures(f))
	p.parts(f)
	for i, n := range f.Nodes.Items {
		p.detail(first(i, "nodes"), n.Ext+reason(n.Why))
	}
	p.more(f.Name, f.Nodes.Total, len(f.Nodes.Items), f.Nodes.Next)
	for i, e := range f.Edges.Items {
		p.detail(first(i, "edges"), e.From+" -["+e.Type+"]-> "+e.To+reason(e.Why))
	}
	p.more(f.Name, f.Edges.Total, len(f.Edges.Items), f.Edges.Next)
	for i, s := range f.Suggestions {
		p.raw(first(i, "try"), p.Clean(s)) // to be copied: it is not wrapped
	}
	p.detail("how", f.How)
}

func first(i int, word string) string {
	if i == 0 {
		return word
	}
	return ""
}

func reason(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func (p *printer) more(finding string, total int64, shown int, next string) {
	if next != "" {
		p.raw("", fmt.Sprintf("%d shown of %d; for more: --only %s --cursor %s", shown, total, finding, next))
	}
}

// measures writes the numbers in one line.
func measures(f *engram.AuditFinding) string {
	var out []string
	for _, m := range f.Measured {
		out = append(out, strings.ReplaceAll(m.Name, "_", " ")+" "+number(m.Value, m.Unit))
	}
	return strings.Join(out, ", ")
}

func number(v any, unit string) string {
	if n, ok := v.(int64); ok && unit == "share" { // a whole one that was JSON
		v = float64(n)
	}
	switch x := v.(type) {
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		if unit == "share" {
			return strconv.FormatFloat(math.Round(x*1000)/10, 'f', -1, 64) + " %"
		}
		return strconv.FormatFloat(x, 'g', 3, 64)
	case string:
		return x
	}
	return "unknown"
}

// parts shows distributions as bars, each group by its largest.
func (p *printer) parts(f *engram.AuditFinding) {
	for i := 0; i < len(f.Parts); {
		j := i
		for j < len(f.Parts) && f.Parts[j].Group == f.Parts[i].Group {
			j++
		}
		p.group(f.Parts[i:j])
		i = j
	}
}

func (p *printer) group(parts []engram.AuditPart) {
	shown := parts[:min(len(parts), maxParts)]
	most, names, digits := int64(1), 0, 1
	for _, part := range shown {
		most = max(most, part.Count)
		names = max(names, text.StringWidth(p.Clean(part.Name)))
		digits = max(digits, len(strconv.FormatInt(part.Count, 10)))
	}
	names = min(names, 32, p.Width-statusWidth-wordWidth-digits-1)
	room := min(maxBar, p.Width-statusWidth-wordWidth-names-digits-2)
	for i, part := range shown {
		line := pad(text.Snip(p.Clean(part.Name), names, "…"), names) + " "
		if room >= 4 {
			line += p.paintBar(bar(part.Count, most, room)) + " "
		}
		line += strconv.FormatInt(part.Count, 10)
		p.raw(first(i, part.Group), line)
		if part.Note != "" {
			p.detail("", "  "+part.Note)
		}
	}
	if n := len(parts) - len(shown); n > 0 {
		p.detail("", fmt.Sprintf("and %d more", n))
	}
}

// eighths are the last cell of a bar, by eighths of it.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar is as long as n of most, at least an eighth of a cell, and blanks up to room.
func bar(n, most int64, room int) string {
	cells := int(math.Round(float64(n) / float64(most) * float64(room*8)))
	if n > 0 {
		cells = max(cells, 1)
	}
	return pad(strings.Repeat("█", cells/8)+eighths[cells%8], room)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-text.StringWidth(s), 0))
}

// word is a word padded to its column, on a line of its own when it is too long.
func (p *printer) word(s string) string {
	if text.StringWidth(s) < wordWidth {
		return pad(s, wordWidth)
	}
	return p.Clean(s) + "\n" + strings.Repeat(" ", statusWidth+wordWidth)
}

// raw writes a line that fits, behind a word.
func (p *printer) raw(word, line string) {
	p.b.WriteString(strings.Repeat(" ", statusWidth) + p.word(word) + strings.TrimRight(line, " ") + "\n")
}

// note writes a text below the name of the finding.
func (p *printer) note(s string) { p.wrapped(statusWidth, "", s) }

// detail writes a text behind a word.
func (p *printer) detail(word, s string) {
	if s != "" {
		p.wrapped(statusWidth+wordWidth, strings.Repeat(" ", statusWidth)+p.word(word), s)
	}
}

// wrapped writes a text into the columns from indent on; begin stands before its first
// line, or as many blanks.
func (p *printer) wrapped(indent int, begin, s string) {
	blank := strings.Repeat(" ", indent)
	if begin == "" {
		begin = blank
	}
	for line := range strings.SplitSeq(text.WrapSoft(p.Clean(s), p.Width-indent), "\n") {
		p.b.WriteString(strings.TrimRight(begin+line, " ") + "\n")
		begin = blank
	}
}

var colors = map[engram.AuditStatus]text.Color{
	engram.AuditOK: text.FgGreen, engram.AuditNotice: text.FgYellow, engram.AuditDefect: text.FgRed,
	engram.AuditUnknown: text.FgMagenta, engram.AuditDeferred: text.FgBlue,
}

func (p *printer) paint(s engram.AuditStatus, word string) string {
	if !p.Color {
		return word
	}
	return colors[s].EscapeSeq() + word + text.Reset.EscapeSeq()
}

func (p *printer) paintBar(s string) string {
	if !p.Color {
		return s
	}
	return text.FgCyan.EscapeSeq() + s + text.Reset.EscapeSeq()
}
