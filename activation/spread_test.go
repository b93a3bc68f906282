package activation_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"engram/activation"

	"pgregory.net/rapid"
)

// graph is a Source over a plain list of edges. Names stand for external ids:
// Less compares them, so that ids may be dealt out in any order.
type graph struct {
	names []string // by id
	adj   map[activation.ID][]activation.Edge
}

type edge struct {
	from, to string
	typ      uint32
	weight   float64
}

// build numbers the nodes in the order of names and stores the edges in theirs.
func build(names []string, edges []edge) *graph {
	g := &graph{names: names, adj: map[activation.ID][]activation.Edge{}}
	for i, e := range edges {
		a, b := g.id(e.from), g.id(e.to)
		g.adj[a] = append(g.adj[a], activation.Edge{Edge: uint64(i + 1), To: b, Type: e.typ, Out: true, Weight: e.weight})
		g.adj[b] = append(g.adj[b], activation.Edge{Edge: uint64(i + 1), To: a, Type: e.typ, Weight: e.weight})
	}
	return g
}

func (g *graph) id(name string) activation.ID {
	return activation.ID(slices.Index(g.names, name))
}

func (g *graph) Edges(_ context.Context, ids []activation.ID, visit func(int, []activation.Edge) error) error {
	for i, id := range ids {
		if err := visit(i, slices.Clone(g.adj[id])); err != nil {
			return err
		}
	}
	return nil
}

func (g *graph) Less(a, b activation.ID) bool { return g.names[a] < g.names[b] }

func (g *graph) seeds(names ...string) []activation.Seed {
	var out []activation.Seed
	for _, n := range names {
		out = append(out, activation.Seed{ID: g.id(n), Weight: 1})
	}
	return out
}

func (g *graph) path(res *activation.Result, name string) string {
	p, ok := res.Path(g.id(name))
	if !ok {
		return "not reached"
	}
	var b strings.Builder
	b.WriteString(g.names[p.From])
	for _, s := range p.Steps {
		arrow := "<-"
		if s.Out {
			arrow = "->"
		}
		b.WriteString(arrow + g.names[s.To])
	}
	return b.String()
}

func spread(t testing.TB, g *graph, seeds []activation.Seed, p activation.Params) *activation.Result {
	t.Helper()
	res, err := activation.Spread(context.Background(), g, seeds, p)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestSpreadOverChain(t *testing.T) {
	g := build([]string{"a", "b", "c", "d"}, []edge{{"a", "b", 1, 1}, {"b", "c", 1, 1}, {"c", "d", 1, 1}})
	res := spread(t, g, g.seeds("a"), activation.Params{Restart: 0.5, Depth: 2})
	// a keeps 1/2 and hands 1/2 to b; b keeps 1/4 and hands 1/8 back to a and
	// 1/8 to c; those settle at a half.
	for name, want := range map[string]float64{"a": 0.5 + 0.0625, "b": 0.25, "c": 0.0625, "d": 0} {
		if got := res.Activation(g.id(name)); math.Abs(got-want) > 1e-9 {
			t.Errorf("activation of %s = %v, want %v", name, got, want)
		}
	}
	if got := g.path(res, "c"); got != "a->b->c" {
		t.Errorf("path to c = %s", got)
	}
	if got := g.path(res, "d"); got != "not reached" {
		t.Errorf("path to d = %s", got)
	}
}

func TestFactorClosesAndScalesTypes(t *testing.T) {
	g := build([]string{"s", "x", "y", "z"}, []edge{{"s", "x", 1, 1}, {"s", "y", 2, 1}, {"z", "s", 3, 1}})
	factor := func(_ int, relType uint32, out bool) float64 {
		switch {
		case relType == 1:
			return 3
		case relType == 3 && out:
			return 5 // s is on the other end: this direction must not be asked for from s
		case relType == 3:
			return 0
		}
		return 1
	}
	res := spread(t, g, g.seeds("s"), activation.Params{Restart: 0.5, Depth: 1, Factor: factor})
	if x, y := res.Activation(g.id("x")), res.Activation(g.id("y")); math.Abs(x-3*y) > 1e-9 || y == 0 {
		t.Errorf("x = %v, y = %v, want three to one", x, y)
	}
	if z := res.Activation(g.id("z")); z != 0 {
		t.Errorf("a closed edge carried %v", z)
	}
}

func TestLimitsAreReported(t *testing.T) {
	names, edges := []string{"hub"}, []edge(nil)
	for i := range 50 {
		name := fmt.Sprintf("n%02d", i)
		names = append(names, name)
		edges = append(edges, edge{"hub", name, 1, float64(i+1) / 50})
	}
	g := build(names, edges)
	cases := []struct {
		params activation.Params
		want   activation.Limit
		nodes  int
	}{
		{activation.Params{EdgesPerNode: 7, Depth: 1}, activation.LimitEdgesPerNode, 8},
		{activation.Params{MaxNodes: 5, Depth: 1}, activation.LimitNodes, 5},
		{activation.Params{MaxEdges: 20, Depth: 1}, activation.LimitEdges, 1},
	}
	for _, c := range cases {
		res := spread(t, g, g.seeds("hub"), c.params)
		if !slices.Equal(res.Limits, []activation.Limit{c.want}) || len(res.Nodes) != c.nodes {
			t.Errorf("%+v: limits %v and %d nodes, want %s and %d", c.params, res.Limits, len(res.Nodes), c.want, c.nodes)
		}
		if c.want != activation.LimitEdges && res.Activation(g.id("n49")) == 0 {
			t.Errorf("%+v: the strongest edge was not followed", c.params)
		}
	}
}

// TestEqualEdgesStayTogether caps edges that nothing tells apart: up to 16 times the
// cap all are followed, and of more none.
func TestEqualEdgesStayTogether(t *testing.T) {
	for _, c := range []struct{ equal, want int }{{2, 4}, {31, 33}, {32, 2}} {
		names := []string{"hub", "strong"}
		edges := []edge{{"hub", "strong", 1, 1}}
		for i := range c.equal {
			names = append(names, fmt.Sprint(i))
			edges = append(edges, edge{"hub", fmt.Sprint(i), 1, 0.5})
		}
		g := build(names, edges)
		for _, op := range []operator{activation.Spread, activation.Steps} {
			res, err := op(context.Background(), g, g.seeds("hub"), activation.Params{EdgesPerNode: 2, Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Nodes) != c.want {
				t.Errorf("%d equal edges: %d nodes, want %d", c.equal, len(res.Nodes), c.want)
			}
		}
	}
}

// TestLessIsAskedOnlyWhereItMatters: reading external ids is what costs most.
func TestLessIsAskedOnlyWhereItMatters(t *testing.T) {
	names, edges := []string{"hub"}, []edge(nil)
	for i := range 50 {
		names = append(names, fmt.Sprint(i))
		edges = append(edges, edge{"hub", fmt.Sprint(i), 1, 1}, edge{fmt.Sprint(i), fmt.Sprint((i + 1) % 50), 1, 1})
	}
	g := &asked{graph: build(names, edges)}
	lean := activation.Params{Unsorted: true, NoPaths: true}
	full, err := activation.Steps(context.Background(), g, g.seeds("hub"), activation.Params{})
	if err != nil || g.times == 0 {
		t.Fatalf("sorting nodes of equal activation asked %d times (%v)", g.times, err)
	}
	g.times = 0
	res, err := activation.Steps(context.Background(), g, g.seeds("hub"), lean)
	if err != nil {
		t.Fatal(err)
	}
	if g.times != 0 {
		t.Errorf("asked %d times for an order that nobody sees", g.times)
	}
	for _, n := range full.Nodes {
		if res.Activation(n.ID) != n.Activation {
			t.Errorf("%s has %v, sorted %v", g.names[n.ID], res.Activation(n.ID), n.Activation)
		}
	}
	if len(full.Nodes) != len(res.Nodes) {
		t.Errorf("%d nodes, sorted %d", len(res.Nodes), len(full.Nodes))
	}
}

// asked counts comparisons.
type asked struct {
	*graph
	times int
}

func (a *asked) Less(x, y activation.ID) bool {
	a.times++
	return a.graph.Less(x, y)
}

func (a *asked) Size(ids []activation.ID) int {
	n := 0
	for _, id := range ids {
		n += len(a.adj[id])
	}
	return n
}

func TestBadInput(t *testing.T) {
	g := build([]string{"a"}, nil)
	if _, err := activation.Spread(context.Background(), g, nil, activation.Params{}); !errors.Is(err, activation.ErrNoSeeds) {
		t.Errorf("no seeds: %v", err)
	}
	for _, w := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := activation.Spread(context.Background(), g, []activation.Seed{{ID: 0, Weight: w}}, activation.Params{}); err == nil {
			t.Errorf("weight %v was taken", w)
		}
	}
	for _, p := range []activation.Params{{Restart: 1}, {Restart: -1}, {Residual: 2}, {Depth: 17}, {Depth: -1}, {MaxNodes: -1}} {
		if _, err := activation.Spread(context.Background(), g, g.seeds("a"), p); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := activation.Spread(ctx, g, g.seeds("a"), activation.Params{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type operator = func(context.Context, activation.Source, []activation.Seed, activation.Params) (*activation.Result, error)

func TestStepsOverFan(t *testing.T) {
	g := build([]string{"a", "b", "c", "d", "e"}, []edge{{"a", "b", 1, 1}, {"b", "c", 1, 0.5}, {"b", "d", 1, 1}, {"b", "e", 1, 1}})
	res, err := activation.Steps(context.Background(), g, []activation.Seed{{ID: g.id("a"), Weight: 3}, {ID: g.id("d"), Weight: 1.5}}, activation.Params{
		Depth: 2, Factor: func(step int, _ uint32, _ bool) float64 { return 1 / float64(step) },
	})
	if err != nil {
		t.Fatal(err)
	}
	// a is the unit, d half of it. b gets 1/sqrt(1) of a's 1 and 1/sqrt(1) of d's
	// 0.5. In the second step b's 1.5 go on, halved by the factor and divided by
	// sqrt(3.5): three edges count as 1, the one to c as a half.
	on := 1.5 / 2 / math.Sqrt(3.5)
	for name, want := range map[string][2]float64{
		"a": {1 + on, on}, "b": {1.5, 1.5}, "c": {on / 2, on / 2}, "d": {0.5 + on, on}, "e": {on, on},
	} {
		for _, n := range res.Nodes {
			if n.ID == g.id(name) && (math.Abs(n.Activation-want[0]) > 1e-4 || math.Abs(n.Received-want[1]) > 1e-4) {
				t.Errorf("%s has %v and received %v, want %v", name, n.Activation, n.Received, want)
			}
		}
	}
	if len(res.Nodes) != 5 || g.path(res, "e") != "a->b->e" {
		t.Errorf("%d nodes, path to e %s", len(res.Nodes), g.path(res, "e"))
	}
}

func drawGraph(t *rapid.T) ([]string, []edge, []string) {
	n := rapid.IntRange(1, 12).Draw(t, "nodes")
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("n%02d", i)
	}
	edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) edge {
		return edge{
			from:   rapid.SampledFrom(names).Draw(t, "from"),
			to:     rapid.SampledFrom(names).Draw(t, "to"),
			typ:    rapid.Uint32Range(1, 3).Draw(t, "type"),
			weight: float64(rapid.IntRange(1, 8).Draw(t, "weight")) / 8,
		}
	}), 0, 30).Draw(t, "edges")
	seeds := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, min(n, 3), rapid.ID[string]).Draw(t, "seeds")
	return names, edges, seeds
}

// TestAgainstDenseModel compares pushing over 1,000 graphs with exact rational
// arithmetic over a full matrix, with nothing cut off. What pushing holds back at a
// node in a round is below Residual times the node's edges, and holding an amount
// back moves no more than that amount; so over all nodes and rounds the results
// differ by at most Depth times Residual times twice the number of edges, and
// rounding.
func TestAgainstDenseModel(t *testing.T) {
	graphs, cut := 0, 0
	for graphs < 1000 {
		for _, residual := range []float64{1e-11, 1e-3, 1e-2, 0.03, 0.1} {
			rapid.Check(t, func(t *rapid.T) {
				graphs++
				if differs(t, residual) {
					cut++
				}
			})
		}
	}
	if cut < graphs/20 {
		t.Errorf("%d graphs, in %d of which something was held back: the test shows little", graphs, cut)
	}
}

// differs draws a graph, fails where the bound does not hold, and reports whether
// anything was held back.
func differs(t *rapid.T, residual float64) (cut bool) {
	names, edges, seeds := drawGraph(t)
	depth := rapid.IntRange(1, 4).Draw(t, "depth")
	g := build(names, edges)
	res, err := activation.Spread(context.Background(), g, g.seeds(seeds...), activation.Params{Restart: 0.25, Residual: residual, Depth: depth})
	if err != nil {
		t.Fatal(err)
	}
	const rounding = 1e-8
	bound := float64(depth)*residual*2*float64(len(edges)) + rounding
	want := dense(names, edges, seeds, big.NewRat(1, 4), depth)
	sum := 0.0
	for i, name := range names {
		w, _ := want[i].Float64()
		sum += math.Abs(res.Activation(g.id(name)) - w)
	}
	if sum > bound {
		t.Fatalf("all activations together differ by %v from exact ones, more than %v", sum, bound)
	}
	return sum > rounding
}

func dense(names []string, edges []edge, seeds []string, restart *big.Rat, depth int) []*big.Rat {
	n := len(names)
	at := func(s string) int { return slices.Index(names, s) }
	weight := make([][]*big.Rat, n)
	for i := range weight {
		weight[i] = make([]*big.Rat, n)
		for j := range weight[i] {
			weight[i][j] = new(big.Rat)
		}
	}
	for _, e := range edges {
		w := new(big.Rat).SetFloat64(e.weight)
		weight[at(e.from)][at(e.to)].Add(weight[at(e.from)][at(e.to)], w)
		weight[at(e.to)][at(e.from)].Add(weight[at(e.to)][at(e.from)], w)
	}
	r, kept := zeros(n), zeros(n)
	for _, s := range seeds {
		r[at(s)].Add(r[at(s)], big.NewRat(1, int64(len(seeds))))
	}
	onward := new(big.Rat).Sub(big.NewRat(1, 1), restart)
	for range depth {
		next := zeros(n)
		for i := range n {
			total := new(big.Rat)
			for j := range n {
				total.Add(total, weight[i][j])
			}
			if total.Sign() == 0 {
				next[i].Add(next[i], r[i])
				continue
			}
			kept[i].Add(kept[i], new(big.Rat).Mul(r[i], restart))
			for j := range n {
				share := new(big.Rat).Mul(new(big.Rat).Mul(r[i], onward), new(big.Rat).Quo(weight[i][j], total))
				next[j].Add(next[j], share)
			}
		}
		r = next
	}
	for i := range n {
		kept[i].Add(kept[i], new(big.Rat).Mul(r[i], restart))
	}
	return kept
}

func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

// TestInsertionOrderDoesNotMatter stores the same records in another order and
// expects the same nodes, in the same order, with the same bits, also where
// limits bite.
func TestInsertionOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, edges, seeds := drawGraph(t)
		params := activation.Params{
			Depth:        rapid.IntRange(1, 4).Draw(t, "depth"),
			EdgesPerNode: rapid.IntRange(1, 6).Draw(t, "edges per node"),
			MaxNodes:     rapid.IntRange(3, 12).Draw(t, "max nodes"),
			MaxEdges:     rapid.IntRange(1, 40).Draw(t, "max edges"),
		}
		operator := rapid.SampledFrom([]operator{activation.Spread, activation.Steps}).Draw(t, "operator")
		print := func(names []string, edges []edge, seeds []string) string {
			g := build(names, edges)
			res, err := operator(context.Background(), g, g.seeds(seeds...), params)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, a := range res.Nodes {
				fmt.Fprintf(&b, "%s %x %s\n", g.names[a.ID], math.Float64bits(a.Activation), g.path(res, g.names[a.ID]))
			}
			return fmt.Sprint(b.String(), res.Limits, res.EdgesFollowed)
		}
		want := print(names, edges, seeds)
		got := print(rapid.Permutation(names).Draw(t, "names"), rapid.Permutation(edges).Draw(t, "edges"), rapid.Permutation(seeds).Draw(t, "seeds"))
		if got != want {
			t.Fatalf("another order of insertion gave\n%s\nwant\n%s", got, want)
		}
	})
}
