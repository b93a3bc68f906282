package bind_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gherkin "github.com/cucumber/gherkin/go/v42"
	messages "github.com/cucumber/messages/go/v34"

	"engram/graph/value"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// TestBindsTheTCK parses and binds every query of the TCK. Those that must fail
// at compile time must do so with the type and detail that the TCK names, all
// others must bind, to the columns of the expected result.
func TestBindsTheTCK(t *testing.T) {
	root := tckRoot()
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the openCypher TCK is not at %s: set ENGRAM_TCK to a folder that holds features/", root)
	}
	passed, total := 0, 0
	for _, file := range featureFiles(t, root) {
		for i, p := range pickles(t, filepath.Join(root, file)) {
			total++
			if err := checkScenario(p); err != nil {
				t.Errorf("%s %s (%d): %v", file, p.Name, i, err)
				continue
			}
			passed++
		}
	}
	if total == 0 {
		t.Fatalf("no scenario found below %s", root)
	}
	t.Logf("tck: bound %d of %d", passed, total)
}

func tckRoot() string {
	if dir := os.Getenv("ENGRAM_TCK"); dir != "" {
		return filepath.Join(dir, "features")
	}
	return filepath.Join("..", "..", "..", "..", "shared", "tck", "features")
}

func featureFiles(t *testing.T, root string) []string {
	var out []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".feature") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pickles(t *testing.T, path string) []*messages.Pickle {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	id := func() string { n++; return fmt.Sprint(n) }
	doc, err := gherkin.ParseGherkinDocument(f, id)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return gherkin.Pickles(*doc, path, id)
}

var (
	raised    = regexp.MustCompile(`^an? (\w+) should be raised at (compile time|runtime|any time): (\S+)$`)
	signature = regexp.MustCompile(`^there exists a procedure ([\w.]+)\((.*?)\) :: \((.*?)\) ?:?$`)
)

// checkScenario binds the queries of a scenario and compares each outcome with
// what the steps behind it expect.
func checkScenario(p *messages.Pickle) error {
	procs := procedures{}
	var last outcome
	for _, step := range p.Steps {
		switch {
		case strings.HasPrefix(step.Text, "there exists a procedure"):
			if err := procs.define(step.Text); err != nil {
				return err
			}
		case step.Text == "having executed:", strings.HasPrefix(step.Text, "executing "):
			if err := last.check(); err != nil {
				return err
			}
			last = outcome{text: step.Argument.DocString.Content}
			last.stmt, last.err = parseAndBind(last.text, procs)
		case strings.HasPrefix(step.Text, "the result should be") && step.Argument != nil:
			for _, cell := range step.Argument.DataTable.Rows[0].Cells {
				last.columns = append(last.columns, cell.Value)
			}
		default:
			if m := raised.FindStringSubmatch(step.Text); m != nil {
				last.raised = m[1:]
			}
		}
	}
	return last.check()
}

// outcome is what came of a query, and what should have.
type outcome struct {
	text    string
	stmt    *bound.Statement
	err     error
	columns []string // nil: not checked
	raised  []string // type, phase, detail; nil: none
}

func (o *outcome) check() error {
	if o.text == "" {
		return nil
	}
	if err := o.compare(); err != nil {
		return fmt.Errorf("%q: %w", o.text, err)
	}
	return nil
}

func (o *outcome) compare() error {
	got := fault.As(o.err)
	mayBind := o.raised == nil || o.raised[1] != "compile time" ||
		o.raised[2] == "MissingParameter" // told by the parameters, which the binder doesn't see
	switch {
	case o.err != nil && got == nil:
		return fmt.Errorf("the error is no fault: %w", o.err)
	case o.err == nil && !mayBind:
		return fmt.Errorf("no error, want %s", o.raised)
	case o.err == nil && o.columns != nil && !slices.Equal(o.columns, o.stmt.Columns):
		return fmt.Errorf("columns %q, want %q", o.stmt.Columns, o.columns)
	case o.err == nil:
		return nil
	case o.raised == nil || o.raised[1] == "runtime":
		return o.err
	case string(got.Type) != o.raised[0] || o.raised[2] != "*" && got.Detail != o.raised[2]:
		return fmt.Errorf("got %w, want %s", o.err, o.raised)
	case got.Phase != fault.CompileTime:
		return fmt.Errorf("phase %v", got.Phase)
	case !got.Span.Known():
		return fmt.Errorf("the error has no place: %w", o.err)
	}
	return nil
}

func parseAndBind(text string, procs bind.Procedures) (*bound.Statement, error) {
	stmt, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return bind.Bind(stmt, &bind.Options{Procedures: procs})
}

// procedures are those that a scenario declares.
type procedures map[string]*bind.Procedure

// Lookup finds a procedure.
func (p procedures) Lookup(name string) (*bind.Procedure, bool) {
	proc, ok := p[name]
	return proc, ok
}

func (p procedures) define(step string) error {
	m := signature.FindStringSubmatch(step)
	if m == nil {
		return fmt.Errorf("can't read %q", step)
	}
	p[m[1]] = &bind.Procedure{Name: m[1], Args: fields(m[2]), Outputs: fields(m[3])}
	return nil
}

func fields(list string) []bind.Field {
	var out []bind.Field
	for _, part := range strings.Split(list, ",") {
		name, typ, ok := strings.Cut(part, "::")
		if !ok {
			continue
		}
		t := bound.Any
		switch strings.TrimSuffix(strings.TrimSpace(typ), "?") {
		case "STRING":
			t = bound.OneOf(value.KindString)
		case "INTEGER":
			t = bound.OneOf(value.KindInt)
		case "FLOAT":
			t = bound.OneOf(value.KindFloat)
		case "NUMBER":
			t = bound.OneOf(value.KindInt, value.KindFloat)
		case "BOOLEAN":
			t = bound.OneOf(value.KindBool)
		}
		out = append(out, bind.Field{Name: strings.TrimSpace(name), Type: t})
	}
	return out
}
