package query_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/batch"
	"engram/query/internal/fault"
	"engram/query/internal/physical"
	"engram/query/result"
)

func run(t *testing.T, e *query.Engine, g *model.Graph, text string, opts *query.RunOptions) (*result.Result, error) {
	t.Helper()
	p, err := e.Prepare(text, g)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p.Run(context.Background(), g, nil, opts)
}

func mustRun(t *testing.T, e *query.Engine, g *model.Graph, text string) *result.Result {
	t.Helper()
	res, err := run(t, e, g, text, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res
}

// clique makes n nodes with an edge from each to each other.
func clique(t *testing.T, n int) *model.Graph {
	t.Helper()
	g := model.New()
	e := query.New(nil)
	mustRun(t, e, g, fmt.Sprintf("UNWIND range(1, %d) AS i CREATE (:N {id: toString(i), i: i})", n))
	mustRun(t, e, g, "MATCH (a:N), (b:N) WHERE a <> b CREATE (a)-[:E]->(b)")
	return g
}

// TestBudgets checks that a statement that wants too much ends with the error
// that says what, and that the engine works on afterwards.
func TestBudgets(t *testing.T) {
	const small = 1 << 20
	for _, c := range []struct {
		name, text, exceeded string
		budget               query.Budget
	}{
		{"rows of the result", "UNWIND range(1, 100000) AS i RETURN i", "rows", query.Budget{Rows: 1000}},
		{"collected list", "UNWIND range(1, 1000000) AS i RETURN collect(i)", "memory", query.Budget{Memory: small}},
		{"range itself", "RETURN size(range(1, 1000000000)) AS n", "memory", query.Budget{Memory: small}},
		{"sort", "UNWIND range(1, 1000000) AS i WITH i ORDER BY -i RETURN count(*)", "memory", query.Budget{Memory: small}},
		{"distinct", "UNWIND range(1, 1000000) AS i WITH DISTINCT i RETURN count(*)", "memory", query.Budget{Memory: small}},
		{"groups", "UNWIND range(1, 1000000) AS i WITH i, count(*) AS c RETURN count(*)", "memory", query.Budget{Memory: small}},
		{"cartesian product", "MATCH (a), (b), (c), (d), (e), (f) RETURN sum(a.i + b.i + c.i + d.i + e.i + f.i)", "steps", query.Budget{Steps: 200_000}},
		{"walks", "MATCH (a {id: '1'})-[*]->(b) RETURN count(b)", "steps", query.Budget{Steps: 200_000}},
		{"all shortest", "MATCH p = allShortestPaths((a {id: '1'})-[*..2]->(b {id: '2'})) MATCH (x)-[*]->(y) RETURN count(*)", "steps", query.Budget{Steps: 200_000}},
		{"subqueries", "MATCH (a) RETURN count { MATCH (a)-[*]->(b) } AS c", "steps", query.Budget{Steps: 200_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := clique(t, 12)
			e := query.New(nil)
			_, err := run(t, e, g, c.text, &query.RunOptions{Budget: c.budget})
			f := fault.As(err)
			if f == nil || f.Type != fault.ResourceExhausted || !strings.Contains(f.Message, c.exceeded) {
				t.Fatalf("got %v, want ResourceExhausted about %s", err, c.exceeded)
			}
			if res := mustRun(t, e, g, "MATCH (n) RETURN count(n) AS c"); res.Rows[0][0].AsInt() != 12 {
				t.Errorf("afterwards: %v", res.Rows)
			}
		})
	}
}

// TestTimeBudget moves the clock by a second whenever it is read.
func TestTimeBudget(t *testing.T) {
	now := fixedNow()
	e := query.New(&query.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	_, err := run(t, e, clique(t, 12), "MATCH (a)-[*]->(b) RETURN count(b)", nil)
	f := fault.As(err)
	if f == nil || f.Type != fault.ResourceExhausted || !strings.Contains(f.Message, "30s") {
		t.Fatalf("got %v, want ResourceExhausted about 30s", err)
	}
}

// cancelling is a context that ends itself when it has been looked at often
// enough: cancelling it at a set point needs no clock.
type cancelling struct {
	context.Context
	looks int
}

func (c *cancelling) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelStopsEverySlowOperator(t *testing.T) {
	g := clique(t, 12)
	for _, text := range []string{
		"MATCH (a), (b), (c), (d), (e), (f), (g), (h) RETURN count(*)",
		"MATCH (a)-[*]->(b) RETURN count(*)",
		"UNWIND range(1, 5000000) AS i WITH i WHERE i < 0 RETURN i",
		"UNWIND range(1, 3000000) AS i WITH i ORDER BY i % 7 RETURN count(*)",
		"UNWIND range(1, 3000000) AS i RETURN i % 7 AS k, count(*)",
		"RETURN reduce(s = 0, x IN range(1, 5000000) | s + x) AS s",
		"UNWIND range(1, 3000000) AS i WITH i MATCH (a {id: toString(i)}) RETURN count(*)",
		"MATCH (a) WHERE COUNT { MATCH (a)-[*]->(b) WHERE b.i < 0 } > 0 RETURN count(*)",
		"UNWIND range(1, 3000000) AS i MERGE (n:New {i: i % 3})",
		"UNWIND range(1, 3000000) AS i CREATE (n:New {i: i}) DELETE n",
	} {
		e := query.New(nil)
		p, err := e.Prepare(text, g)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &cancelling{Context: context.Background(), looks: 3}
		_, err = p.Run(ctx, g.Clone(), nil, &query.RunOptions{Budget: query.Budget{Memory: -1, Steps: -1}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want that it was canceled", text, err)
		}
	}
}

// TestPlansAreShared runs one plan on many goroutines at once, each with its own
// parameter.
func TestPlansAreShared(t *testing.T) {
	g := clique(t, 20)
	e := query.New(nil)
	const text = "MATCH (a {id: $id})-[*1..2]->(b) WHERE NOT EXISTS { (b)-->(:Nowhere) } RETURN a.i AS i, count(DISTINCT b) AS c"
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				n := (w*50+i)%20 + 1
				p, err := e.Prepare(text, g)
				if err != nil {
					errs <- err
					return
				}
				res, err := p.Run(context.Background(), g, map[string]value.Value{"id": value.String(fmt.Sprint(n))}, nil)
				if err != nil {
					errs <- err
					return
				}
				if got := fmt.Sprint(res.Rows); got != fmt.Sprintf("[[%d 20]]", n) {
					errs <- fmt.Errorf("node %d: got %s", n, got)
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func TestPlanCache(t *testing.T) {
	g := model.New()
	e := query.New(&query.Options{PlanCache: 2})
	prepare := func(text string) *query.Plan {
		t.Helper()
		p, err := e.Prepare(text, g)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a := prepare("RETURN 1 AS a")
	if prepare("RETURN 1 AS a") != a {
		t.Error("a plan was made twice")
	}
	prepare("RETURN 2 AS b")
	prepare("RETURN 1 AS a")
	prepare("RETURN 3 AS c") // drops b, the one not used for longest
	if prepare("RETURN 1 AS a") != a {
		t.Error("the plan used last was dropped")
	}
	if _, err := g.InternLabel("L"); err != nil {
		t.Fatal(err)
	}
	if prepare("RETURN 1 AS a") == a {
		t.Error("a plan outlived the schema it was made for")
	}
}

func TestWritesAndReadOnly(t *testing.T) {
	e := query.New(nil)
	g := model.New()
	for text, want := range map[string]bool{
		"RETURN 1 AS x": false, "CREATE (n)": true, "EXPLAIN CREATE (n)": false, "PROFILE CREATE (n)": true,
		"MATCH (n) SET n.x = 1": true, "REMEMBER 'x' ALONE": true, "RECALL 'x'": false,
		"CALL { CREATE (n) RETURN n } RETURN n": true,
	} {
		p, err := e.Prepare(text, g)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if p.Writes() != want {
			t.Errorf("%s: writes %v, want %v", text, p.Writes(), want)
		}
	}
	p, err := e.Prepare("CREATE (n)", g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background(), struct{ query.Reader }{g}, nil, nil); err == nil {
		t.Error("a writing statement ran on a reader")
	}
	if n := g.NodeCount(0); n != 0 {
		t.Errorf("%d nodes were created", n)
	}
}

func TestProfileCountsRows(t *testing.T) {
	g := clique(t, 5)
	e := query.New(&query.Options{Now: fixedNow})
	res := mustRun(t, e, g, "PROFILE MATCH (a:N)-->(b) WHERE a.i > 3 RETURN b.i AS i ORDER BY i LIMIT 3")
	want := `ProduceResults i  [rows 3, hits 3, 1 kB]
  TopK i LIMIT 3  [rows 3, hits 9, 1 kB]
    Project b.i AS i  [rows 8, hits 0]
      Expand (a)-[_1]->(b)  [rows 8, hits 10]
        Filter a.i > 3  [rows 2, hits 0]
          LabelScan a:N  [rows 5, hits 6]
            Argument  [rows 1, hits 0]
`
	got := res.Plan.StringNoTimes()
	if batch.Size < 100 { // operators look for the end once more, which the budget counts
		hits := regexp.MustCompile(`hits \d+`)
		got, want = hits.ReplaceAllString(got, "hits"), hits.ReplaceAllString(want, "hits")
	}
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(res.Rows) != 3 {
		t.Errorf("got %d rows", len(res.Rows))
	}
}

func TestProcedureErrorIsTheStatements(t *testing.T) {
	e := query.New(&query.Options{Procedures: noProcedures{}})
	_, err := e.Prepare("CALL no.such()", nil)
	if f := fault.As(err); f == nil || f.Detail != "ProcedureNotFound" {
		t.Errorf("got %v", err)
	}
}

type noProcedures struct{}

func (noProcedures) Lookup(string) (*physical.Procedure, bool) { return nil, false }
