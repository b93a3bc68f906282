package eval_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/access/model"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

func slot(i int) bound.Expr { return &bound.Slot{Index: i} }

func constant(v value.Value) bound.Expr { return &bound.Const{Value: v} }

func prop(e bound.Expr, key string) bound.Expr { return &bound.Prop{E: e, Key: key} }

func binary(op syntax.Op, l, r bound.Expr) bound.Expr { return &bound.Binary{Op: op, L: l, R: r} }

// peopleEnv is n nodes in slot 0, of which every third has an age, and their
// numbers in slot 1.
func peopleEnv(t testing.TB, n int) (*eval.Env, *model.Graph) {
	g := model.New()
	age, err := g.InternKey("age")
	if err != nil {
		t.Fatal(err)
	}
	nodes, numbers := make([]value.Value, n), make([]value.Value, n)
	for i := range n {
		var props []access.Prop
		if i%3 == 0 {
			props = []access.Prop{{Key: age, Value: value.Int(int64(i % 50))}}
		}
		id, err := g.CreateNode(nil, props)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i], numbers[i] = value.NodeRef(id), value.Int(int64(i))
	}
	env := &eval.Env{Cols: [][]value.Value{nodes, numbers, nil}, Params: map[string]value.Value{"x": value.Int(9)}}
	env.Reader = g
	return env, g
}

// rowByRow is what columns and filters must agree with.
func rowByRow(t interface{ Fatal(...any) }, env *eval.Env, e bound.Expr, n int) ([]value.Value, error) {
	f, err := eval.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]value.Value, n)
	for i := range out {
		if out[i], err = f(env, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// randomExpr draws expressions over the slots of a test batch.
func randomExpr(depth int) *rapid.Generator[bound.Expr] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 3), slot),
		rapid.Map(rapid.Int64Range(-2, 12), func(i int64) bound.Expr { return constant(value.Int(i)) }),
		rapid.SampledFrom([]bound.Expr{
			constant(value.Null), constant(value.Bool(true)), constant(value.String("a")), &bound.Param{Name: "x"},
			prop(slot(0), "age"), prop(slot(0), "none"), prop(slot(1), "age"), prop(slot(2), "age"),
			&bound.HasLabels{E: slot(0), Labels: &syntax.LabelName{Name: syntax.Name{Text: "A"}}},
		}))
	if depth == 0 {
		return leaf
	}
	inner := randomExpr(depth - 1)
	ops := rapid.SampledFrom([]syntax.Op{
		syntax.OpAnd, syntax.OpOr, syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe, syntax.OpGt, syntax.OpGe,
		syntax.OpAdd, syntax.OpMul, syntax.OpDiv, syntax.OpIn,
	})
	return rapid.OneOf(leaf,
		rapid.Custom(func(t *rapid.T) bound.Expr {
			return binary(ops.Draw(t, "op"), inner.Draw(t, "l"), inner.Draw(t, "r"))
		}),
		rapid.Custom(func(t *rapid.T) bound.Expr {
			return &bound.Unary{Op: syntax.OpNot, E: binary(syntax.OpGe, inner.Draw(t, "l"), inner.Draw(t, "r"))}
		}),
		rapid.Custom(func(t *rapid.T) bound.Expr {
			return &bound.List{Elems: []bound.Expr{inner.Draw(t, "a"), inner.Draw(t, "b")}}
		}),
		rapid.Custom(func(t *rapid.T) bound.Expr { return &bound.IsNull{E: inner.Draw(t, "e")} }))
}

func TestColumnsAgreeWithRows(t *testing.T) {
	const n = 20
	env, _ := peopleEnv(t, n)
	rapid.Check(t, func(t *rapid.T) {
		e := randomExpr(3).Draw(t, "e")
		want, wantErr := rowByRow(t, env, e, n)
		f, err := eval.CompileColumn(e)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]value.Value, n)
		for i := range got {
			got[i] = value.String("stale")
		}
		if err := f(env, n, got); (err != nil) != (wantErr != nil) {
			t.Fatalf("error %v, by rows %v", err, wantErr)
		}
		if wantErr == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %v, by rows %v", got, want)
		}
	})
}

func TestFiltersAgreeWithRows(t *testing.T) {
	const n = 20
	env, _ := peopleEnv(t, n)
	rapid.Check(t, func(t *rapid.T) {
		e := randomExpr(3).Draw(t, "e")
		values, wantErr := rowByRow(t, env, e, n)
		var sel, want []int
		for i := range n {
			if i%4 == 1 {
				continue
			}
			sel = append(sel, i)
			if wantErr != nil {
				continue
			}
			switch values[i].Kind() {
			case value.KindBool:
				if values[i].AsBool() {
					want = append(want, i)
				}
			case value.KindNull:
			default:
				wantErr = fmt.Errorf("not a boolean")
			}
		}
		f, err := eval.CompileFilter(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f(env, sel)
		// An error may lie in a row that is not selected, or behind an AND.
		if err != nil && wantErr == nil {
			t.Fatalf("error %v, by rows none", err)
		}
		if wantErr == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %v, by rows %v", got, want)
		}
	})
}

// Every comparison, with either side fixed, has a short way of its own.
func TestComparisonFilters(t *testing.T) {
	const n = 20
	env, _ := peopleEnv(t, n)
	for op := syntax.OpEq; op <= syntax.OpGe; op++ {
		for _, column := range []bound.Expr{slot(1), prop(slot(0), "age"), slot(2)} {
			for _, fixed := range []bound.Expr{constant(value.Int(9)), constant(value.Float(8.5)), &bound.Param{Name: "x"}, constant(value.Null)} {
				for _, e := range []bound.Expr{binary(op, column, fixed), binary(op, fixed, column)} {
					values, err := rowByRow(t, env, e, n)
					if err != nil {
						t.Fatal(err)
					}
					var want, sel []int
					for i, v := range values {
						sel = append(sel, i)
						if v.AsBool() {
							want = append(want, i)
						}
					}
					f, err := eval.CompileFilter(e)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := f(env, sel); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("operator %d: got %v, %v, by rows %v", op, got, err, want)
					}
				}
			}
		}
	}
}

func TestFoldKeepsMeaning(t *testing.T) {
	const n = 5
	env, _ := peopleEnv(t, n)
	rapid.Check(t, func(t *rapid.T) {
		e := randomExpr(4).Draw(t, "e")
		before := fmt.Sprintf("%#v", e)
		folded := eval.Fold(e)
		if after := fmt.Sprintf("%#v", e); after != before {
			t.Fatal("Fold changed its argument")
		}
		want, err1 := rowByRow(t, env, e, n)
		got, err2 := rowByRow(t, env, folded, n)
		if (err1 != nil) != (err2 != nil) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %v %v, want %v %v", got, err2, want, err1)
		}
	})
}

func TestFold(t *testing.T) {
	call := func(name string, args ...bound.Expr) bound.Expr { return &bound.Call{Name: name, Args: args} }
	one, zero, text := constant(value.Int(1)), constant(value.Int(0)), constant(value.String("2020-01-02"))
	for name, c := range map[string]struct {
		e    bound.Expr
		want string // "" when it must not be a constant
	}{
		"sum":            {binary(syntax.OpAdd, one, one), "2"},
		"list":           {&bound.List{Elems: []bound.Expr{one, binary(syntax.OpAdd, one, one)}}, "[1, 2]"},
		"pure":           {call("abs", one), "1"},
		"date from text": {call("date", text), "'2020-01-02'"},
		"date of now":    {call("date"), ""},
		"rand":           {call("rand"), ""},
		"error":          {binary(syntax.OpDiv, one, zero), ""},
		"too large":      {call("range", one, constant(value.Int(1_000_000))), ""},
		"parameter":      {&bound.Param{Name: "x"}, ""},
		"slot":           {slot(0), ""},
		"local":          {&bound.Local{Index: 0}, ""},
	} {
		v, ok := eval.Constant(c.e)
		if ok != (c.want != "") || ok && v.String() != c.want {
			t.Errorf("%s: got %v %v, want %q", name, v, ok, c.want)
		}
	}
	sub := &bound.Subquery{Outer: []bound.Expr{binary(syntax.OpAdd, one, one)}}
	if kept := eval.Fold(&bound.Unary{Op: syntax.OpNot, E: sub}).(*bound.Unary).E; kept != bound.Expr(sub) {
		t.Error("Fold replaced a subquery, by which its plan is found")
	}
	half := eval.Fold(binary(syntax.OpAdd, slot(0), binary(syntax.OpAdd, one, one)))
	if k, ok := half.(*bound.Binary).R.(*bound.Const); !ok || k.Value.AsInt() != 2 {
		t.Errorf("the constant half was not folded: %#v", half)
	}
}

// A deleted node has no properties to read, whichever way they are read.
func TestColumnSeesDeleted(t *testing.T) {
	env, g := peopleEnv(t, 5)
	if _, err := g.DeleteNode(env.Cols[0][1].NodeID(), true); err != nil {
		t.Fatal(err)
	}
	f, err := eval.CompileColumn(prop(slot(0), "age"))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]value.Value, 5)
	if got := fault.As(f(env, 5, out)); got == nil || got.Type != fault.EntityNotFound {
		t.Errorf("got %v, want EntityNotFound", got)
	}
	env.ReadOnly = true
	if err := f(env, 5, out); err != nil {
		t.Errorf("a read-only statement checked for deletion: %v", err)
	}
}
