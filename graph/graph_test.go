package graph_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"engram/graph"
	"engram/graph/value"
)

// TestMain doubles as the child of tests that kill a process.
func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(childMain(job))
	}
	goleak.VerifyTestMain(m)
}

// memory opens a graph in memory and closes it at the end of the test.
func memory(t testing.TB, o *graph.Options) *graph.DB {
	t.Helper()
	db, err := graph.OpenMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeDB(t, db) })
	return db
}

func closeDB(t testing.TB, db *graph.DB) {
	t.Helper()
	if err := db.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// update runs fn in a writing transaction and commits it.
func update(t testing.TB, db *graph.DB, fn func(tx *graph.Tx)) {
	t.Helper()
	tx, err := db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	fn(tx)
	if _, err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// view runs fn over a snapshot.
func view(t testing.TB, db *graph.DB, fn func(tx *graph.Tx)) {
	t.Helper()
	tx, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	fn(tx)
}

// must returns v, or ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestWriteAndReadBack(t *testing.T) {
	db := memory(t, nil)
	var a, b value.NodeID
	var e value.EdgeID
	update(t, db, func(tx *graph.Tx) {
		person := must(tx.InternLabel("Person"))(t)
		knows := must(tx.InternRelType("KNOWS"))(t)
		name := must(tx.InternKey("name"))(t)
		weight := must(tx.InternKey("weight"))(t)
		a = must(tx.CreateNode([]value.LabelID{person}, []value.KeyProp{{Key: name, Value: value.String("Ada")}}))(t)
		b = must(tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.String("bob")}}))(t)
		e = must(tx.CreateEdge(a, b, knows, []value.KeyProp{{Key: weight, Value: value.Float(.5)}}))(t)
		if n := must(tx.LoadNode(a))(t); n.Labels[0] != "Person" {
			t.Errorf("own writes are not seen: %+v", n)
		}
	})
	view(t, db, func(tx *graph.Tx) {
		n := must(tx.LoadNode(a))(t)
		if len(n.Labels) != 1 || n.Labels[0] != "Person" || len(n.Properties) != 1 || n.Properties[0].Value.AsString() != "Ada" || len(n.ElementID) != 26 {
			t.Errorf("node a is %+v", n)
		}
		x := must(tx.LoadEdge(e))(t)
		if x.Type != "KNOWS" || x.Src != a || x.Dst != b || x.DstElementID != "bob" || x.SrcElementID != n.ElementID || x.Properties[0].Value.AsFloat() != .5 {
			t.Errorf("the edge is %+v", x)
		}
		for want, v := range map[value.NodeID]value.Value{b: value.String("bob"), a: value.String(n.ElementID)} {
			if got := must(tx.NodesByID(v, nil))(t); len(got) != 1 || got[0] != want {
				t.Errorf("%v finds %v, want %d", v.AsString(), got, want)
			}
		}
		if adj := must(tx.Expand(b, value.In, nil, nil))(t); len(adj) != 1 || adj[0].Node != a || adj[0].Edge != e {
			t.Errorf("b's edges are %v", adj)
		}
	})
}
