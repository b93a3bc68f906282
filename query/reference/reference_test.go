package reference_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"engram"
	"engram/query/reference"
)

// TestMain fails when goroutines are left behind.
func TestMain(m *testing.M) {
	// bleve starts its analysis workers once for the process.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

var rewrite = flag.Bool("rewrite", false, "write the results and the generated lines into the pages")

// fixedNow is the clock of the examples.
func fixedNow() time.Time { return time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC) }

// TestExamples runs every example of every page and compares what it answers
// with the result block behind it. A block that begins with
//
//	```eql            runs and must succeed
//	```eql error      runs and must fail
//	```eql setup      begins an empty database, runs, and has no result block
//	```eql {"a": 1}   runs with parameters
//
// The examples of a page share a database, in order.
func TestExamples(t *testing.T) {
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, name := range names {
		if name == "DESIGN.md" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p := &runner{t: t, page: name, lines: strings.Split(string(data), "\n")}
			p.reset()
			p.run()
			p.close()
			if p.examples == 0 {
				t.Error("no example was run")
			}
			if got := strings.Join(p.out, "\n"); *rewrite && got != string(data) {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// runner runs the examples of one page.
type runner struct {
	t        *testing.T
	page     string
	lines    []string
	at       int // the next line
	out      []string
	db       *engram.DB
	examples int
}

func (p *runner) reset() {
	p.close()
	db, err := engram.OpenMemory(&engram.Options{Now: fixedNow})
	if err != nil {
		p.t.Fatal(err)
	}
	p.db = db
}

func (p *runner) close() {
	if p.db != nil {
		if err := p.db.Close(); err != nil {
			p.t.Error(err)
		}
	}
	p.db = nil
}

func (p *runner) run() {
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		info, isFence := strings.CutPrefix(line, "```")
		if !isFence {
			p.out = append(p.out, line)
			p.at++
			continue
		}
		first := p.at + 1
		text := p.block()
		kind, rest, _ := strings.Cut(info, " ")
		switch kind {
		case "eql":
			p.example(text, strings.TrimSpace(rest), first)
		case "result":
			p.t.Errorf("%s:%d: a result without an example before it", p.page, first)
		case "go", "sh", "text":
		default:
			p.t.Errorf("%s:%d: a block of the kind %q", p.page, first, kind)
		}
	}
}

// block copies a fenced block to the output and returns what is in it.
func (p *runner) block() string {
	start := p.at
	p.at++
	for p.at < len(p.lines) && p.lines[p.at] != "```" {
		p.at++
	}
	if p.at == len(p.lines) {
		p.t.Fatalf("%s:%d: the block does not end", p.page, start+1)
	}
	p.at++
	p.out = append(p.out, p.lines[start:p.at]...)
	return strings.Join(p.lines[start+1:p.at-1], "\n")
}

func (p *runner) example(text, how string, line int) {
	if how == "setup" {
		p.reset()
		statements, rest := engram.SplitStatements(text)
		for _, s := range append(statements, rest) {
			if strings.TrimSpace(s) == "" {
				continue
			}
			if _, err := p.db.Query(context.Background(), s, nil); err != nil {
				p.t.Errorf("%s:%d: %v", p.page, line, err)
			}
		}
		return
	}
	p.examples++
	var params map[string]any
	if strings.HasPrefix(how, "{") {
		d := json.NewDecoder(strings.NewReader(how))
		d.UseNumber()
		if err := d.Decode(&params); err != nil {
			p.t.Errorf("%s:%d: parameters: %v", p.page, line, err)
		}
	}
	res, err := p.db.Query(context.Background(), text, params)
	if (err != nil) != (how == "error") {
		p.t.Errorf("%s:%d: failed: %t; %v", p.page, line, err != nil, err)
	}
	got := show(res, err)
	p.result(got, line)
}

// result compares with the block that follows, or writes it.
func (p *runner) result(got string, line int) {
	next := p.at
	for next < len(p.lines) && p.lines[next] == "" {
		next++
	}
	found := next < len(p.lines) && p.lines[next] == "```result"
	if *rewrite {
		p.out = append(p.out, "", "```result")
		p.out = append(append(p.out, strings.Split(got, "\n")...), "```")
		if found {
			mark := len(p.out)
			p.at = next
			p.block()
			p.out = p.out[:mark]
		}
		return
	}
	if !found {
		p.t.Errorf("%s:%d: no result behind the example", p.page, line)
		return
	}
	p.out = append(p.out, p.lines[p.at:next]...)
	p.at = next
	if want := p.block(); got != want {
		p.t.Errorf("%s:%d: got\n%s\nwant\n%s", p.page, line, got, want)
	}
}

// show prints what a person sees of an answer, without times.
func show(res *engram.Result, err error) string {
	if err != nil {
		return strings.TrimRight(err.Error(), "\n")
	}
	var lines []string
	if res.Plan != nil {
		lines = append(lines, strings.Split(strings.TrimRight(res.Plan.StringNoTimes(), "\n"), "\n")...)
	}
	if len(res.Columns) > 0 && (res.Plan == nil || len(res.Rows) > 0) {
		lines = append(lines, table(res)...)
	}
	lines = append(lines, changes(res)...)
	for _, n := range res.Notices {
		lines = append(lines, n.Code+": "+n.Message)
	}
	if len(lines) == 0 {
		return "nothing changed"
	}
	return strings.Join(lines, "\n")
}

// table prints rows in columns; (no rows) when there are none.
func table(res *engram.Result) []string {
	cells := [][]string{res.Columns}
	for _, row := range res.Rows {
		var line []string
		for _, v := range row {
			line = append(line, v.String())
		}
		cells = append(cells, line)
	}
	width := make([]int, len(res.Columns))
	for _, line := range cells {
		for i, c := range line {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var out []string
	for n, line := range cells {
		var b strings.Builder
		for i, c := range line {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)))
		}
		out = append(out, strings.TrimRight(b.String(), " "))
		if n == 0 {
			var rule []string
			for _, w := range width {
				rule = append(rule, strings.Repeat("-", w))
			}
			out = append(out, strings.Join(rule, "-+-"))
		}
	}
	if len(res.Rows) == 0 {
		out = append(out, "(no rows)")
	}
	return out
}

func changes(res *engram.Result) []string {
	c := res.Counters
	var parts []string
	for _, n := range []struct {
		n          int64
		one, other string
	}{
		{c.NodesCreated, "node created", "nodes created"},
		{c.NodesDeleted, "node deleted", "nodes deleted"},
		{c.EdgesCreated, "edge created", "edges created"},
		{c.EdgesDeleted, "edge deleted", "edges deleted"},
		{c.PropertiesSet, "property set", "properties set"},
		{c.PropertiesRemoved, "property removed", "properties removed"},
		{c.LabelsAdded, "label added", "labels added"},
		{c.LabelsRemoved, "label removed", "labels removed"},
		{c.IndexesAdded, "index added", "indexes added"},
		{c.IndexesRemoved, "index removed", "indexes removed"},
		{c.ConstraintsAdded, "constraint added", "constraints added"},
		{c.ConstraintsRemoved, "constraint removed", "constraints removed"},
		{c.VocabularyChanges, "vocabulary change", "vocabulary changes"},
	} {
		switch {
		case n.n == 1:
			parts = append(parts, "1 "+n.one)
		case n.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.other))
		}
	}
	if parts == nil {
		return nil
	}
	return []string{strings.Join(parts, ", ")}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ topic, begins string }{
		{"", "# EQL"},
		{"overview", "# EQL"},
		{"Merge", "## MERGE"},
		{"optional  match", "## OPTIONAL MATCH"},
		{"toupper()", "### toUpper"},
		{"limit", "## SKIP, LIMIT"},
		{"date.truncate", "### date.truncate"},
		{"=~", "### =~"},
		{"show stats", "## SHOW\n"},
		{"SHOW LEARNING", "## SHOW LEARNING"},
	} {
		text, ok := reference.Lookup(c.topic)
		if !ok || !strings.HasPrefix(text, c.begins) {
			t.Errorf("%q: %t, %.60q", c.topic, ok, text)
		}
	}
	if text, ok := reference.Lookup("no such thing"); ok || text != "" {
		t.Errorf("an unknown topic gives %q", text)
	}
	text, _ := reference.Lookup("toUpper")
	if strings.Count(text, "### ") != 1 {
		t.Errorf("the part about one function is\n%s", text)
	}
}
