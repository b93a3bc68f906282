package eval_test

import (
	"testing"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/syntax"
)

// flatReader answers property reads from an array, so that benchmarks measure
// evaluation and not the model graph's maps.
type flatReader struct {
	access.Reader
	ages []value.Value
}

func (r *flatReader) SchemaVersion() uint64                         { return 1 }
func (r *flatReader) Key(string) (value.KeyID, bool)                { return 1, true }
func (r *flatReader) Label(string) (value.LabelID, bool)            { return 1, true }
func (r *flatReader) NodeExists(value.NodeID) bool                  { return true }
func (r *flatReader) HasLabel(n value.NodeID, _ value.LabelID) bool { return n%2 == 0 }
func (r *flatReader) NodeProp(n value.NodeID, _ value.KeyID) (value.Value, error) {
	return r.ages[n-1], nil
}

func (r *flatReader) GatherNodeProp(ids []value.NodeID, _ value.KeyID, out []value.Value) error {
	for i, id := range ids {
		out[i] = r.ages[id-1]
	}
	return nil
}

func benchEnv() *eval.Env {
	r := &flatReader{}
	nodes, names := make([]value.Value, batch.Size), make([]value.Value, batch.Size)
	for i := range nodes {
		nodes[i] = value.NodeRef(value.NodeID(i + 1))
		names[i] = value.String([]string{"ann", "bob", "cy"}[i%3])
		r.ages = append(r.ages, value.Int(int64(i%90)))
	}
	env := &eval.Env{Cols: [][]value.Value{nodes, names}, Params: map[string]value.Value{"x": value.Int(40)}}
	env.Reader, env.ReadOnly = r, true
	return env
}

// BenchmarkRow evaluates one row; ns/op is for a row.
func BenchmarkRow(b *testing.B) {
	age := prop(slot(0), "age")
	for name, e := range map[string]bound.Expr{
		"slot":        slot(0),
		"prop":        age,
		"prop<const":  binary(syntax.OpLt, age, constant(value.Int(40))),
		"prop<param":  binary(syntax.OpLt, age, &bound.Param{Name: "x"}),
		"string=":     binary(syntax.OpEq, slot(1), constant(value.String("bob"))),
		"and":         binary(syntax.OpAnd, binary(syntax.OpGe, age, constant(value.Int(20))), binary(syntax.OpLt, age, constant(value.Int(40)))),
		"arithmetic":  binary(syntax.OpMod, binary(syntax.OpAdd, age, constant(value.Int(3))), constant(value.Int(7))),
		"label":       &bound.HasLabels{E: slot(0), Labels: &syntax.LabelName{Name: syntax.Name{Text: "A"}}},
		"call":        &bound.Call{Name: "abs", Args: []bound.Expr{age}},
		"in":          binary(syntax.OpIn, age, constant(value.List(manyInts(20)))),
		"starts with": binary(syntax.OpStartsWith, slot(1), constant(value.String("b"))),
	} {
		b.Run(name, func(b *testing.B) {
			env := benchEnv()
			f, err := eval.Compile(e)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := f(env, i%batch.Size); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func manyInts(n int) []value.Value {
	out := make([]value.Value, n)
	for i := range out {
		out[i] = value.Int(int64(i * 3))
	}
	return out
}

// BenchmarkFilter filters a full batch of 1,024 rows; ns/op is for the batch.
func BenchmarkFilter(b *testing.B) {
	age := prop(slot(0), "age")
	for name, e := range map[string]bound.Expr{
		"prop<const": binary(syntax.OpLt, age, constant(value.Int(40))),
		"and":        binary(syntax.OpAnd, binary(syntax.OpGe, age, constant(value.Int(20))), binary(syntax.OpLt, age, constant(value.Int(40)))),
		"string=":    binary(syntax.OpEq, slot(1), constant(value.String("bob"))),
	} {
		b.Run(name, func(b *testing.B) {
			env := benchEnv()
			f, err := eval.CompileFilter(e)
			if err != nil {
				b.Fatal(err)
			}
			sel := make([]int, batch.Size)
			b.ReportAllocs()
			for b.Loop() {
				for i := range sel {
					sel[i] = i
				}
				if _, err := f(env, sel); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Evaluation on the hot path must not allocate.
func TestHotPathDoesNotAllocate(t *testing.T) {
	age := prop(slot(0), "age")
	for name, e := range map[string]bound.Expr{
		"prop":       age,
		"comparison": binary(syntax.OpLt, age, &bound.Param{Name: "x"}),
		"and":        binary(syntax.OpAnd, binary(syntax.OpGe, age, constant(value.Int(20))), binary(syntax.OpEq, slot(1), constant(value.String("bob")))),
		"call":       &bound.Call{Name: "abs", Args: []bound.Expr{age}},
		"in":         binary(syntax.OpIn, age, constant(value.List(manyInts(20)))),
		"label":      &bound.HasLabels{E: slot(0), Labels: &syntax.LabelName{Name: syntax.Name{Text: "A"}}},
	} {
		env := benchEnv()
		f, err := eval.Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		column, err := eval.CompileColumn(e)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := eval.CompileFilter(&bound.IsNull{E: e})
		if err != nil {
			t.Fatal(err)
		}
		out, sel := make([]value.Value, batch.Size), make([]int, 8)
		got := testing.AllocsPerRun(100, func() {
			_, _ = f(env, 7)
			_ = column(env, batch.Size, out)
			_, _ = filter(env, sel)
		})
		if got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}
