// Package termtext shows Markdown in a terminal while it arrives: a block is shown when
// it has ended. Texts must hold nothing that steers a terminal.
package termtext

import (
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxBlock is how much of a block is waited for, in bytes; then it is shown as far as it
// has come.
const maxBlock = 64 << 10

// Writer shows what is written to it.
type Writer struct {
	w       io.Writer
	clean   func(string) string
	pending strings.Builder
	shown   bool // something was shown before: an empty line is due
	err     error
}

// New makes a Writer on w. clean is applied to what character references stand for.
func New(w io.Writer, clean func(string) string) *Writer { return &Writer{w: w, clean: clean} }

// WriteString takes a piece of a text.
func (w *Writer) WriteString(piece string) error {
	w.pending.WriteString(piece)
	if !strings.Contains(piece, "\n") && w.pending.Len() < maxBlock {
		return w.err
	}
	whole := w.pending.String()
	end := blockEnd(whole)
	if end == 0 && len(whole) >= maxBlock {
		end = strings.LastIndexByte(whole, '\n') + 1
	}
	if end > 0 {
		w.pending.Reset()
		w.pending.WriteString(whole[end:])
		w.show(whole[:end])
	}
	return w.err
}

// Flush shows what is left.
func (w *Writer) Flush() error {
	w.show(w.pending.String())
	w.pending.Reset()
	return w.err
}

// blockEnd is where the last block that has ended does: behind an empty line that
// stands in no fence.
func blockEnd(s string) (end int) {
	at, fence := 0, ""
	for line := range strings.Lines(s) {
		at += len(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			fence = ""
		case fence == "" && trimmed == "" && strings.HasSuffix(line, "\n"):
			end = at
		}
	}
	return end
}

func (w *Writer) show(source string) {
	if strings.TrimSpace(source) == "" || w.err != nil {
		return
	}
	p := &page{source: []byte(source), clean: w.clean}
	doc := goldmark.New().Parser().Parse(text.NewReader(p.source))
	p.children(doc, "")
	out := strings.TrimRight(p.String(), "\n") + "\n"
	if w.shown {
		out = "\n" + out
	}
	w.shown = true
	_, w.err = io.WriteString(w.w, out)
}

// Codes of terminals.
const (
	bold, italic, dim, cyan, underline = "\x1b[1m", "\x1b[3m", "\x1b[2m", "\x1b[36m", "\x1b[4m"
	plain                              = "\x1b[0m"
)

// page puts blocks together.
type page struct {
	strings.Builder
	source []byte
	clean  func(string) string
}

// children shows the blocks in a node, each line behind an indent.
func (p *page) children(n ast.Node, indent string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.block(c, indent)
		if c.NextSibling() != nil && c.Kind() != ast.KindTextBlock && !tight(n) {
			p.WriteString(strings.TrimRight(indent, " ") + "\n")
		}
	}
}

func tight(n ast.Node) bool {
	list, ok := n.(*ast.List)
	return ok && list.IsTight
}

func (p *page) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		p.lines(indent, bold+underline+p.inline(n)+plain)
	case *ast.Blockquote:
		p.children(n, indent+dim+"│"+plain+" ")
	case *ast.List:
		p.list(n, indent)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		var code strings.Builder
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			code.Write(line.Value(p.source))
		}
		if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
			code.Write(h.ClosureLine.Value(p.source))
		}
		for line := range strings.Lines(code.String()) {
			p.WriteString(indent + "    " + cyan + strings.TrimRight(line, "\n") + plain + "\n")
		}
	case *ast.ThematicBreak:
		p.lines(indent, strings.Repeat("─", 40))
	default:
		p.lines(indent, p.inline(n))
	}
}

func (p *page) lines(indent, s string) {
	for line := range strings.Lines(s) {
		p.WriteString(indent + strings.TrimRight(line, "\n") + "\n")
	}
}

func (p *page) list(n *ast.List, indent string) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		inner := &page{source: p.source, clean: p.clean}
		inner.children(item, "")
		room := strings.Repeat(" ", len([]rune(mark)))
		for line := range strings.Lines(inner.String()) {
			p.WriteString(indent + mark + line)
			mark = room
		}
		if mark != room { // an empty item
			p.WriteString(indent + mark + "\n")
		}
		if item.NextSibling() != nil && !n.IsTight {
			p.WriteString("\n")
		}
	}
}

// inline is the text in a node.
func (p *page) inline(n ast.Node) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out.WriteString(p.span(c))
	}
	return out.String()
}

func (p *page) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		s := p.said(n.Segment.Value(p.source), n.IsRaw())
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n"
		}
		return s
	case *ast.String:
		return p.said(n.Value, n.IsRaw() || n.IsCode())
	case *ast.CodeSpan:
		var code strings.Builder
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				code.Write(t.Segment.Value(p.source))
			}
		}
		return cyan + code.String() + plain
	case *ast.Emphasis:
		style := italic
		if n.Level > 1 {
			style = bold
		}
		return style + p.inline(n) + plain
	case *ast.Link:
		return withAddress(p.inline(n), p.said(n.Destination, false))
	case *ast.Image:
		return withAddress(p.inline(n), p.said(n.Destination, false))
	case *ast.AutoLink:
		return underline + string(n.URL(p.source)) + plain
	case *ast.RawHTML:
		var raw strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			raw.Write(s.Value(p.source))
		}
		return raw.String()
	}
	return p.inline(n)
}

// withAddress always shows where a link leads.
func withAddress(words, address string) string {
	if words == "" || words == address {
		return underline + address + plain
	}
	return underline + words + plain + " (" + address + ")"
}

// said is what a text says: without backslashes, and with characters in place of their
// references.
func (p *page) said(raw []byte, verbatim bool) string {
	if verbatim {
		return string(raw)
	}
	return p.clean(html.UnescapeString(string(util.UnescapePunctuations(raw))))
}
