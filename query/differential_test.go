package query_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/bind"
	"engram/query/internal/naive"
	"engram/query/internal/syntax"
)

// TestAgreesWithNaive runs random statements over random graphs on the engine,
// with all planner rules and with none, and on the reference engine. The seed in
// a failure's name makes it again.
func TestAgreesWithNaive(t *testing.T) {
	n := uint64(20_000)
	if testing.Short() {
		n = 1000
	}
	engines := map[string]*query.Engine{
		"all rules": query.New(nil),
		"no rules":  query.New(&query.Options{Disable: query.AllRules}),
	}
	skipped := uint64(0)
	for seed := range n {
		switch err := compareSeed(seed, engines); {
		case errors.Is(err, naive.ErrUnsupported):
			skipped++
		case err != nil:
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if skipped > n/10 {
		t.Errorf("%d of %d statements were skipped", skipped, n)
	}
}

func compareSeed(seed uint64, engines map[string]*query.Engine) error {
	r := rand.New(rand.NewPCG(seed, 1))
	g := model.New()
	if err := naive.FillGraph(g, r); err != nil {
		return err
	}
	if seed%3 != 0 {
		if err := addIndexes(g, rand.New(rand.NewPCG(seed, 2))); err != nil {
			return err
		}
	}
	s := naive.Generate(r, seed%4 == 0)
	want, wantGraph, err := runNaive(s.Text, g)
	if err != nil {
		return fmt.Errorf("%s\n%w", s.Text, err)
	}
	for _, name := range []string{"all rules", "no rules"} {
		got, gotGraph, err := runEngine(engines[name], s.Text, g)
		if err != nil {
			return fmt.Errorf("%s: %s\n%w", name, s.Text, err)
		}
		if !s.Ordered {
			sortRows(got)
			sortRows(want)
		}
		if !slices.EqualFunc(got, want, equalRow) {
			return fmt.Errorf("%s: %s\ngot\n%swant\n%s", name, s.Text, listRows(got), listRows(want))
		}
		if gotGraph != wantGraph {
			return fmt.Errorf("%s: %s\nthe graphs differ: got\n%swant\n%s", name, s.Text, gotGraph, wantGraph)
		}
	}
	return nil
}

// addIndexes declares up to 5 random indexes over the vocabulary of the
// generator, by one or two properties.
func addIndexes(g *model.Graph, r *rand.Rand) error {
	for range r.IntN(6) {
		d := schema.Def{Kind: schema.Range, Owner: string("ABC"[r.IntN(3)])}
		if r.IntN(4) == 0 {
			d.Edge, d.Owner = true, string("RST"[r.IntN(3)])
		}
		keys := r.Perm(5)[:1+r.IntN(2)]
		for _, k := range keys {
			d.Keys = append(d.Keys, string("isblf"[k]))
		}
		if g.Schema().Same(&d) != nil {
			continue
		}
		if err := g.CreateSchema(d); err != nil {
			return err
		}
	}
	return nil
}

func runNaive(text string, g *model.Graph) ([][]value.Value, string, error) {
	parsed, err := syntax.Parse(text)
	if err != nil {
		return nil, "", err
	}
	stmt, err := bind.Bind(parsed, nil)
	if err != nil {
		return nil, "", err
	}
	g = g.Clone()
	rows, err := (&naive.Engine{G: g}).Run(stmt)
	if err != nil {
		return nil, "", err
	}
	return rows, contents(g), nil
}

func runEngine(e *query.Engine, text string, g *model.Graph) ([][]value.Value, string, error) {
	return runEngineWith(e, text, g, nil)
}

func runEngineWith(e *query.Engine, text string, g *model.Graph, params map[string]value.Value) ([][]value.Value, string, error) {
	g = g.Clone()
	plan, err := e.Prepare(text, g)
	if err != nil {
		return nil, "", err
	}
	res, err := plan.Run(context.Background(), g, params, nil)
	if err != nil {
		return nil, "", err
	}
	return res.Rows, contents(g), nil
}

// contents lists what a graph holds, without ids: they depend on the order of
// creation.
func contents(g *model.Graph) string {
	var lines []string
	ids, _ := g.ScanNodes(0, 0, make([]value.NodeID, g.NodeCount(0)+1))
	for _, id := range ids {
		n, _ := g.LoadNode(id)
		lines = append(lines, fmt.Sprint("node ", n.Labels, n.Properties))
	}
	edges, _ := g.ScanEdges(0, 0, make([]value.EdgeID, g.EdgeCount(0)+1))
	for _, id := range edges {
		e, _ := g.LoadEdge(id)
		src, _ := g.LoadNode(e.Src)
		dst, _ := g.LoadNode(e.Dst)
		lines = append(lines, fmt.Sprint("edge ", e.Type, e.Properties, src.Labels, src.Properties, dst.Labels, dst.Properties))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func sortRows(rows [][]value.Value) { slices.SortStableFunc(rows, compareRow) }

func compareRow(a, b []value.Value) int { return slices.CompareFunc(a, b, value.Order) }

func equalRow(a, b []value.Value) bool { return slices.EqualFunc(a, b, value.Equivalent) }

func listRows(rows [][]value.Value) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}
