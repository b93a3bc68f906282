package importer

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"engram"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// note is one Markdown file that was read.
type note struct {
	path   string // in the folder
	id     string // that it declares, or empty
	title  string
	labels []string
	names  []string // other names by which links may call it
	props  []engram.Prop
	fields []field // with links
	parts  []part  // the text; more than one when headings are split
	lines  int     // of the front matter
	tells  string  // whether it says where it comes from: present, absent, or why that is unreadable
}

// part is a text of a note, below one heading.
type part struct {
	heading string
	level   int // of the heading, 0 for what stands before the first
	text    string
	links   []noteLink
}

// noteLink is a link to another note.
type noteLink struct {
	Target string
	Wiki   bool
	Line   int // of the file
	Type   string
}

// ofTheDatabase are properties that mean something to the database: a note may not
// claim them, so they are kept with front_ before their name.
var ofTheDatabase = []string{
	"layer", "tier", "status", "reason", "origin", "imported", "content", "title", "importance", "confidence", "valid_from", "valid_to",
	"forgotten_at", "superseded_at", "created_at", "suppressed_by", "path",
}

// dateFields are read as dates also when they are written as texts.
var dateFields = []string{"date", "created", "updated", "modified"}

// parseNote reads a Markdown file. problem is told of what is taken in otherwise than
// meant.
func parseNote(name string, content []byte, split bool, problem func(line int, format string, args ...any)) (*note, error) {
	content = bytes.ReplaceAll(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(content) {
		return nil, errNotUTF8
	}
	front, body, lines := splitFront(content)
	n := &note{path: name, lines: lines, tells: "absent"}
	fields, err := parseFront(front)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		n.take(f, problem)
	}
	n.body(body, split)
	if n.title == "" {
		n.title = strings.TrimSuffix(path.Base(name), path.Ext(name))
		if isIndex(name) {
			n.title = path.Base(path.Dir(name))
		}
	}
	return n, nil
}

// take makes of a field what it means.
func (n *note) take(f field, problem func(line int, format string, args ...any)) {
	s := f.value.AsString()
	switch f.key {
	case "id":
		if n.id = strings.TrimSpace(s); n.id == "" && f.value.Kind() != engram.KindList {
			n.id = f.value.ToString()
		}
		return
	case "title":
		if n.title = strings.TrimSpace(s); n.title == "" {
			n.title = f.value.ToString()
		}
		return
	case "labels", "label":
		n.labels = words(f.value)
		return
	case "aliases", "alias":
		n.names = words(f.value)
	case "tags", "tag":
		f.key, f.value, f.links = "tags", listOf(words(f.value)), nil
	case "source", "provenance":
		switch {
		case f.value.Kind() != engram.KindString:
			n.tells = fmt.Sprintf("its %s is a %s, not a text", f.key, strings.ToLower(f.value.Kind().String()))
		case strings.TrimSpace(s) == "":
			n.tells = fmt.Sprintf("its %s is blank", f.key)
		case n.tells == "absent":
			n.tells = "present"
		}
	}
	if f.links != nil {
		n.fields = append(n.fields, f)
		return
	}
	if f.odd {
		problem(f.line, "%s is nested and stays text", f.key)
	}
	if slices.Contains(dateFields, strings.ToLower(f.key)) && s != "" {
		if date, ok := parseDate(s); ok {
			f.value, _ = engram.ValueOf(date)
		} else {
			problem(f.line, "the date %q is not understood and stays text", s)
		}
	}
	if slices.Contains(ofTheDatabase, f.key) {
		f.key = "front_" + f.key
	}
	n.props = append(n.props, engram.Prop{Key: f.key, Value: f.value})
}

// words reads a list, or a text divided by commas.
func words(v engram.Value) []string {
	var out []string
	if v.Kind() == engram.KindList {
		for _, e := range v.AsList() {
			out = append(out, e.ToString())
		}
	} else {
		out = strings.Split(v.ToString(), ",")
	}
	for i := range out {
		out[i] = strings.TrimPrefix(strings.TrimSpace(out[i]), "#")
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func listOf(texts []string) engram.Value {
	v, _ := engram.ValueOf(append([]string{}, texts...)) // texts are always values
	return v
}

// wikiLink is [[Target]], [[Target|name]] and ![[Target]].
var wikiLink = regexp.MustCompile(`\[\[([^\[\]\n]{1,500})\]\]`)

// body reads the text, its links and headings.
func (n *note) body(body []byte, split bool) {
	doc := goldmark.DefaultParser().Parse(text.NewReader(body))
	var code []span // where links mean nothing
	var links []placed
	var heads []head
	_ = ast.Walk(doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch x := node.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
			code = append(code, linesOf(node)...)
		case *ast.CodeSpan:
			for c := node.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					code = append(code, span{t.Segment.Start, t.Segment.Stop})
				}
			}
		case *ast.Link:
			links = append(links, placed{startOf(node), noteLink{Target: string(x.Destination)}})
		case *ast.Heading:
			if x.Parent() == doc && x.Lines().Len() > 0 {
				s := x.Lines().At(0)
				heads = append(heads, head{lineStart(body, s.Start), x.Level, strings.TrimSpace(string(x.Lines().Value(body)))})
			}
		}
		return ast.WalkContinue, nil
	})
	for _, m := range wikiLink.FindAllSubmatchIndex(body, -1) {
		if !slices.ContainsFunc(code, func(s span) bool { return m[0] >= s.from && m[0] < s.to }) {
			links = append(links, placed{m[0], noteLink{Target: string(body[m[2]:m[3]]), Wiki: true}})
		}
	}
	slices.SortStableFunc(links, func(a, b placed) int { return a.at - b.at })
	if n.title == "" && len(heads) > 0 && heads[0].level == 1 {
		n.title = heads[0].text
	}
	if !split {
		heads = nil
	}
	n.cut(body, heads, links)
}

type (
	span   struct{ from, to int }
	placed struct {
		at   int
		link noteLink
	}
	head struct {
		at, level int
		text      string
	}
)

// cut makes the parts of a text, each with its links.
func (n *note) cut(body []byte, heads []head, links []placed) {
	starts := append([]head{{}}, heads...)
	line, counted := n.lines+1, 0
	for i, h := range starts {
		end := len(body)
		if i+1 < len(starts) {
			end = starts[i+1].at
		}
		p := part{heading: h.text, level: h.level, text: string(body[h.at:end])}
		for len(links) > 0 && links[0].at < end {
			l := links[0].link
			line += bytes.Count(body[counted:max(counted, links[0].at)], []byte("\n"))
			counted = max(counted, links[0].at)
			l.Line = line
			p.links = append(p.links, l)
			links = links[1:]
		}
		p.text = strings.TrimFunc(p.text, unicode.IsSpace)
		n.parts = append(n.parts, p)
	}
}

func linesOf(node ast.Node) []span {
	var out []span
	for i := range node.Lines().Len() {
		s := node.Lines().At(i)
		out = append(out, span{s.Start, s.Stop})
	}
	return out
}

// startOf is where the text of a link begins.
func startOf(node ast.Node) int {
	for c := node.FirstChild(); c != nil; c = c.FirstChild() {
		if t, ok := c.(*ast.Text); ok {
			return t.Segment.Start
		}
	}
	return 0
}

func lineStart(body []byte, at int) int { return bytes.LastIndexByte(body[:at], '\n') + 1 }

// slug is how a heading is named in links.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte('-')
		}
	}
	return b.String()
}

var errNoNotes = errors.New("the folder has no Markdown files (.md)")
