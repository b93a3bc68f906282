package tck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/result"
)

func str(s string) value.Value                { return value.String(s) }
func ints(list ...int64) value.Value          { return values(list, value.Int) }
func prop(k string, v value.Value) value.Prop { return value.Prop{Key: k, Value: v} }

func values[T any](list []T, f func(T) value.Value) value.Value {
	out := make([]value.Value, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return value.List(out)
}

func graph() (a, b, e value.Value) {
	a = value.OfNode(&value.Node{ID: 1, Labels: []string{"A", "B"}, Properties: []value.Prop{prop("k", str("v"))}})
	b = value.OfNode(&value.Node{ID: 2})
	e = value.OfEdge(&value.Edge{ID: 7, Type: "T", Src: 1, Dst: 2, Properties: []value.Prop{prop("w", value.Float(.5))}})
	return a, b, e
}

func TestMatch(t *testing.T) {
	a, b, e := graph()
	back := value.OfPath(&value.Path{Nodes: []value.Value{b, a}, Edges: []value.Value{e}})
	date, err := value.ParseDate("1984-10-11")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		cell     string
		got      value.Value
		want     bool
		anyOrder bool
	}{
		{"1", value.Int(1), true, false},
		{"1", value.Float(1), false, false},
		{"1.0", value.Int(1), false, false},
		{"1e2", value.Float(100), true, false},
		{"NaN", value.Float(math.NaN()), true, false},
		{"null", value.Null, true, false},
		{"null", value.Bool(false), false, false},
		{"true", value.Bool(true), true, false},
		{`'it\'s \\ n'`, str(`it's \ n`), true, false},
		{"'1984-10-11'", value.OfDate(date), true, false},
		{"'1'", value.Int(1), false, false},
		{"[1, 2]", ints(1, 2), true, false},
		{"[1, 2]", ints(2, 1), false, false},
		{"[1, 2]", ints(2, 1), true, true},
		{"[1, 1]", ints(1, 2), false, true},
		{"[[1, 2], []]", value.List([]value.Value{value.List(nil), ints(2, 1)}), true, true},
		{"{a: 1, b: null}", value.Map([]value.Prop{prop("b", value.Null), prop("a", value.Int(1))}), true, false},
		{"{a: 1}", value.Map([]value.Prop{prop("b", value.Null), prop("a", value.Int(1))}), false, false},
		{"{}", value.Map(nil), true, false},
		{"(:B:A {k: 'v'})", a, true, false},
		{"(:A {k: 'v'})", a, false, false},
		{"(:A:B)", a, false, false},
		{"()", b, true, false},
		{"[:T {w: 0.5}]", e, true, false},
		{"[:U {w: 0.5}]", e, false, false},
		{"<()<-[:T {w: 0.5}]-(:A:B {k: 'v'})>", back, true, false},
		{"<()-[:T {w: 0.5}]->(:A:B {k: 'v'})>", back, false, false},
		{"<()>", value.OfPath(&value.Path{Nodes: []value.Value{b}}), true, false},
	}
	for _, c := range cases {
		want, err := parseCell(c.cell)
		if err != nil {
			t.Errorf("%s: %v", c.cell, err)
			continue
		}
		if got := (matcher{c.anyOrder}).match(want, c.got); got != c.want {
			t.Errorf("match(%s, %s) = %v, want %v", c.cell, c.got, got, c.want)
		}
	}
	for _, bad := range []string{"", "[1", "{a 1}", "'x", "(:)", "<()-()>", "1 2", "[1 2]", "foo"} {
		if c, err := parseCell(bad); err == nil {
			t.Errorf("parseCell(%q) = %v, want an error", bad, c)
		}
	}
}

// fake answers with what the test put in.
type fake struct {
	answers    map[string]*result.Result
	errs       map[string]error
	nodes      [][][]value.Value // what MATCH (n) RETURN n yields, call by call
	procedures []Procedure
}

func (f *fake) Declare(p Procedure) error {
	f.procedures = append(f.procedures, p)
	return nil
}

func (f *fake) Run(_ context.Context, text string, params map[string]value.Value) (*result.Result, error) {
	switch text {
	case "MATCH (n) RETURN n":
		r := &result.Result{Columns: []string{"n"}}
		if len(f.nodes) > 0 {
			r.Rows = f.nodes[0]
			f.nodes = f.nodes[1:]
		}
		return r, nil
	case "MATCH ()-[r]->() RETURN r":
		return &result.Result{Columns: []string{"r"}}, nil
	case "PARAM":
		return &result.Result{Columns: []string{"p"}, Rows: [][]value.Value{{params["p"]}}}, nil
	case "PANIC":
		panic("boom")
	}
	if err := f.errs[text]; err != nil {
		return nil, err
	}
	if r := f.answers[text]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no answer to %q", text)
}

func TestRunIsStrict(t *testing.T) {
	a, b, _ := graph()
	made := &result.Result{Counters: result.Counters{NodesCreated: 1, LabelsAdded: 2, PropertiesSet: 1}}
	rows := func(vs ...value.Value) *result.Result {
		r := &result.Result{Columns: []string{"x"}}
		for _, v := range vs {
			r.Rows = append(r.Rows, []value.Value{v})
		}
		return r
	}
	f := func() *fake {
		return &fake{
			answers: map[string]*result.Result{"two": rows(value.Int(2), value.Int(1)), "make": made, "lie": {}, "none": {}},
			errs: map[string]error{
				"bad":     fmt.Errorf("engine: %w", fault.Syntax("UndefinedVariable", fault.Span{}, "x")),
				"late":    fault.AtRuntime(fault.TypeError, "InvalidArgumentType", "x"),
				"later":   fault.Unsupported(fault.Span{}, "LATER"),
				"foreign": errors.New("plumbing"),
			},
			nodes: [][][]value.Value{{{b}}, {{b}, {a}}},
		}
	}
	effects := "And the side effects should be:\n| +nodes | 1 |\n| +labels | 2 |\n| +properties | 1 |"
	cases := []struct{ query, then, want string }{
		{"two", "Then the result should be, in any order:\n| x |\n| 1 |\n| 2 |", ""},
		{"two", "Then the result should be, in order:\n| x |\n| 1 |\n| 2 |", "wrong order"},
		{"two", "Then the result should be, in order:\n| x |\n| 2 |\n| 1 |", ""},
		{"two", "Then the result should be, in any order:\n| y |\n| 1 |\n| 2 |", "wrong columns"},
		{"two", "Then the result should be, in any order:\n| x |\n| 1 |\n| 1 |", "wrong rows"},
		{"two", "Then the result should be empty", "wrong rows"},
		{"none", "Then the result should be empty", ""},
		{"make", "Then the result should be empty\n" + effects, ""},
		{"make", "Then the result should be empty\nAnd no side effects", "wrong side effects"},
		{"lie", "Then the result should be empty\n" + effects, "wrong counters"},
		{"bad", "Then a SyntaxError should be raised at compile time: UndefinedVariable", ""},
		{"bad", "Then a SyntaxError should be raised at any time: *", ""},
		{"bad", "Then a SyntaxError should be raised at runtime: UndefinedVariable", "wrong error"},
		{"bad", "Then a SyntaxError should be raised at compile time: UnexpectedSyntax", "wrong error"},
		{"bad", "Then a TypeError should be raised at compile time: UndefinedVariable", "wrong error"},
		{"late", "Then a TypeError should be raised at runtime: *", ""},
		{"two", "Then a TypeError should be raised at runtime: *", "no error"},
		{"bad", "Then the result should be empty", "unexpected SyntaxError"},
		{"bad", "And no side effects", "unexpected SyntaxError"},
		{"later", "Then a SyntaxError should be raised at compile time: *", "not supported"},
		{"later", "Then the result should be empty", "not supported"},
		{"foreign", "Then a SyntaxError should be raised at any time: *", "internal error"},
		{"PANIC", "Then the result should be empty", "panic"},
		{"PARAM", "Then the result should be, in any order:\n| p |\n| {a: [1, 'x']} |", ""},
		{"two", "Then the result should be a surprise", "harness"},
		{"two", "Then something else", "harness"},
	}
	for _, c := range cases {
		feature := "Feature: F\nScenario: S\nGiven any graph\nAnd parameters are:\n| p | {a: [1, 'x']} |\n" +
			"When executing query:\n\"\"\"\n" + c.query + "\n\"\"\"\n" + c.then + "\n"
		list, err := parseFeature("f.feature", feature)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if failure := Run(context.Background(), &list[0], f(), ""); failure != nil {
			got = failure.Reason
		}
		if got != c.want {
			t.Errorf("%s\n%s\ngot %q, want %q", c.query, c.then, got, c.want)
		}
	}
}

func TestProcedure(t *testing.T) {
	p, err := parseProcedure("a.b(x :: STRING?, y :: INTEGER) :: (z :: FLOAT?):",
		[][]string{{"x", "y", "z"}, {"'q'", "1", "0.5"}})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(p)
	if want := "{a.b [{x STRING?} {y INTEGER}] [{z FLOAT?}] [['q' 1 0.5]]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := parseProcedure("a.b", nil); err == nil {
		t.Error("a malformed signature is accepted")
	}
}

func TestLoadAndScore(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil {
		t.Error("a folder without scenarios is accepted")
	}
	text := "Feature: F\r\nBackground:\r\nGiven any graph\r\nScenario: S\r\nThen a\r\nScenario Outline: O\r\nThen <x>\r\nExamples:\r\n|x|\r\n|1|\r\n|2|\r\n"
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "X.feature"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var score Score
	var ids []string
	for i := range list {
		ids = append(ids, list[i].ID())
		if len(list[i].Steps) != 2 || list[i].Steps[0].Text != "any graph" {
			t.Errorf("steps of %s: %v", list[i].ID(), list[i].Steps)
		}
		var failure *Failure
		if i == 2 {
			failure = failf("wrong rows", "x")
		}
		score.Add(&list[i], failure)
	}
	if got, want := strings.Join(ids, ", "), "a/b/X.feature: S, a/b/X.feature: O #1, a/b/X.feature: O #2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got := score.String()
	for _, want := range []string{
		"tck: passed 2 of 3\n", "wrong rows", "failing\na/b/X.feature: O #2 — wrong rows\n",
		"a/b                                           2      1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
