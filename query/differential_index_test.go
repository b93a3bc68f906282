package query_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/naive"
)

// TestSeeksAgreeWithNaive compares statements that ask for what indexes and joins
// are for, over properties with values of many kinds, with the reference engine.
func TestSeeksAgreeWithNaive(t *testing.T) {
	n := uint64(4000)
	if testing.Short() {
		n = 500
	}
	engines := map[string]*query.Engine{
		"all rules": query.New(nil), "no rules": query.New(&query.Options{Disable: query.AllRules}),
	}
	uses := map[string]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		g := mixedGraph(t, r)
		for range 3 {
			if err := addIndexes(g, r); err != nil {
				t.Fatal(err)
			}
		}
		text := seekStatement(r)
		if plan, err := engines["all rules"].Prepare(text, g); err == nil {
			for _, op := range []string{" IndexSeek", "ValueJoin", "EdgeIndexSeek"} {
				uses[op] += strings.Count(plan.String(), op)
			}
		}
		want, wantGraph, err := runNaive(text, g)
		if errors.Is(err, naive.ErrUnsupported) {
			t.Fatalf("%s: %v", text, err)
		}
		sortRows(want)
		for name, e := range engines {
			got, gotGraph, gotErr := runEngine(e, text, g)
			sortRows(got)
			if (gotErr == nil) != (err == nil) || listRows(got) != listRows(want) || gotGraph != wantGraph {
				t.Errorf("seed %d, %s: %s\n%v\ngot\n%s(%v)\nwant\n%s(%v)", seed, name, text, g.Schema().All(), listRows(got), gotErr, listRows(want), err)
			}
		}
	}
	if uses[" IndexSeek"] < int(n)/5 || uses["EdgeIndexSeek"] < int(n)/100 || uses["ValueJoin"] < int(n)/20 {
		t.Errorf("%d statements use the operators too rarely: %v", n, uses)
	}
}

// mixed are property values: equal ones of two kinds, near ones, long ones.
var mixed = []string{
	"0", "1", "1.0", "2", "2.5", "-1", "0.0 / 0.0", "'a'", "'ab'", "'b'", "''", "true", "false", "[1]", "[1.0, 2]", "[]",
	"date('2024-01-01')", "datetime('2024-01-01T12:00Z')", "datetime('2024-01-01T13:00+01:00')", "duration('P1D')",
	"reduce(s = '', x IN range(1, 300) | s + 'x')", "9007199254740993", "9007199254740992.0",
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

var mixedKeys = []string{"i", "s", "b", "l", "f"}

// mixedGraph makes up to 24 nodes.
func mixedGraph(t *testing.T, r *rand.Rand) *model.Graph {
	g := model.New()
	var b strings.Builder
	for i := range 4 + r.IntN(20) {
		if i > 0 {
			b.WriteString(", ")
		} else {
			b.WriteString("CREATE ")
		}
		fmt.Fprintf(&b, "(n%d", i)
		for _, l := range []string{"A", "B", "C"} {
			if r.IntN(2) == 0 {
				b.WriteString(":" + l)
			}
		}
		var props []string
		for _, k := range mixedKeys[:1+r.IntN(5)] {
			if r.IntN(4) > 0 {
				props = append(props, k+": "+pick(r, mixed))
			}
		}
		fmt.Fprintf(&b, " {%s})", strings.Join(props, ", "))
	}
	for range 10 {
		fmt.Fprintf(&b, " CREATE (n%d)-[:%s {i: %s, s: %s}]->(n%d)", r.IntN(4), pick(r, []string{"R", "S"}), pick(r, mixed), pick(r, mixed), r.IntN(4))
	}
	if out := runOn(query.New(nil), g, b.String(), nil, false); strings.HasPrefix(out, "error") {
		t.Fatal(b.String(), out)
	}
	return g
}

// mixedTest is a predicate on a variable that an index may answer.
func mixedTest(r *rand.Rand, v string, others ...string) string {
	side := pick(r, mixed)
	if len(others) > 0 && r.IntN(2) == 0 {
		side = pick(r, others) + "." + pick(r, mixedKeys)
	}
	prop := v + "." + pick(r, mixedKeys)
	switch r.IntN(10) {
	case 0:
		return fmt.Sprintf("%s IN [%s, %s, null]", prop, side, pick(r, mixed))
	case 1:
		return fmt.Sprintf("%s IN [%s]", prop, side)
	case 2:
		return fmt.Sprintf("%s %s %s", prop, pick(r, []string{"<", "<=", ">", ">="}), side)
	case 3:
		return fmt.Sprintf("%s %s %s", side, pick(r, []string{"<", "<=", ">", ">="}), prop)
	case 4:
		return fmt.Sprintf("%s < %s <= %s", pick(r, mixed), prop, pick(r, mixed))
	case 5:
		return fmt.Sprintf("%s STARTS WITH %s", prop, pick(r, []string{"''", "'a'", "'xxx'", "toString(1)"}))
	case 6:
		return prop + " IS NOT NULL"
	case 7:
		return fmt.Sprintf("%s = %s", side, prop)
	}
	return fmt.Sprintf("%s = %s", prop, side)
}

func tests(r *rand.Rand, n int, v string, others ...string) string {
	var out []string
	for range n {
		out = append(out, mixedTest(r, v, others...))
	}
	return strings.Join(out, " AND ")
}

// seekStatement makes a statement.
func seekStatement(r *rand.Rand) string {
	label := func() string { return pick(r, []string{"A", "B", "C"}) }
	returned := " RETURN a.i AS i, a.s AS s, labels(a) AS l"
	switch r.IntN(10) {
	case 8:
		arrow := pick(r, []string{"(a)-[r:R]->(b)", "(a)<-[r:R]-(b:A)", "(a)-[r:S]-(b)", "(a:B)-[r:R]->(a)"})
		more := pick(r, []string{"", ", (b)-[q:S]->(c)", ", (c:A)-[q:R]-(b)"})
		return fmt.Sprintf("MATCH %s%s WHERE %s%s, r.i AS ri", arrow, more, tests(r, 1, "r"), returned)
	case 9:
		return fmt.Sprintf("MATCH (b:%s), (a)-[r:R]->(c) WHERE %s%s, r.i AS ri, b.i AS bi", label(), tests(r, 1, "r", "b"), returned)
	case 0, 1:
		return fmt.Sprintf("MATCH (a:%s) WHERE %s%s", label(), tests(r, 1+r.IntN(3), "a"), returned)
	case 2, 3:
		return fmt.Sprintf("MATCH (a:%s), (b:%s) WHERE %s AND %s%s, b.i AS bi", label(), label(),
			tests(r, 1, "a"), tests(r, 1+r.IntN(2), "b", "a"), returned)
	case 4:
		return fmt.Sprintf("MATCH (a:%s), (b) WHERE b.%s = a.%s%s, b.i AS bi", label(), pick(r, mixedKeys), pick(r, mixedKeys), returned)
	case 5:
		return fmt.Sprintf("MATCH (a:%s) OPTIONAL MATCH (b:%s) WHERE %s%s, b.i AS bi", label(), label(), tests(r, 2, "b", "a"), returned)
	case 6:
		return fmt.Sprintf("UNWIND [%s, %s, %s] AS x MERGE (a:%s {i: x}) ON CREATE SET a.f = 7 ON MATCH SET a.f = 8", pick(r, mixed[:6]), pick(r, mixed[7:13]), pick(r, mixed[:6]), label())
	}
	return fmt.Sprintf("MATCH (a:%s) WHERE EXISTS { MATCH (b:%s) WHERE %s } SET a.b = %s", label(), label(), tests(r, 2, "b", "a"), pick(r, mixed))
}
