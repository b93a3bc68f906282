package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"engram/graph"
	"engram/graph/internal/store"
	"engram/graph/internal/store/mem"
	"engram/graph/value"
)

const (
	hour  = int64(3600 * 1000)
	unit  = 1 << 20
	first = 52429.0 / unit // .05, to the nearest unit
)

// countingDriver counts what is written by space.
type countingDriver struct {
	store.Driver
	puts, batches map[store.Space]int
}

func (d *countingDriver) Apply(expect store.Seq, batches []store.Batch) (store.Outcome, error) {
	for _, b := range batches {
		seen := map[store.Space]bool{}
		for _, p := range b.Puts {
			d.puts[p.Space]++
			if !seen[p.Space] {
				seen[p.Space] = true
				d.batches[p.Space]++
			}
		}
	}
	return d.Driver.Apply(expect, batches)
}

// Close keeps what is in it, for the next opening.
func (*countingDriver) Close() error { return nil }

// learned is a graph of three memories, of which the first two are joined.
type learned struct {
	db      *graph.DB
	driver  *countingDriver
	a, b, c value.NodeID
	ab      value.EdgeID
}

func newLearned(t *testing.T) *learned {
	t.Helper()
	puts, err := graph.InitialPuts(nil)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := mem.New(puts...)
	if err != nil {
		t.Fatal(err)
	}
	l := &learned{driver: &countingDriver{Driver: inner, puts: map[store.Space]int{}, batches: map[store.Space]int{}}}
	l.open(t, "")
	t.Cleanup(func() { closeDB(t, l.db) })
	update(t, l.db, func(tx *graph.Tx) {
		content := must(tx.InternKey("content"))(t)
		weight := must(tx.InternKey("weight"))(t)
		node := func(text string) value.NodeID {
			return must(tx.CreateNode(nil, []value.KeyProp{{Key: content, Value: value.String(text)}}))(t)
		}
		l.a, l.b, l.c = node("one fish"), node("two fish"), node("red fish")
		related := must(tx.InternRelType("RELATED"))(t)
		l.ab = must(tx.CreateEdge(l.a, l.b, related, []value.KeyProp{{Key: weight, Value: value.Float(.5)}}))(t)
	})
	return l
}

// open opens the graph, with a copy of the topology if file is not empty.
func (l *learned) open(t *testing.T, file string) {
	t.Helper()
	var err error
	if l.db, err = graph.OpenWithTopology(l.driver, graph.Manual(&graph.Options{}), file); err != nil {
		t.Fatal(err)
	}
}

func use(at int64, nodes ...value.NodeID) value.Use {
	u := value.Use{At: at}
	for _, n := range nodes {
		u.Nodes = append(u.Nodes, value.UsedNode{Node: n, Strength: 1})
	}
	return u
}

func (l *learned) learn(t *testing.T, uses ...value.Use) (out graph.LearnResult) {
	t.Helper()
	update(t, l.db, func(tx *graph.Tx) { out = must(tx.Learn(uses))(t) })
	return out
}

// state is all that learning changes.
func (l *learned) state(t *testing.T) (out []any) {
	t.Helper()
	view(t, l.db, func(tx *graph.Tx) {
		for _, n := range []value.NodeID{l.a, l.b, l.c} {
			out = append(out, tx.Activity(n))
			for _, e := range must(tx.Expand(n, value.Out, nil, nil))(t) {
				out = append(out, e, tx.LearnedWeight(e.Edge))
			}
		}
	})
	return out
}

func (l *learned) check(t *testing.T) {
	t.Helper()
	if r := must(l.db.Check(context.Background()))(t); !r.OK() {
		t.Error(r)
	}
	if err := l.db.CheckReplay(); err != nil {
		t.Error(err)
	}
}

func TestLearningFromUse(t *testing.T) {
	l := newLearned(t)
	if got := l.learn(t, use(hour, l.a, l.b)); got.Written != 1 || got.Refused != 0 {
		t.Errorf("%+v", got)
	}
	l.learn(t, use(3*hour, l.a), use(2*hour, l.a))
	view(t, l.db, func(tx *graph.Tx) {
		if got := tx.Activity(l.a); got != (value.Activity{Uses: 3, LastUsed: 3 * hour}) {
			t.Errorf("a: %+v", got)
		}
		if got := tx.Activity(l.c); got != (value.Activity{}) {
			t.Errorf("c: %+v", got)
		}
		if got := tx.LearnedWeight(l.ab); got != first {
			t.Errorf("learned %v, want %v", got, first)
		}
		k, _ := tx.Key("weight")
		if got := must(tx.EdgeProp(l.ab, k))(t); got.AsFloat() != .5 {
			t.Errorf("the asserted weight is %v", got)
		}
	})
	l.check(t)
}

// TestAnEdgeIsLearned after three times within seven days, not before, and not
// between two that the question named.
func TestAnEdgeIsLearned(t *testing.T) {
	l := newLearned(t)
	degree := func(n value.NodeID) (d int64) {
		view(t, l.db, func(tx *graph.Tx) { d = tx.Degree(n, value.Both, nil) })
		return d
	}
	seeds := use(hour, l.b, l.c)
	for i := range seeds.Nodes {
		seeds.Nodes[i].Seed = true
	}
	l.learn(t, seeds, seeds, seeds, seeds)
	l.learn(t, use(hour, l.c, l.b), use(100*hour, l.b, l.c))
	l.learn(t, use(7*24*hour+hour, l.b, l.c)) // the first is too long ago
	if d := degree(l.c); d != 0 {
		t.Fatalf("an edge was made too early")
	}
	l.learn(t, use(7*24*hour+2*hour, l.b, l.c))
	view(t, l.db, func(tx *graph.Tx) {
		all := must(tx.Expand(l.c, value.In, nil, nil))(t)
		if len(all) != 1 || all[0].Node != l.b || tx.RelTypeName(all[0].Type) != "ACTIVATES" {
			t.Fatalf("%+v", all)
		}
		e := must(tx.LoadEdge(all[0].Edge))(t)
		want := "[{origin 'learned'} {weight 0.0}]"
		if got := tx.LearnedWeight(e.ID); got != first || fmt.Sprint(e.Properties) != want {
			t.Errorf("learned %v, %+v", got, e)
		}
	})
	l.check(t)
	// A reverted edge is gone, and what was asserted is not touched.
	update(t, l.db, func(tx *graph.Tx) {
		all := must(tx.Expand(l.c, value.In, nil, nil))(t)
		if n := must(tx.RevertEdge(all[0].Edge))(t); n != 2 {
			t.Errorf("%d events taken back, want 2", n)
		}
	})
	if degree(l.c) != 0 || degree(l.b) != 1 {
		t.Error("the learned edge is still there, or another one is not")
	}
	l.check(t)
}

// TestRevertingIsExact: whatever was learned after a moment is taken back to the
// bit, through reopening, too.
func TestRevertingIsExact(t *testing.T) {
	l := newLearned(t)
	r := rand.New(rand.NewPCG(1, 2))
	batch := func(from int64) {
		var uses []value.Use
		for i := range int64(50) {
			u := value.Use{At: from + i*hour}
			for _, n := range []value.NodeID{l.a, l.b, l.c} {
				if r.IntN(2) == 0 {
					u.Nodes = append(u.Nodes, value.UsedNode{Node: n, Strength: r.Float64()})
				}
			}
			uses = append(uses, u)
		}
		l.learn(t, uses...)
	}
	batch(0)
	before := l.state(t)
	batch(1000 * hour)
	batch(2000 * hour)
	if reflect.DeepEqual(before, l.state(t)) {
		t.Fatal("nothing was learned")
	}
	l.check(t)
	view(t, l.db, func(tx *graph.Tx) {
		all, late := must(tx.LearningSince(0))(t), must(tx.LearningSince(2000*hour))(t)
		if len(late) == 0 || len(late) >= len(all) || late[0].At < 2000*hour {
			t.Errorf("%d events, %d late ones", len(all), len(late))
		}
	})
	update(t, l.db, func(tx *graph.Tx) { must(tx.RevertLearning(1000 * hour))(t) })
	if after := l.state(t); !reflect.DeepEqual(before, after) {
		t.Errorf("%v\nwant\n%v", after, before)
	}
	l.check(t)
	view(t, l.db, func(tx *graph.Tx) {
		if got := must(tx.LearningSince(1000 * hour))(t); len(got) != 0 {
			t.Errorf("%d events are still listed", len(got))
		}
	})
	update(t, l.db, func(tx *graph.Tx) { must(tx.RevertLearning(0))(t) })
	view(t, l.db, func(tx *graph.Tx) {
		if tx.LearnedWeight(l.ab) != 0 || tx.Activity(l.a) != (value.Activity{}) || tx.EdgeCount(0) != 1 {
			t.Error("something is left of what was learned")
		}
	})
	l.check(t)
}

// TestLearningTouchesNoContent: a thousand uses are one transaction that writes no
// record of a node and no text.
func TestLearningTouchesNoContent(t *testing.T) {
	l := newLearned(t)
	clear(l.driver.puts)
	clear(l.driver.batches)
	var uses []value.Use
	for i := range int64(1000) {
		uses = append(uses, use(i, l.a, l.b))
	}
	if got := l.learn(t, uses...); got.Written != 1000 {
		t.Errorf("%+v", got)
	}
	if n := l.driver.batches[store.Weights]; n != 1 {
		t.Errorf("%d transactions", n)
	}
	for _, s := range []store.Space{store.Nodes, store.Edges, store.Overflow, store.Index} {
		if n := l.driver.puts[s]; n != 0 {
			t.Errorf("%d records were written in space %d", n, s)
		}
	}
	if n := l.driver.puts[store.Activity]; n != 1 {
		t.Errorf("%d buckets of activity were written, want the one of both nodes", n)
	}
	l.check(t)
}

func TestWhatDoesNotLearn(t *testing.T) {
	l := newLearned(t)
	var gone, telemetry value.NodeID
	update(t, l.db, func(tx *graph.Tx) {
		gone = must(tx.CreateNode(nil, nil))(t)
		telemetry = must(tx.CreateNode([]value.LabelID{must(tx.InternLabel("Telemetry"))(t)}, nil))(t)
	})
	update(t, l.db, func(tx *graph.Tx) { must(tx.DeleteNode(gone, true))(t) })
	if got := l.learn(t, use(1, gone), use(1, telemetry), use(1, l.a, gone)); got.Written != 1 || got.Refused != 2 {
		t.Errorf("%+v", got)
	}
	l.check(t)
}

// TestLearningSurvivesDeletion: what was learned of an edge that is deleted is of no
// consequence, and its bucket is cleaned when it is written next.
func TestLearningSurvivesDeletion(t *testing.T) {
	l := newLearned(t)
	l.learn(t, use(1, l.a, l.b))
	update(t, l.db, func(tx *graph.Tx) { must(tx.DeleteEdge(l.ab))(t) })
	l.check(t)
	closeDB(t, l.db)
	l.open(t, "") // from the records: without an edge
	l.check(t)
	update(t, l.db, func(tx *graph.Tx) { must(tx.RevertLearning(0))(t) })
	l.check(t)
	l.learn(t, use(1, l.a, l.c), use(2, l.a, l.c), use(3, l.a, l.c))
	l.check(t)
}

// TestLearningIsReopened from the records, from the copy of the topology, and from
// the log behind it.
func TestLearningIsReopened(t *testing.T) {
	l := newLearned(t)
	l.learn(t, use(1, l.a, l.b))
	file := t.TempDir() + "/topology.snap"
	for _, from := range []string{"", file, file} {
		want := l.state(t)
		closeDB(t, l.db) // writes the copy, if there is a file for it
		l.open(t, from)
		if got := l.state(t); !reflect.DeepEqual(got, want) {
			t.Errorf("from %q: %v\nwant\n%v", from, got, want)
		}
		l.check(t)
	}
	stats := must(l.db.Stats())(t)
	if stats.Topology.OpenedAt == 0 {
		t.Error("the copy of the topology was not used")
	}
	copied := must(os.ReadFile(file))(t)
	l.learn(t, use(5, l.a, l.b))
	want := l.state(t)
	closeDB(t, l.db)
	if err := os.WriteFile(file, copied, 0o600); err != nil {
		t.Fatal(err)
	}
	l.open(t, file)
	if got := l.state(t); !reflect.DeepEqual(got, want) {
		t.Errorf("from the log: %v\nwant\n%v", got, want)
	}
	l.check(t)
}

// TestSettledLearning keeps few events: taking back what is older is refused before
// anything is changed, and names the moment from which it works; an edge is taken back
// wholly.
func TestSettledLearning(t *testing.T) {
	l := newLearned(t)
	closeDB(t, l.db)
	var err error
	if l.db, err = graph.OpenDriver(l.driver, graph.KeepEvents(graph.Manual(&graph.Options{}), 128)); err != nil {
		t.Fatal(err)
	}
	before := l.state(t)
	l.learn(t, use(5*hour, l.a, l.b)) // a record of three events
	for i := range int64(100) {       // and one for each of these
		l.learn(t, use(6*hour+i, l.c))
	}
	update(t, l.db, func(tx *graph.Tx) { must(tx.RevertLearning(6 * hour))(t) }) // all are there still
	for i := range int64(300) {
		l.learn(t, use(7*hour+i, l.c))
	}
	now := l.state(t)
	_, err = l.revert(t, 0)
	const want = "what was learned before 1970-01-01T07:00:00"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("taking back all: %v, want %q", err, want)
	}
	if !reflect.DeepEqual(now, l.state(t)) {
		t.Error("a refused REVERT changed something")
	}
	from := regexp.MustCompile(`datetime\('([^']*)'\)`).FindStringSubmatch(err.Error())
	at, err := time.Parse(time.RFC3339Nano, from[1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.revert(t, at.UnixMilli()-1); err == nil {
		t.Error("a millisecond earlier is taken back, too")
	}
	if n, err := l.revert(t, at.UnixMilli()); err != nil || n < 100 {
		t.Errorf("%d events were taken back, %v", n, err)
	}
	update(t, l.db, func(tx *graph.Tx) {
		if n := must(tx.RevertEdge(l.ab))(t); n != 1 {
			t.Errorf("%d events of the edge were taken back", n)
		}
	})
	after := l.state(t)
	if before[1].(value.Adjacent).Edge != l.ab || after[2] != before[2] {
		t.Errorf("the edge has learned %v, before %v", after[2], before[2])
	}
	l.check(t)
}

// revert commits even when it is refused, which must not show.
func (l *learned) revert(t *testing.T, since int64) (n int, err error) {
	t.Helper()
	update(t, l.db, func(tx *graph.Tx) { n, err = tx.RevertLearning(since) })
	return n, err
}
