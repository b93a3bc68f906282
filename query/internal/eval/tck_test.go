package eval_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"engram/graph/value"
	"engram/query/internal/fault"
)

// tckDir is the folder of openCypher TCK features: ENGRAM_TCK, or what lies
// beside the module.
func tckDir(t *testing.T) string {
	dir := os.Getenv("ENGRAM_TCK")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "tck")
	}
	dir = filepath.Join(dir, "features", "expressions")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no openCypher TCK: %v; set ENGRAM_TCK to a folder with features/", err)
	}
	return dir
}

// TestTCKExpressions runs the scenarios of the TCK that need no graph. The whole
// TCK is run over the whole engine elsewhere; here a wrong value is found
// without planner and store in between.
func TestTCKExpressions(t *testing.T) {
	dir := tckDir(t)
	ran, beyond := 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".feature") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		ids := (&messages.Incrementing{}).NewId
		doc, err := gherkin.ParseGherkinDocument(f, ids)
		if err != nil {
			return err
		}
		for i, p := range gherkin.Pickles(*doc, filepath.Base(path), ids) {
			err := scenario(t, p)
			switch {
			case errors.Is(err, errBeyond):
				beyond++
			case err != nil:
				t.Errorf("%s #%d %s: %v", filepath.Base(path), i, p.Name, err)
				ran++
			default:
				ran++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d scenarios ran, %d need a graph", ran, beyond)
	if ran == 0 {
		t.Error("no scenario ran")
	}
}

func scenario(t *testing.T, p *messages.Pickle) error {
	env, _ := newEnv(t)
	env.Params = map[string]value.Value{}
	var columns []string
	var rows [][]value.Value
	var failed error
	for _, step := range p.Steps {
		switch text := step.Text; {
		case text == "any graph", text == "an empty graph", strings.HasPrefix(text, "no side effects"):
		case text == "parameters are:":
			for _, row := range step.Argument.DataTable.Rows {
				v, err := eval1(env, row.Cells[1].Value)
				if err != nil {
					return fmt.Errorf("parameter: %w", err)
				}
				env.Params[row.Cells[0].Value] = v
			}
		case text == "executing query:":
			columns, rows, failed = run(env, step.Argument.DocString.Content)
			if errors.Is(failed, errBeyond) || noGraphHere(failed) {
				return errBeyond
			}
		case strings.HasPrefix(text, "the result should be"):
			if failed != nil {
				return failed
			}
			return compareTable(step.Argument.DataTable, text, columns, rows)
		case strings.Contains(text, "should be raised at"):
			return compareError(text, failed)
		default:
			return errBeyond
		}
	}
	return nil
}

// noGraphHere tells errors of statements that need more than this test has.
func noGraphHere(err error) bool {
	f := fault.As(err)
	return f != nil && f.Type == fault.NotSupported
}

func compareError(text string, failed error) error {
	f := fault.As(failed)
	if f == nil {
		return fmt.Errorf("want %s, got %v", text, failed)
	}
	got := fmt.Sprintf("a %s should be raised at %s: %s", f.Type, f.Phase, f.Detail)
	want := strings.Replace(text, "any time", f.Phase.String(), 1)
	want = strings.Replace(want, ": *", ": "+f.Detail, 1)
	if strings.Replace(got, "a ", "", 1) != strings.Replace(strings.Replace(want, "an ", "", 1), "a ", "", 1) {
		return fmt.Errorf("want %s, got %v", text, failed)
	}
	return nil
}

// compareTable compares rows with a table of values written as expressions.
func compareTable(table *messages.PickleTable, how string, columns []string, rows [][]value.Value) error {
	env, _ := newEnv(&testing.T{})
	var want, got []string
	for i, row := range table.Rows {
		var cells []string
		for _, cell := range row.Cells {
			if i == 0 {
				continue
			}
			if cell.Value == "NaN" {
				cell.Value = "0.0 / 0"
			}
			v, err := eval1(env, cell.Value)
			if err != nil {
				return errBeyond // nodes, relationships and paths
			}
			cells = append(cells, cellText(v, how))
		}
		if i > 0 {
			want = append(want, strings.Join(cells, " | "))
		}
	}
	for i, cell := range table.Rows[0].Cells {
		if i >= len(columns) || columns[i] != cell.Value {
			return fmt.Errorf("columns %q, want %v", columns, cell.Value)
		}
	}
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			cells = append(cells, cellText(v, how))
		}
		got = append(got, strings.Join(cells, " | "))
	}
	if !strings.Contains(how, "in order") {
		sort.Strings(want)
		sort.Strings(got)
	}
	if strings.Join(want, "\n") != strings.Join(got, "\n") {
		return fmt.Errorf("\n got %q\nwant %q", got, want)
	}
	return nil
}

func cellText(v value.Value, how string) string {
	if strings.Contains(how, "ignoring element order") && v.Kind() == value.KindList {
		l := append([]value.Value(nil), v.AsList()...)
		sort.Slice(l, func(i, j int) bool { return value.Order(l[i], l[j]) < 0 })
		v = value.List(l)
	}
	if v.Kind() == value.KindFloat && v.AsFloat() == 0 {
		v = value.Float(0) // floats are compared as numbers: 0.0 is -0.0
	}
	return v.String()
}
