package eval_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/access/model"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// errBeyond marks a statement that the small executor below doesn't run.
var errBeyond = errors.New("beyond the test executor")

// run executes a statement of WITH, UNWIND and RETURN clauses, row by row: just
// enough to evaluate expressions written as text.
func run(env *eval.Env, text string) (columns []string, rows [][]value.Value, err error) {
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	stmt, err := bind.Bind(tree, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(stmt.Query.Parts) != 1 {
		return nil, nil, errBeyond
	}
	q := stmt.Query.Parts[0]
	rows = [][]value.Value{make([]value.Value, q.Width)}
	for _, c := range q.Clauses {
		switch c := c.(type) {
		case *bound.Unwind:
			rows, err = unwind(env, c, rows)
		case *bound.Project:
			rows, err = project(env, c, rows)
		default:
			err = errBeyond
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for i, r := range rows {
		out := make([]value.Value, len(q.Out))
		for j, s := range q.Out {
			out[j] = r[s]
		}
		rows[i] = out
	}
	return stmt.Columns, rows, nil
}

// compute evaluates e on one row.
func compute(env *eval.Env, e bound.Expr, row []value.Value) (value.Value, error) {
	f, err := eval.Compile(e)
	if err != nil {
		return value.Null, err
	}
	env.Cols = env.Cols[:0]
	for i := range row {
		env.Cols = append(env.Cols, row[i:i+1])
	}
	return f(env, 0)
}

func unwind(env *eval.Env, c *bound.Unwind, rows [][]value.Value) (out [][]value.Value, err error) {
	for _, r := range rows {
		v, err := compute(env, c.List, r)
		if err != nil {
			return nil, err
		}
		elems := v.AsList()
		if v.Kind() != value.KindList && !v.IsNull() {
			elems = []value.Value{v}
		}
		for _, el := range elems {
			next := slices.Clone(r)
			next[c.Slot] = el
			out = append(out, next)
		}
	}
	return out, nil
}

func project(env *eval.Env, c *bound.Project, rows [][]value.Value) (out [][]value.Value, err error) {
	if c.Distinct || len(c.OrderBy) > 0 || c.Skip != nil || c.Limit != nil {
		return nil, errBeyond
	}
	if c.Aggregates {
		if rows, err = group(env, c, rows); err != nil {
			return nil, err
		}
	}
	for _, r := range rows {
		next := slices.Clone(r)
		for _, it := range c.Items {
			if next[it.Slot], err = compute(env, it.Expr, r); err != nil {
				return nil, err
			}
		}
		if c.Where != nil {
			v, err := compute(env, c.Where, next)
			if err != nil {
				return nil, err
			}
			if !v.AsBool() {
				continue
			}
		}
		out = append(out, next)
	}
	return out, nil
}

// bucket is one group of an aggregation.
type bucket struct {
	row  []value.Value
	aggs []fn.Aggregator
}

func newBucket(c *bound.Project, row []value.Value) *bucket {
	b := &bucket{row: row}
	for _, a := range c.Aggs {
		def, _ := fn.LookupAggregate(a.Name)
		agg := def.New()
		if a.Distinct {
			agg = fn.Distinct(agg)
		}
		b.aggs = append(b.aggs, agg)
	}
	return b
}

func group(env *eval.Env, c *bound.Project, rows [][]value.Value) ([][]value.Value, error) {
	var buckets []*bucket
	width := 0
	for _, a := range c.Aggs {
		width = max(width, a.Slot+1)
	}
	open := func(row []value.Value) *bucket {
		for _, b := range buckets {
			if slices.EqualFunc(c.Group, c.Group, func(g, _ bound.Item) bool {
				return value.Equivalent(b.row[g.Slot], row[g.Slot])
			}) {
				return b
			}
		}
		b := newBucket(c, row)
		buckets = append(buckets, b)
		return b
	}
	if len(c.Group) == 0 {
		open(make([]value.Value, max(width, 64)))
	}
	for _, r := range rows {
		next := slices.Clone(r)
		for _, g := range c.Group {
			v, err := compute(env, g.Expr, r)
			if err != nil {
				return nil, err
			}
			next[g.Slot] = v
		}
		b := open(next)
		for i, a := range c.Aggs {
			args := make([]value.Value, len(a.Args))
			for j, e := range a.Args {
				v, err := compute(env, e, r)
				if err != nil {
					return nil, err
				}
				args[j] = v
			}
			if err := b.aggs[i].Add(args); err != nil {
				return nil, err
			}
		}
	}
	var out [][]value.Value
	for _, b := range buckets {
		for i, a := range c.Aggs {
			v, err := b.aggs[i].Result()
			if err != nil {
				return nil, err
			}
			b.row[a.Slot] = v
		}
		out = append(out, b.row)
	}
	return out, nil
}

// newEnv makes an Env over a small graph. Its parameters n, m, r, gone and
// goneRel are (n:A:B {x: 1, name: 'ann'})-[r:KNOWS {since: 2020}]->(m) and a
// deleted node and edge; p is the path of n, r and m; loaded is n with content.
func newEnv(t testing.TB) (*eval.Env, *model.Graph) {
	g := model.New()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	key := func(name string) value.KeyID { k, err := g.InternKey(name); must(err); return k }
	label := func(name string) value.LabelID { l, err := g.InternLabel(name); must(err); return l }
	knows, err := g.InternRelType("KNOWS")
	must(err)
	n, err := g.CreateNode([]value.LabelID{label("A"), label("B")}, []access.Prop{
		{Key: key("x"), Value: value.Int(1)}, {Key: key("name"), Value: value.String("ann")},
	})
	must(err)
	m, err := g.CreateNode(nil, []access.Prop{{Key: key("id"), Value: value.String("m-1")}})
	must(err)
	r, err := g.CreateEdge(n, m, knows, []access.Prop{{Key: key("since"), Value: value.Int(2020)}})
	must(err)
	gone, err := g.CreateNode([]value.LabelID{label("A")}, nil)
	must(err)
	goneRel, err := g.CreateEdge(n, gone, knows, nil)
	must(err)
	_, err = g.DeleteNode(gone, true)
	must(err)
	loaded, err := g.LoadNode(n)
	must(err)
	env := &eval.Env{Params: map[string]value.Value{
		"n": value.NodeRef(n), "m": value.NodeRef(m), "r": value.EdgeRef(r),
		"gone": value.NodeRef(gone), "goneRel": value.EdgeRef(goneRel), "loaded": value.OfNode(loaded),
		"p": value.OfPath(&value.Path{
			Nodes: []value.Value{value.NodeRef(n), value.NodeRef(m)}, Edges: []value.Value{value.EdgeRef(r)},
		}),
		"list": value.List([]value.Value{value.Int(1), value.Int(2)}), "map": value.Map([]value.Prop{{Key: "k", Value: value.Int(1)}}),
		"int": value.Int(7), "float": value.Float(0.5), "str": value.String("abc"), "yes": value.Bool(true), "nothing": value.Null,
	}}
	env.Reader = g
	env.Statement = value.DateTime{Seconds: 1_700_000_000}
	env.Rand = rand.New(rand.NewPCG(1, 2))
	return env, g
}

// eval1 evaluates an expression, or a statement that returns one value.
func eval1(env *eval.Env, text string) (value.Value, error) {
	if !strings.Contains(text, "RETURN ") {
		text = "RETURN " + text + " AS result"
	}
	_, rows, err := run(env, text)
	if err != nil {
		return value.Null, err
	}
	if len(rows) != 1 {
		return value.Null, fmt.Errorf("%d rows", len(rows))
	}
	return rows[0][0], nil
}
