// Package reference is the user's manual of EQL: Markdown pages beside this
// file, carried in the binary. Every example on them runs as a test, which also
// compares what it prints; see DESIGN.md.
//
//	text, ok := reference.Lookup("merge")
package reference

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"engram/query/internal/fault"
)

//go:embed *.md
var files embed.FS

// order is the order of the pages, which are files of that name.
var order = []string{
	"overview", "syntax", "types", "operators", "expressions", "subqueries", "patterns",
	"reading", "results", "writing", "memory", "lifecycle", "activation", "layers", "audit", "procedures", "schema", "transactions", "plans",
	"functions-string", "functions-list", "functions-math", "functions-convert", "functions-temporal",
	"functions-graph", "functions-general", "functions-aggregate", "errors",
}

// Topic is one thing that can be looked up.
type Topic struct {
	Name  string // as Lookup takes it
	Title string // of the page
}

// Topics returns the pages in reading order. Lookup knows the headings on them
// too.
func Topics() []Topic {
	b := theBook()
	out := make([]Topic, len(b.pages))
	for i, p := range b.pages {
		out[i] = Topic{Name: p.name, Title: p.title}
	}
	return out
}

// Lookup returns, as Markdown, the page of a name or the part of a page under a
// heading: a clause, an operator, a function, a type or an error. Case does not
// matter, nor do parentheses behind a function's name. An empty topic is the
// overview. A heading that stands on several pages, such as EXISTS, gives each
// of its parts. What is no heading is looked up by its first words: SHOW STATS is
// told under SHOW.
func Lookup(topic string) (text string, ok bool) {
	key := normal(topic)
	if key == "" {
		key = "overview"
	}
	b := theBook()
	for _, p := range b.pages {
		if p.name == key {
			return p.text, true
		}
	}
	for more := true; more; {
		if parts := b.parts[key]; len(parts) > 0 {
			return strings.Join(parts, "\n"), true
		}
		at := strings.LastIndexByte(key, ' ')
		if more = at > 0; more {
			key = key[:at]
		}
	}
	return "", false
}

// Names returns all that Lookup knows: pages first, then headings as they stand.
func Names() []string { return append([]string(nil), theBook().names...) }

// page is one file.
type page struct{ name, title, text string }

type book struct {
	pages []page
	parts map[string][]string // by normalised heading
	names []string
}

// theBook reads the pages once.
var theBook = sync.OnceValue(func() *book {
	b := &book{parts: map[string][]string{}}
	for _, name := range order {
		data, err := files.ReadFile(name + ".md")
		if err != nil {
			// The files are compiled in: a test opens each.
			data = fmt.Appendf(nil, "# %s\n\nThis page is missing.\n", name)
		}
		text := string(data)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		b.pages = append(b.pages, page{name: name, title: title, text: text})
		b.names = append(b.names, name)
	}
	for _, p := range b.pages {
		b.addParts(p.text)
	}
	return b
})

// addParts files the parts of a page under their headings. A heading may name
// several things, as "SKIP, LIMIT" does.
func (b *book) addParts(text string) {
	for _, part := range sections(text) {
		line, _, _ := strings.Cut(part, "\n")
		heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
		for _, name := range strings.Split(heading, ", ") {
			key := normal(name)
			if b.parts[key] == nil {
				b.names = append(b.names, strings.Trim(name, "`"))
			}
			b.parts[key] = append(b.parts[key], part)
		}
	}
}

// sections cuts a page into its parts below the title: each reaches to the next
// heading of its own level or a higher one.
func sections(text string) []string {
	type open struct{ level, start int }
	var stack []open
	var out []string
	at := map[int]int{} // start → index in out, to keep the order of the headings
	end := func(level, offset int) {
		for len(stack) > 0 && stack[len(stack)-1].level >= level {
			top := stack[len(stack)-1]
			out[at[top.start]] = text[top.start:offset]
			stack = stack[:len(stack)-1]
		}
	}
	fenced := false
	for offset := 0; offset < len(text); {
		line, _, _ := strings.Cut(text[offset:], "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if level := headingLevel(line); level > 1 && !fenced {
			end(level, offset)
			at[offset] = len(out)
			out = append(out, "")
			stack = append(stack, open{level, offset})
		}
		offset += len(line) + 1
	}
	end(0, len(text))
	return out
}

// headingLevel counts the marks of a heading; 0 for another line.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || !strings.HasPrefix(line[n:], " ") {
		return 0
	}
	return n
}

var spaces = regexp.MustCompile(`\s+`)

// normal is how names are compared.
func normal(topic string) string {
	s := spaces.ReplaceAllString(strings.TrimSpace(topic), " ")
	s = strings.Trim(s, "`")
	if name, ok := strings.CutSuffix(s, "()"); ok {
		s = name
	}
	return strings.ToLower(s)
}

// Suggest returns the name that Lookup knows and that is nearest to topic, or ""
// when none is near enough to be meant.
func Suggest(topic string) string { return fault.Nearest(topic, theBook().names) }
