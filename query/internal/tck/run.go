package tck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/result"
)

// Session runs statements on a graph that is empty at first. An error about a
// statement has a *fault.Error in its chain.
type Session interface {
	Run(ctx context.Context, text string, params map[string]value.Value) (*result.Result, error)
	// Declare makes a procedure known to the statements that follow.
	Declare(Procedure) error
}

// Failure says why a scenario failed.
type Failure struct {
	Reason string // one of a few, for counting
	Text   string // what was wanted and what was there
}

func (f *Failure) Error() string { return f.Reason + ": " + f.Text }

func failf(reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// run is one scenario under way.
type run struct {
	graphs  string // folder of the named graphs
	session Session
	params  map[string]value.Value
	result  *result.Result // of the last query
	err     error          // of the last query
	before  *state
	effects effects // by looking at the graph
	counted effects // by the statement's own counters
}

// Run runs s on an empty session. Graphs is the folder of the named graphs. It
// returns nil when the scenario passes.
func Run(ctx context.Context, s *Scenario, session Session, graphs string) (failure *Failure) {
	r := &run{graphs: graphs, session: session}
	defer func() {
		if p := recover(); p != nil {
			failure = failf("panic", "%v", p)
		}
	}()
	observed := slices.ContainsFunc(s.Steps, func(step Step) bool { return strings.Contains(step.Text, "side effects") })
	for _, step := range s.Steps {
		if err := r.step(ctx, step, observed); err != nil {
			var f *Failure
			if errors.As(err, &f) {
				return f
			}
			return failf("harness", "%v", err)
		}
	}
	if r.err != nil {
		return unexpectedError(r.err)
	}
	return nil
}

var raised = regexp.MustCompile(`^an? (\w+) should be raised at (compile time|runtime|any time): (\S+)$`)

// step takes one step.
func (r *run) step(ctx context.Context, step Step, observed bool) error {
	text := step.Text
	switch {
	case text == "any graph", text == "an empty graph":
		return nil
	case strings.HasSuffix(text, " graph") && strings.HasPrefix(text, "the "):
		return r.load(ctx, strings.TrimSuffix(strings.TrimPrefix(text, "the "), " graph"))
	case text == "having executed:":
		return r.setUp(ctx, step.Doc)
	case text == "parameters are:":
		return r.parameters(step.Table)
	case strings.HasPrefix(text, "there exists a procedure "):
		p, err := parseProcedure(strings.TrimPrefix(text, "there exists a procedure "), step.Table)
		if err != nil {
			return err
		}
		return r.session.Declare(p)
	case text == "executing query:":
		return r.execute(ctx, step.Doc, observed)
	case text == "executing control query:":
		return r.execute(ctx, step.Doc, false)
	case strings.HasPrefix(text, "the result should be"):
		return r.check(text, step.Table)
	case text == "no side effects":
		return r.checkEffects(nil)
	case text == "the side effects should be:":
		return r.checkEffects(step.Table)
	}
	if m := raised.FindStringSubmatch(text); m != nil {
		return r.checkError(m[1], m[2], m[3])
	}
	return fmt.Errorf("unknown step %q", text)
}

// load runs the script of a named graph.
func (r *run) load(ctx context.Context, name string) error {
	text, err := os.ReadFile(filepath.Join(r.graphs, name, name+".cypher"))
	if err != nil {
		return err
	}
	return r.setUp(ctx, string(text))
}

// setUp runs a statement that has to succeed.
func (r *run) setUp(ctx context.Context, text string) error {
	if _, err := r.session.Run(ctx, text, nil); err != nil {
		f := unexpectedError(err)
		f.Text = "in the setup: " + f.Text
		return f
	}
	return nil
}

func (r *run) parameters(table [][]string) error {
	r.params = map[string]value.Value{}
	for _, row := range table {
		if len(row) != 2 {
			return fmt.Errorf("a parameter has a name and a value, not %q", row)
		}
		c, err := parseCell(row[1])
		if err != nil {
			return err
		}
		if r.params[row[0]], err = literal(c); err != nil {
			return err
		}
	}
	return nil
}

// execute runs a query whose outcome later steps look at.
func (r *run) execute(ctx context.Context, text string, observed bool) error {
	if r.err != nil {
		return unexpectedError(r.err)
	}
	var err error
	if observed {
		if r.before, err = observe(ctx, r.session); err != nil {
			return failf("side effects not observed", "%v", err)
		}
	}
	r.result, r.err = r.session.Run(ctx, text, r.params)
	if r.err != nil || !observed {
		return nil
	}
	after, err := observe(ctx, r.session)
	if err != nil {
		return failf("side effects not observed", "%v", err)
	}
	r.effects, r.counted = after.since(r.before), r.result.Counters
	return nil
}

// check compares the result with a table.
func (r *run) check(text string, table [][]string) error {
	if r.err != nil {
		return unexpectedError(r.err)
	}
	if text == "the result should be empty" {
		if len(r.result.Rows) > 0 {
			return failf("wrong rows", "want none, got\n%s", showRows(r.result.Rows))
		}
		return nil
	}
	m := matcher{anyOrder: strings.Contains(text, "ignoring element order for lists")}
	ordered := strings.Contains(text, ", in order")
	if len(table) == 0 {
		return fmt.Errorf("no table behind %q", text)
	}
	if !slices.Equal(table[0], r.result.Columns) {
		return failf("wrong columns", "want %q, got %q", table[0], r.result.Columns)
	}
	var want [][]cell
	for _, row := range table[1:] {
		cells := make([]cell, len(row))
		for i, text := range row {
			c, err := parseCell(text)
			if err != nil {
				return err
			}
			cells[i] = c
		}
		want = append(want, cells)
	}
	if m.rows(want, r.result.Rows, ordered) {
		return nil
	}
	reason := "wrong rows"
	if ordered && m.rows(want, r.result.Rows, false) {
		reason = "wrong order"
	}
	return failf(reason, "want\n%sgot\n%s", showTable(table[1:]), showRows(r.result.Rows))
}

// checkEffects compares what changed, both as seen in the graph and as counted.
func (r *run) checkEffects(table [][]string) error {
	if r.err != nil {
		return unexpectedError(r.err)
	}
	want, err := parseEffects(table)
	if err != nil {
		return err
	}
	if r.effects != want {
		return failf("wrong side effects", "want %+v, got %+v", want, r.effects)
	}
	if r.counted != want {
		return failf("wrong counters", "want %+v, got %+v", want, r.counted)
	}
	return nil
}

// checkError compares the error that was raised, and is done with it.
func (r *run) checkError(typ, phase, detail string) error {
	err := r.err
	if err == nil {
		return failf("no error", "want %s at %s: %s, got\n%s", typ, phase, detail, showRows(r.result.Rows))
	}
	f := fault.As(err)
	if f == nil || f.Type == fault.NotSupported {
		return unexpectedError(err)
	}
	if string(f.Type) != typ || phase != "any time" && f.Phase.String() != phase || detail != "*" && f.Detail != detail {
		return failf("wrong error", "want %s at %s: %s, got %s at %s: %s (%s)",
			typ, phase, detail, f.Type, f.Phase, f.Detail, f.Message)
	}
	r.err = nil
	return nil
}

// unexpectedError is the failure for an error that was not asked for.
func unexpectedError(err error) *Failure {
	f := fault.As(err)
	switch {
	case f == nil:
		return failf("internal error", "%v", err)
	case f.Type == fault.NotSupported:
		return failf("not supported", "%v", err)
	}
	return failf("unexpected "+string(f.Type), "%v", err)
}

func showRows(rows [][]value.Value) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("  |")
		for _, v := range row {
			b.WriteString(" " + v.String() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func showTable(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("  | " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}
