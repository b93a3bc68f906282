package graph_test

import (
	"context"
	"fmt"
	"testing"

	"engram/graph"
	"engram/graph/internal/store/mem"
	"engram/graph/value"
)

// ring loads n nodes with string ids in a ring.
func ring(t testing.TB, db *graph.DB, n int, prefix string) []value.NodeID {
	t.Helper()
	l := must(db.Load(context.Background()))(t)
	var ids []value.NodeID
	for i := range n {
		ids = append(ids, must(l.Node([]string{"N", fmt.Sprint("L", i%3)}, []value.Prop{
			{Key: "id", Value: value.String(fmt.Sprint(prefix, i))},
			{Key: "importance", Value: value.Float(float64(i) / 8)},
			{Key: "content", Value: value.String("some text")},
		}))(t))
	}
	for i := range n {
		must(l.Edge(ids[i], ids[(i+1)%n], "NEXT", []value.Prop{{Key: "weight", Value: value.Float(.25)}}))(t)
	}
	report := must(l.Close())(t)
	if report.Nodes != int64(n) || report.Edges != int64(n) {
		t.Fatalf("the report is %+v", report)
	}
	return ids
}

func checkClean(t testing.TB, db *graph.DB) *graph.Report {
	t.Helper()
	r := must(db.Check(context.Background()))(t)
	if !r.OK() {
		t.Fatalf("check found %q", r.Problems)
	}
	return r
}

func TestLoad(t *testing.T) {
	puts, err := graph.InitialPuts(nil)
	if err != nil {
		t.Fatal(err)
	}
	driver, err := mem.New(puts...)
	if err != nil {
		t.Fatal(err)
	}
	db := must(graph.OpenDriver(keeper{driver}, nil))(t)
	a := ring(t, db, 100_000, "a") // two batches, into the empty graph
	if r := checkClean(t, db); r.Nodes != 100_000 || r.Edges != 100_000 || r.Index != 100_000 {
		t.Errorf("after the first load: %+v", r)
	}
	b := ring(t, db, 1000, "b") // beside what is there
	update(t, db, func(tx *graph.Tx) {
		typ := must(tx.InternRelType("ACROSS"))(t)
		must(tx.CreateEdge(a[5], b[5], typ, nil))(t)
	})
	if r := checkClean(t, db); r.Nodes != 101_000 || r.Edges != 101_001 {
		t.Errorf("after the second load: %+v", r)
	}
	closeDB(t, db)
	db = must(graph.OpenDriver(keeper{driver}, nil))(t)
	defer closeDB(t, db)
	checkClean(t, db)
	view(t, db, func(tx *graph.Tx) {
		found := must(tx.NodesByID(value.String("a99999"), nil))(t)
		if len(found) != 1 || found[0] != a[99_999] {
			t.Errorf("a99999 finds %v", found)
		}
		adj := must(tx.Expand(a[5], value.Both, nil, nil))(t)
		if len(adj) != 3 {
			t.Errorf("node a5 has edges %v", adj)
		}
		imp, _ := tx.Key("importance")
		if v := must(tx.NodeProp(a[12], imp))(t); v.AsFloat() != 1.5 {
			t.Errorf("importance is %s", v)
		}
	})
}

func TestLoadRefusesATakenID(t *testing.T) {
	db := memory(t, nil)
	ring(t, db, 10, "a")
	for name, twice := range map[string]bool{"in the store": false, "in the load": true} {
		l := must(db.Load(context.Background()))(t)
		id := []value.Prop{{Key: "id", Value: value.String("a5")}}
		if twice {
			id[0].Value = value.String("new")
			must(l.Node(nil, id))(t)
		}
		_, err := l.Node(nil, id)
		if err == nil {
			_, err = l.Close()
		} else {
			l.Abort()
		}
		if graph.CodeOf(err) != graph.ConstraintViolated {
			t.Errorf("taken %s: %v", name, err)
		}
	}
	if r := checkClean(t, db); r.Nodes != 10 {
		t.Errorf("%d nodes", r.Nodes)
	}
	// The slot is free again.
	update(t, db, func(tx *graph.Tx) { must(tx.CreateNode(nil, nil))(t) })
}

func TestAbortedLoadShowsItsBatches(t *testing.T) {
	db := memory(t, nil)
	l := must(db.Load(context.Background()))(t)
	for range 70_000 { // one batch is written on the way
		must(l.Node([]string{"N"}, nil))(t)
	}
	l.Abort()
	r := checkClean(t, db)
	view(t, db, func(tx *graph.Tx) {
		if n := tx.NodeCount(0); n != r.Nodes || n == 0 || n == 70_000 {
			t.Errorf("%d nodes are visible, %d stored", n, r.Nodes)
		}
	})
}
