package query_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph"
	"engram/graph/value"
	"engram/query"
	"engram/query/internal/naive"
)

// TestRewritesInStore runs random statements on a graph on disk: with a plan made
// anew and one that is kept, and again after the graph was closed and opened, after
// its file was compacted, and after all that is derived was made anew. The rows stay
// the same.
func TestRewritesInStore(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "data")
	if err := graph.CreateData(path); err != nil {
		t.Fatal(err)
	}
	data, err := graph.OpenData(path, graph.DataOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	if err := data.Create("g", nil); err != nil {
		t.Fatal(err)
	}
	s := &storedStatements{t: t, data: data}
	s.open(nil)
	s.fill(3)
	for seed := range uint64(60) {
		s.list = append(s.list, naive.Generate(rand.New(rand.NewPCG(seed, 11)), false))
	}
	s.run("at first")
	if s.rows == 0 {
		t.Fatal("no statement had a row")
	}
	s.run("once more, with plans that are kept")
	s.close()
	s.open(nil)
	s.run("opened again")
	s.close()
	if _, err := data.Compact(ctx, "g"); err != nil {
		t.Fatal(err)
	}
	s.open(nil)
	s.run("compacted")
	s.close()
	s.open(&graph.Options{Rebuild: true})
	s.run("rebuilt")
	s.close()
}

// storedStatements are statements with the rows they had when they ran first.
type storedStatements struct {
	t      *testing.T
	data   *graph.Data
	db     *graph.DB
	engine *query.Engine
	list   []naive.Statement
	want   [][][]value.Value
	rows   int
}

func (s *storedStatements) open(o *graph.Options) {
	s.t.Helper()
	db, err := s.data.Open(context.Background(), "g", o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.db, s.engine = db, query.New(nil)
}

func (s *storedStatements) close() {
	s.t.Helper()
	if err := s.db.Close(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// fill puts random graphs into the database, a transaction each.
func (s *storedStatements) fill(graphs uint64) {
	s.t.Helper()
	ctx := context.Background()
	for seed := range graphs {
		tx, err := s.db.Begin(ctx)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := naive.FillGraph(tx, rand.New(rand.NewPCG(seed, 5))); err != nil {
			s.t.Fatal(err)
		}
		if _, err := tx.Commit(ctx); err != nil {
			s.t.Fatal(err)
		}
	}
}

// run runs every statement and compares its rows with those of the first time.
func (s *storedStatements) run(when string) {
	s.t.Helper()
	tx, err := s.db.Snapshot()
	if err != nil {
		s.t.Fatal(err)
	}
	defer tx.Rollback()
	for i, st := range s.list {
		plan, err := s.engine.Prepare(st.Text, tx)
		if err != nil {
			s.t.Fatalf("%s\n%v", st.Text, err)
		}
		res, err := plan.Run(context.Background(), tx, nil, nil)
		if err != nil {
			s.t.Fatalf("%s: %s\n%v", when, st.Text, err)
		}
		if !st.Ordered {
			sortRows(res.Rows)
		}
		if i == len(s.want) {
			s.want = append(s.want, res.Rows)
			s.rows += len(res.Rows)
			continue
		}
		if !slices.EqualFunc(res.Rows, s.want[i], equalRow) {
			s.t.Errorf("%s: %s\ngot\n%swant\n%s", when, st.Text, listRows(res.Rows), listRows(s.want[i]))
		}
	}
}
