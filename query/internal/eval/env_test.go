package eval_test

import (
	"errors"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// A name that a statement interns itself is seen by the reads that follow.
func TestNameBecomesKnown(t *testing.T) {
	env, g := peopleEnv(t, 3)
	f, err := eval.Compile(prop(slot(0), "mood"))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f(env, 1); err != nil || !v.IsNull() {
		t.Fatalf("got %v, %v before the property is there", v, err)
	}
	key, err := g.InternKey("mood")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.SetNodeProp(env.Cols[0][1].NodeID(), key, value.String("good")); err != nil {
		t.Fatal(err)
	}
	if v, err := f(env, 1); err != nil || v.AsString() != "good" {
		t.Errorf("got %v, %v after it was set", v, err)
	}
}

// More names than the cache has places: collisions must not mix names up.
func TestManyNames(t *testing.T) {
	env, g := peopleEnv(t, 1)
	id := env.Cols[0][0].NodeID()
	var fs []eval.Fn
	for i := range 300 {
		name := "k" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		key, err := g.InternKey(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.SetNodeProp(id, key, value.Int(int64(i))); err != nil {
			t.Fatal(err)
		}
		f, err := eval.Compile(prop(slot(0), name))
		if err != nil {
			t.Fatal(err)
		}
		fs = append(fs, f)
	}
	for range 2 {
		for i, f := range fs {
			if v, err := f(env, 0); err != nil || v.AsInt() != int64(i) {
				t.Fatalf("property %d is %v, %v", i, v, err)
			}
		}
	}
}

type runner struct {
	kinds []bound.SubqueryKind
	args  [][]value.Value
}

func (r *runner) RunSubquery(_ *eval.Env, q *bound.Subquery, args []value.Value) (value.Value, error) {
	r.kinds = append(r.kinds, q.Kind)
	r.args = append(r.args, append([]value.Value(nil), args...))
	return value.Int(int64(len(args))), nil
}

func TestSubqueryGetsItsArguments(t *testing.T) {
	env, _ := peopleEnv(t, 2)
	r := &runner{}
	env.Runner = r
	sub := &bound.Subquery{Kind: bound.Count, Outer: []bound.Expr{slot(1), constant(value.String("k"))}, Inner: []int{0, 1}}
	// Inside a call's arguments, so that the scratch stack is in use.
	f, err := eval.Compile(&bound.Call{Name: "coalesce", Args: []bound.Expr{
		&bound.Call{Name: "atan2", Args: []bound.Expr{constant(value.Null), sub}},
		binary(syntax.OpAdd, sub, slot(1)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := f(env, 1)
	if err != nil || v.AsInt() != 3 {
		t.Fatalf("got %v, %v, want 3", v, err)
	}
	for i, args := range r.args {
		if len(args) != 2 || args[0].AsInt() != 1 || args[1].AsString() != "k" || r.kinds[i] != bound.Count {
			t.Errorf("call %d: %v %v", i, r.kinds[i], args)
		}
	}
	if len(r.args) != 2 {
		t.Errorf("ran %d times, want 2", len(r.args))
	}
}

func TestLoopsAskForSteps(t *testing.T) {
	stop := errors.New("stop")
	for _, text := range []string{
		"size([x IN range(1, 100000) | x])", "reduce(a = 0, x IN range(1, 100000) | x)",
		"all(x IN range(1, 100000) WHERE x > 0)",
	} {
		env, _ := newEnv(t)
		steps := 0
		env.Step = func(n int) error {
			steps += n
			if steps >= 150_000 {
				return stop
			}
			return nil
		}
		if _, err := eval1(env, text); !errors.Is(err, stop) {
			t.Errorf("%s was not stopped: %v after %d steps", text, err, steps)
		}
	}
}

func TestMemoryIsAskedFor(t *testing.T) {
	full := fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted", "full")
	for _, text := range []string{
		"range(1, $int) + 1", "$str + $str", "[x IN $list | x]", "[$int, $str]", "{a: $int}",
	} {
		env, _ := newEnv(t)
		asked := int64(0)
		env.Grow = func(n int64) error { asked += max(n, 0); return full }
		if _, err := eval1(env, text); !errors.Is(err, full) || asked <= 0 {
			t.Errorf("%s took memory without asking: %v", text, err)
		}
	}
}

func TestDeepExpressionIsRefused(t *testing.T) {
	e := constant(value.Bool(true))
	for range 200_000 {
		e = &bound.Unary{Op: syntax.OpNot, E: e}
	}
	for name, compile := range map[string]func() error{
		"row":    func() error { _, err := eval.Compile(e); return err },
		"column": func() error { _, err := eval.CompileColumn(e); return err },
		"filter": func() error { _, err := eval.CompileFilter(e); return err },
	} {
		if f := fault.As(compile()); f == nil || f.Type != fault.ResourceExhausted {
			t.Errorf("%s: got %v", name, f)
		}
	}
}

func TestResetForgets(t *testing.T) {
	env, _ := newEnv(t)
	if _, err := eval1(env, "[x IN $list | x + 1]"); err != nil {
		t.Fatal(err)
	}
	env.Reset()
	if env.Params != nil || env.Reader != nil || env.Cols != nil || env.Runner != nil {
		t.Errorf("Reset kept %+v", env)
	}
	for _, v := range env.Locals {
		if !v.IsNull() {
			t.Errorf("Reset kept the local %v", v)
		}
	}
}

// What an expression made for one row is given back when the next row needs it.
func TestMemoryIsGivenBack(t *testing.T) {
	const row = 1000 * 24
	for text, most := range map[string]int64{
		"range(1, 1000)":       2 * row,
		"size(range(1, 1000))": row,
		"size([x IN range(1, 1000) | size(range(1, 1000))])":            4 * row,
		"all(x IN range(1, 1000) WHERE size(range(1, 1000) + x) > 0)":   4 * row,
		"reduce(a = 0, x IN range(1, 1000) | a + size(range(1, 1000)))": 4 * row,
	} {
		f, held, high := compileText(t, text), int64(0), int64(0)
		env, _ := newEnv(t)
		env.Grow = func(n int64) error {
			held += n
			high = max(high, held)
			return nil
		}
		for range 5 {
			if _, err := f(env, 0); err != nil {
				t.Fatal(err)
			}
		}
		if held < 0 || high > most || high < row {
			t.Errorf("%s held up to %d bytes, want %d to %d; %d at the end", text, high, row, most, held)
		}
	}
}

// compileText compiles an expression given as text. It stands beside a
// parameter, so that it isn't folded as a whole.
func compileText(t *testing.T, text string) eval.Fn {
	t.Helper()
	tree, err := syntax.Parse("RETURN " + strings.ReplaceAll(text, "1000)", "$int + 993)"))
	if err != nil {
		t.Fatal(err)
	}
	stmt, err := bind.Bind(tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := eval.Compile(stmt.Query.Parts[0].Clauses[0].(*bound.Project).Items[0].Expr)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Matching cannot be interrupted, so what would take too long is refused.
func TestLongMatchIsRefused(t *testing.T) {
	env, _ := newEnv(t)
	env.Params["str"] = value.String(strings.Repeat("a", 1<<20))
	for text, want := range map[string]bool{
		"$str =~ 'a*'":                                    true,
		"$str =~ '(a|aa)*b'":                              true,
		"$str =~ '(a{1,30}){1,30}b'":                      false,
		"$str =~ 'a?" + strings.Repeat("a?", 2000) + "b'": false,
	} {
		_, err := eval1(env, text)
		f := fault.As(err)
		if want && err != nil || !want && (f == nil || f.Type != fault.ResourceExhausted) {
			t.Errorf("%.40s: got %v", text, err)
		}
	}
	steps := 0
	env.Step = func(n int) error { steps += n; return nil }
	if _, err := eval1(env, "$str =~ 'a*'"); err != nil || steps < 1<<20/256 {
		t.Errorf("a long match counted %d steps, %v", steps, err)
	}
}
