package query_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/fault"
	"engram/query/result"
)

// fixedNow is the clock of the tests.
func fixedNow() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }

// TestScripts runs testdata/*.eql on the model graph, each statement with all
// rules of the planner, with none and without each single one: the rows and
// counters must be the same. Commands:
//
//	run [sorted] [param=value...]   a statement: its rows and what it changed
//	plan                            a statement: its plan
//	reset                           an empty graph
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.eql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	shown := map[string]int{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newScript()
			s.shown = shown
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "run":
					return s.run(t, d)
				case "plan":
					return s.plan(d.Input)
				case "reset":
					s.g = model.New()
					return ""
				}
				d.Fatalf(t, "unknown command %s", d.Cmd)
				return ""
			})
		})
	}
	for _, name := range query.RuleNames() {
		if s := shown["without "+name]; s == 0 && !slices.Contains(hidden, name) {
			t.Errorf("no plan of the scripts is another without %s: none tests the rule", name)
		}
	}
}

// hidden are the rules that EXPLAIN does not show: they are about memory and about
// what the operators do inside.
var hidden = []string{"PruneColumns", "MeetInto"}

type script struct {
	g       *model.Graph
	engines []*query.Engine // the first with all rules
	names   []string
	// shown counts, by engine, the plans that are not those of the first.
	shown map[string]int
}

func newScript() *script {
	s := &script{g: model.New()}
	add := func(name string, off query.Rules) {
		s.engines = append(s.engines, query.New(&query.Options{Now: fixedNow, Disable: off}))
		s.names = append(s.names, name)
	}
	add("all rules", 0)
	add("no rules", query.AllRules)
	for i, name := range query.RuleNames() {
		add("without "+name, query.Rules(1)<<i)
	}
	return s
}

func (s *script) plan(text string) string {
	p, err := s.engines[0].Prepare(text, s.g)
	if err != nil {
		return showError(err)
	}
	for i, e := range s.engines[1:] {
		if other, err := e.Prepare(text, s.g); err == nil && other.String() != p.String() {
			s.shown[s.names[i+1]]++
		}
	}
	return p.String()
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	sorted := d.HasArg("sorted")
	params := map[string]value.Value{}
	for _, a := range d.CmdArgs {
		if a.Key != "sorted" {
			params[a.Key] = literal(t, a.Vals[0])
		}
	}
	var first string
	var after *model.Graph
	for i, e := range s.engines {
		g := s.g.Clone()
		out := runOn(e, g, d.Input, params, sorted)
		if i == 0 {
			first, after = out, g
			continue
		}
		other := out
		want := first
		if !strings.Contains(strings.ToUpper(d.Input), "ORDER BY") {
			want, other = sortLines(want), sortLines(other)
		}
		if want != other {
			t.Errorf("%s: %s\nwith all rules:\n%s\n%s:\n%s", d.Pos, d.Input, first, s.names[i], out)
		}
	}
	if !strings.HasPrefix(first, "error") {
		s.g = after
	}
	return first
}

// literal evaluates the text of a parameter.
func literal(t *testing.T, text string) value.Value {
	e := query.New(nil)
	p, err := e.Prepare("RETURN "+text+" AS v", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(context.Background(), model.New(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Rows[0][0]
}

func runOn(e *query.Engine, g *model.Graph, text string, params map[string]value.Value, sorted bool) string {
	p, err := e.Prepare(text, g)
	if err != nil {
		return showError(err)
	}
	res, err := p.Run(context.Background(), g, params, &query.RunOptions{Seed: 1})
	if err != nil {
		return showError(err)
	}
	return show(res, sorted)
}

func showError(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return fmt.Sprintf("error at %s: %s\n", f.Phase, f.Error())
	}
	return "error: " + err.Error() + "\n"
}

func show(res *result.Result, sorted bool) string {
	var b strings.Builder
	if len(res.Columns) > 0 {
		fmt.Fprintln(&b, strings.Join(res.Columns, " | "))
	}
	var lines []string
	for _, row := range res.Rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	if sorted {
		sort.Strings(lines)
	}
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	b.WriteString(showCounters(res.Counters))
	if b.Len() == 0 {
		return "(nothing)\n"
	}
	return b.String()
}

func showCounters(c result.Counters) string {
	var out []string
	for _, x := range []struct {
		name string
		n    int64
	}{
		{"+nodes", c.NodesCreated},
		{"-nodes", c.NodesDeleted},
		{"+relationships", c.EdgesCreated},
		{"-relationships", c.EdgesDeleted},
		{"+properties", c.PropertiesSet},
		{"-properties", c.PropertiesRemoved},
		{"+labels", c.LabelsAdded},
		{"-labels", c.LabelsRemoved},
		{"+indexes", c.IndexesAdded},
		{"-indexes", c.IndexesRemoved},
		{"+constraints", c.ConstraintsAdded},
		{"-constraints", c.ConstraintsRemoved},
		{"~vocabulary", c.VocabularyChanges},
	} {
		if x.n != 0 {
			out = append(out, fmt.Sprintf("%s %d", x.name, x.n))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "[" + strings.Join(out, ", ") + "]\n"
}

func sortLines(s string) string {
	lines := strings.Split(s, "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
