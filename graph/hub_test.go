package graph_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"engram/graph"
	"engram/graph/internal/store/bolt"
	"engram/graph/value"
)

// hubEdges is the degree of the hub.
const hubEdges = 1_000_000

// costs are what commits wrote, in pages.
type costs struct{ max, sum, n uint64 }

// measure runs commits one by one and returns what each wrote.
func measure(t *testing.T, db *graph.DB, n int, commit func(tx *graph.Tx, i int)) costs {
	t.Helper()
	var c costs
	for i := range n {
		before := must(db.Stats())(t).Store.PagesWritten
		update(t, db, func(tx *graph.Tx) { commit(tx, i) })
		pages := must(db.Stats())(t).Store.PagesWritten - before
		c.max, c.sum, c.n = max(c.max, pages), c.sum+pages, c.n+1
	}
	return c
}

func (c costs) mean() float64 { return float64(c.sum) / float64(c.n) }

// TestHub proves by counters that neither appending to a node with a million
// edges nor deleting it costs what its degree would suggest.
func TestHub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	o := graph.Manual(&graph.Options{})
	if err := bolt.Create(path, must(graph.InitialPuts(o))(t)); err != nil {
		t.Fatal(err)
	}
	driver, err := bolt.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := must(graph.OpenDriver(driver, o))(t)
	defer closeDB(t, db)
	hub, leaf := loadHub(t, db)
	var typ value.TypeID
	update(t, db, func(tx *graph.Tx) { typ = must(tx.InternRelType("HAS"))(t) })
	appendTo := func(to value.NodeID) func(tx *graph.Tx, i int) {
		return func(tx *graph.Tx, i int) { must(tx.CreateEdge(to, leaf, typ, nil))(t) }
	}

	plain := measure(t, db, 200, appendTo(leaf)) // the yardstick: a node without edges
	first := measure(t, db, 200, appendTo(hub))
	middle := measure(t, db, 9600, appendTo(hub))
	last := measure(t, db, 200, appendTo(hub))
	for name, c := range map[string]costs{"first": first, "middle": middle, "last": last} {
		if c.mean() > 1.2*plain.mean() || c.max > 2*plain.max {
			t.Errorf("the %s appends to the hub wrote %.1f pages each, at most %d; to a node without edges %.1f, at most %d",
				name, c.mean(), c.max, plain.mean(), plain.max)
		}
	}

	size := fileSize(t, path)
	before := must(db.Stats())(t).Store.PagesWritten
	update(t, db, func(tx *graph.Tx) {
		if n := must(tx.DeleteNode(hub, true))(t); n != hubEdges+10_000 {
			t.Errorf("deleting the hub reports %d edges", n)
		}
	})
	if pages := must(db.Stats())(t).Store.PagesWritten - before; pages > 4*plain.max {
		t.Errorf("deleting the hub wrote %d pages", pages)
	}
	view(t, db, func(tx *graph.Tx) {
		if n := tx.EdgeCount(0); n != 200 {
			t.Errorf("%d edges are left", n)
		}
	})
	sweepAll(t, db)
	if now := fileSize(t, path); float64(now) > 1.2*float64(size) {
		t.Errorf("the file grew from %d to %d bytes", size, now)
	}
	after := measure(t, db, 200, appendTo(leaf))
	if after.mean() > 1.2*plain.mean() {
		t.Errorf("after the deletion appends write %.1f pages instead of %.1f", after.mean(), plain.mean())
	}
	if r := checkClean(t, db); r.Edges != 400 || r.Swept != 0 {
		t.Errorf("%d edges, %d not swept", r.Edges, r.Swept)
	}
}

// sweepAll sweeps step by step; each step must stay small.
func sweepAll(t *testing.T, db *graph.DB) {
	t.Helper()
	for {
		before := must(db.Stats())(t).Store.PagesWritten
		more := db.TidyOnce(context.Background())
		if pages := must(db.Stats())(t).Store.PagesWritten - before; pages > 100 {
			t.Fatalf("a step of the sweeper wrote %d pages", pages)
		}
		if !more {
			break
		}
	}
	if err := db.TidyError(); err != nil {
		t.Fatal(err)
	}
}

func loadHub(t *testing.T, db *graph.DB) (hub, leaf value.NodeID) {
	t.Helper()
	l := must(db.Load(context.Background()))(t)
	hub = must(l.Node([]string{"Hub"}, nil))(t)
	leaf = must(l.Node([]string{"Leaf"}, nil))(t)
	ends := []value.NodeID{leaf}
	for range 999 {
		ends = append(ends, must(l.Node([]string{"Leaf"}, nil))(t))
	}
	for i := range hubEdges {
		src, dst := hub, ends[i%len(ends)]
		if i%2 == 1 {
			src, dst = dst, src
		}
		must(l.Edge(src, dst, "HAS", nil))(t)
	}
	must(l.Close())(t)
	return hub, leaf
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
