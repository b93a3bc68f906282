package query_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/fault"
)

// FuzzStatement runs whatever text parses, from the parser to the rows, over a small
// graph: with all rules of the planner and with none it ends within its budgets,
// without a panic, in rows or in a fault.
func FuzzStatement(f *testing.F) {
	files, err := filepath.Glob("testdata/*.eql")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n\n") {
			command, rest, _ := strings.Cut(block, "\n")
			if statement, _, ok := strings.Cut(rest, "\n----"); ok && strings.HasPrefix(command, "run") {
				f.Add(statement)
			}
		}
	}
	g := fuzzGraph(f)
	engines := []*query.Engine{query.New(&query.Options{Now: fixedNow}), query.New(&query.Options{Now: fixedNow, Disable: query.AllRules})}
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range engines {
			runFuzzed(t, e, g.Clone(), text)
		}
	})
}

// fuzzGraph has a bit of everything that the scripts speak of.
func fuzzGraph(tb testing.TB) *model.Graph {
	g := model.New()
	e := query.New(&query.Options{Now: fixedNow})
	for _, text := range []string{
		`CREATE (a:A:Person {id: 'a', n: 1, name: 'Ann', l: [1, 2]})-[:K {w: 1}]->(b:B:Person {id: 'b', n: 2, name: 'Bob'}),
			(b)-[:T {k: 1}]->(c:C {n: 3, d: date('2020-02-29')}), (c)-[:K {w: 2.5}]->(a), (a)-[:KNOWS]->(a), (a)-[:T {k: 2}]->(c)`,
		"CREATE INDEX FOR (n:Person) ON (n.name)",
		"CREATE CONSTRAINT FOR (n:A) REQUIRE n.n IS UNIQUE",
	} {
		p, err := e.Prepare(text, g)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := p.Run(context.Background(), g, nil, nil); err != nil {
			tb.Fatal(err)
		}
	}
	return g
}

// fuzzTime is far more than the budget of steps takes: who needs it hangs.
const fuzzTime = 20 * time.Second

func runFuzzed(t *testing.T, e *query.Engine, g *model.Graph, text string) {
	plan, err := e.Prepare(text, g)
	if err != nil {
		if fault.As(err) == nil {
			t.Fatalf("%v is no fault", err)
		}
		return
	}
	_ = plan.String()
	if plan.InTransactions() {
		return // whoever runs it needs transactions
	}
	ctx, cancel := context.WithTimeout(context.Background(), fuzzTime)
	defer cancel()
	params := map[string]value.Value{"p": value.Int(1), "s": value.String("a"), "list": value.List([]value.Value{value.Int(1), value.Null})}
	budget := query.Budget{Steps: 200_000, Memory: 32 << 20, Rows: 10_000, Time: -1}
	res, err := plan.Run(ctx, g, params, &query.RunOptions{Budget: budget, Seed: 1})
	if ctx.Err() != nil {
		t.Fatalf("it did not end within %v: %v", fuzzTime, err)
	}
	if err != nil {
		return
	}
	for _, row := range res.Rows {
		for _, v := range row {
			_ = v.String()
		}
	}
}
