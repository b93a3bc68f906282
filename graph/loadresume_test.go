package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"engram/graph"
	"engram/graph/internal/store"
	"engram/graph/internal/store/mem"
	"engram/graph/value"
)

// fixed makes everything about a graph that is random or of the time the same.
func fixed() *graph.Options {
	return &graph.Options{Now: func() time.Time { return time.UnixMilli(1_900_000_000_000) }, Random: bytes.NewReader(make([]byte, 64))}
}

// resumable is a graph in memory that can be opened again, and what is loaded into it.
type resumable struct {
	driver       *mem.Driver
	nodes, edges int64
}

func newResumable(t testing.TB, nodes, edges int64) *resumable {
	t.Helper()
	puts := must(graph.InitialPuts(fixed()))(t)
	return &resumable{must(mem.New(puts...))(t), nodes, edges}
}

func (r *resumable) open(t testing.TB) *graph.DB {
	t.Helper()
	return must(graph.OpenDriver(keeper{r.driver}, fixed()))(t)
}

var errEnough = errors.New("enough")

// load loads or resumes, and gives up without ending the load after a number of
// elements.
func (r *resumable) load(t testing.TB, db *graph.DB, source string, limit int64) (*graph.Loader, error) {
	t.Helper()
	l, err := db.LoadFrom(context.Background(), graph.LoadOptions{Source: source, BatchKeys: 6})
	if err != nil {
		return nil, err
	}
	nodes, edges := l.Done()
	for i := nodes; i < r.nodes; i++ {
		if limit--; limit < 0 {
			return l, errEnough
		}
		must(l.Node([]string{"N", fmt.Sprint("L", i%3)}, []value.Prop{
			{Key: "id", Value: value.String(fmt.Sprint("n", i))},
			{Key: "content", Value: value.String(strings.Repeat("word ", int(i%5)+1))},
			{Key: "data", Value: value.String(strings.Repeat("x", int(i%7)*500))},
		}))(t)
	}
	for i := edges; i < r.edges; i++ {
		if limit--; limit < 0 {
			return l, errEnough
		}
		src, dst := must(l.NodeAt(i*7%r.nodes))(t), must(l.NodeAt(i*11%r.nodes))(t)
		must(l.Edge(src, dst, "TO", []value.Prop{{Key: "weight", Value: value.Float(float64(i))}}))(t)
	}
	_, err = l.Close()
	return l, err
}

// dump is all that the store has about elements.
func (r *resumable) dump(t testing.TB) string {
	t.Helper()
	reader := must(r.driver.Snapshot())(t)
	defer func() { _ = reader.Close() }()
	var b strings.Builder
	for _, space := range []store.Space{store.Names, store.Nodes, store.Edges, store.Index, store.Overflow} {
		if err := reader.Scan(space, nil, nil, func(k, v []byte) bool {
			fmt.Fprintf(&b, "%d %x %x\n", space, k, v)
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func (r *resumable) verify(t testing.TB, db *graph.DB) {
	t.Helper()
	if report := checkClean(t, db); report.Nodes != r.nodes || report.Edges != r.edges || report.Texts != r.nodes {
		t.Fatalf("there are %+v; want %d nodes and %d edges", report, r.nodes, r.edges)
	}
	if u := must(db.UnfinishedLoad())(t); u != nil {
		t.Fatalf("the load is unfinished: %+v", u)
	}
}

// TestLoadResumes interrupts a load again and again, as a kill does or by Abort, and
// resumes it: the store ends the same to the byte as without.
func TestLoadResumes(t *testing.T) {
	whole := newResumable(t, 500, 900)
	db := whole.open(t)
	if _, err := whole.load(t, db, "s", 1e9); err != nil {
		t.Fatal(err)
	}
	whole.verify(t, db)
	closeDB(t, db)
	want := whole.dump(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := newResumable(t, 500, 900)
		db := r.open(t)
		interruptions := 0
		for ; ; interruptions++ {
			limit := int64(1e9)
			if interruptions < 8 {
				limit = rapid.Int64Range(0, 700).Draw(rt, "limit")
			}
			l, err := r.load(t, db, "s", limit)
			if err == nil {
				break
			}
			if !errors.Is(err, errEnough) {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "abort") {
				l.Abort()
				checkClean(t, db)
				if rapid.Bool().Draw(rt, "same process") {
					continue
				}
			}
			closeDB(t, db)
			db = r.open(t)
			checkClean(t, db)
		}
		r.verify(t, db)
		closeDB(t, db)
		if r.dump(t) != want {
			rt.Fatalf("after %d interruptions the store differs", interruptions)
		}
	})
}

// TestLoadResumesBesideWriters lets others write between the parts of a load: they
// get ids of their own, and the load's edges still join its nodes.
func TestLoadResumesBesideWriters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := newResumable(t, 500, 900)
	db := r.open(t)
	for i := 0; ; i++ {
		l, err := r.load(t, db, "s", random.Int64N(1000))
		if err == nil {
			break
		}
		if !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
		if i%2 == 0 {
			l.Abort()
		} else {
			closeDB(t, db)
			db = r.open(t)
		}
		addPair(t, db, i)
	}
	pairs := nodesWithID(t, db, "a0") + nodesWithID(t, db, "a1")
	if pairs != 2 {
		t.Fatalf("%d of the other writer's nodes are there; want both", pairs)
	}
	report := checkClean(t, db)
	if extra := report.Nodes - 500; extra < 4 || report.Edges-900 != extra/2 {
		t.Errorf("there are %+v", report)
	}
	view(t, db, func(tx *graph.Tx) {
		for i := range int64(900) {
			src := must(tx.NodesByID(value.String(fmt.Sprint("n", i*7%500)), nil))(t)
			dst := must(tx.NodesByID(value.String(fmt.Sprint("n", i*11%500)), nil))(t)
			found := false
			for _, adj := range must(tx.Expand(src[0], value.Out, nil, nil))(t) {
				found = found || adj.Node == dst[0]
			}
			if !found {
				t.Fatalf("edge %d is missing", i)
			}
		}
	})
	closeDB(t, db)
}

func nodesWithID(t testing.TB, db *graph.DB, id string) (n int) {
	t.Helper()
	view(t, db, func(tx *graph.Tx) { n = len(must(tx.NodesByID(value.String(id), nil))(t)) })
	return n
}

func TestUnfinishedLoad(t *testing.T) {
	r := newResumable(t, 100, 100)
	db := r.open(t)
	if u := must(db.UnfinishedLoad())(t); u != nil {
		t.Errorf("a new graph has %+v", u)
	}
	if err := db.GiveUpLoad(context.Background()); err != nil {
		t.Errorf("giving up nothing: %v", err)
	}
	l, err := r.load(t, db, "first", 60)
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	if nodes, _, seq := l.Progress(); nodes < 50 || nodes > 60 || seq == 0 {
		t.Errorf("progress tells %d nodes at %d", nodes, seq)
	}
	l.Abort()
	if u := must(db.UnfinishedLoad())(t); u == nil || u.Source != "first" || u.Nodes < 50 || u.Edges != 0 {
		t.Errorf("what is unfinished is %+v", u)
	}
	for _, source := range []string{"second", ""} {
		if _, err := r.load(t, db, source, 60); graph.CodeOf(err) != graph.LoadUnfinished {
			t.Errorf("another source: %v", err)
		}
	}
	if err := db.GiveUpLoad(context.Background()); err != nil {
		t.Fatal(err)
	}
	n := must(db.Stats())(t).Nodes
	if n < 50 || n > 60 {
		t.Errorf("%d nodes stay", n)
	}
	r.nodes, r.edges = 0, 0
	l, err = r.load(t, db, "second", 60)
	if nodes, _ := l.Done(); nodes != 0 || err != nil {
		t.Errorf("the next load begins behind %d nodes: %v", nodes, err)
	}
	for _, row := range []int64{-1, 0} {
		if _, err := l.NodeAt(row); err == nil {
			t.Errorf("there is a node %d in an ended load", row)
		}
	}
	if _, err := db.LoadFrom(context.Background(), graph.LoadOptions{Source: strings.Repeat("x", 257)}); graph.CodeOf(err) != graph.InvalidArgument {
		t.Errorf("a long source: %v", err)
	}
	closeDB(t, db)
}

// FuzzLoadRecord: what is accepted means the same when it is written again.
func FuzzLoadRecord(f *testing.F) {
	f.Add(graph.ALoadRecord())
	f.Add([]byte{2})
	f.Add([]byte{1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F})
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := graph.LoadRecordAgain(b)
		if err != nil {
			return
		}
		twice, err := graph.LoadRecordAgain(again)
		if err != nil || !bytes.Equal(twice, again) {
			t.Errorf("%x is written as %x, which is read as %x, %v", b, again, twice, err)
		}
	})
}
