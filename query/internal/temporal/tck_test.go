package temporal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"engram/graph/value"
)

// tckDir is where the openCypher TCK lies; see the test that uses it.
func tckDir() string {
	if dir := os.Getenv("ENGRAM_TCK"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "..", "shared", "tck")
}

// TestTCKTemporal evaluates the queries of the TCK's temporal features with a
// small evaluator of its own, so that this package is held to them without the
// language around it. ENGRAM_TCK names the folder that holds features/.
func TestTCKTemporal(t *testing.T) {
	dir := filepath.Join(tckDir(), "features", "expressions", "temporal")
	files, err := filepath.Glob(filepath.Join(dir, "*.feature"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no openCypher TCK at %s: set ENGRAM_TCK to a folder that holds features/", dir)
	}
	ran := 0
	for _, file := range files {
		for i, p := range pickles(t, file) {
			name := fmt.Sprintf("%s/%s/%d", filepath.Base(file), p.Name, i)
			t.Run(name, func(t *testing.T) { runPickle(t, p) })
			ran++
		}
	}
	if ran < 900 {
		t.Errorf("only %d scenarios found in %s", ran, dir)
	}
	t.Logf("%d scenarios", ran)
}

func pickles(t *testing.T, file string) []*messages.Pickle {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	next := 0
	newID := func() string { next++; return fmt.Sprint(next) }
	doc, err := gherkin.ParseGherkinDocument(f, newID)
	if err != nil {
		t.Fatal(err)
	}
	return gherkin.Pickles(*doc, file, newID)
}

var (
	createPattern = regexp.MustCompile(`^CREATE \((?::(\w+) )?(\{.*\})\)$`)
	matchPattern  = regexp.MustCompile(`\((\w+)(?:: ?(\w+))?\)`)
)

// runPickle knows the queries of these features: CREATE of single nodes with
// properties, and WITH, MATCH of such nodes and RETURN of expressions.
func runPickle(t *testing.T, p *messages.Pickle) {
	nodes := map[string]value.Value{}
	var names []string
	var row []value.Value
	for _, step := range p.Steps {
		var text string
		if step.Argument != nil && step.Argument.DocString != nil {
			text = strings.TrimSpace(step.Argument.DocString.Content)
		}
		switch {
		case strings.HasPrefix(text, "CREATE"):
			for _, line := range strings.Split(text, "\n") {
				m := createPattern.FindStringSubmatch(strings.TrimSpace(line))
				if m == nil {
					t.Fatalf("not understood: %s", line)
				}
				nodes[m[1]] = evaluate(t, m[2], nil)
			}
		case text != "":
			names, row = runQuery(t, text, nodes)
		case strings.Contains(step.Text, "result should be") && !strings.Contains(step.Text, "empty"):
			check(t, names, row, step.Argument.DataTable)
		}
	}
	if row == nil {
		t.Fatal("the scenario has no query that returns something")
	}
}

// runQuery evaluates a query of one row.
func runQuery(t *testing.T, text string, nodes map[string]value.Value) (names []string, row []value.Value) {
	t.Helper()
	env := map[string]value.Value{}
	clauses := regexp.MustCompile(`(?m)^\s*(WITH|MATCH|RETURN) `).FindAllStringIndex(text, -1)
	for i, at := range clauses {
		end := len(text)
		if i+1 < len(clauses) {
			end = clauses[i+1][0]
		}
		word, body, _ := strings.Cut(strings.TrimSpace(text[at[0]:end]), " ")
		if word == "MATCH" {
			for _, m := range matchPattern.FindAllStringSubmatch(body, -1) {
				env[m[1]] = nodes[m[2]]
			}
			continue
		}
		names, row = nil, nil
		for _, item := range splitTop(body) {
			expr, name, ok := strings.Cut(item, " AS ")
			if !ok {
				name = expr
			}
			v := evaluate(t, expr, env)
			names, row = append(names, strings.TrimSpace(name)), append(row, v)
		}
		for i, name := range names {
			env[name] = row[i]
		}
	}
	return names, row
}

// splitTop splits at the commas outside of any brackets.
func splitTop(text string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

func check(t *testing.T, names []string, row []value.Value, table *messages.PickleTable) {
	t.Helper()
	if len(table.Rows) != 2 || len(table.Rows[0].Cells) != len(row) {
		t.Fatalf("a table of %d rows and a result of %d columns", len(table.Rows), len(row))
	}
	for i, cell := range table.Rows[1].Cells {
		if got := row[i].String(); got != cell.Value {
			t.Errorf("%s is %s, want %s", names[i], got, cell.Value)
		}
	}
}
