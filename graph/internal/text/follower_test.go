package text

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/graph/value"
)

// eventually waits for the follower, which runs by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 10_000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s did not come to pass", what)
}

// TestFollowerFlushes lets it write by time and by number, and pauses it.
func TestFollowerFlushes(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	o.FlushEvery = time.Millisecond
	ix := open(t, o)
	ix.Publish(1, []Doc{doc(1, "graph")})
	eventually(t, "a flush by time", func() bool { return ix.AppliedSeq() == 1 })
	ix.Pause()
	ix.Publish(2, []Doc{doc(2, "graph")})
	if s := ix.Stats(); s.Applied != 1 || s.Tail != 1 || s.Published != 2 || s.LastError != nil {
		t.Errorf("paused: %+v", s)
	}
	ix.Resume()
	eventually(t, "a flush after resuming", func() bool { return ix.AppliedSeq() == 2 })
	must(t, ix.Close())

	o = manual(filepath.Join(t.TempDir(), "index"))
	o.FlushDocs = 3
	ix = open(t, o)
	ix.Publish(1, []Doc{doc(1, "graph"), doc(2, "graph"), doc(3, "graph")})
	eventually(t, "a flush by number", func() bool { return ix.AppliedSeq() == 1 })
}

// TestThrottle holds writers back while the tail is full, and no longer than
// said.
func TestThrottle(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	o.MaxTail, o.MaxStall = 2, time.Hour
	ix := open(t, o)
	must(t, ix.Throttle(context.Background()))
	ix.Publish(1, []Doc{doc(1, "graph"), doc(2, "graph")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := ix.Throttle(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("a full tail does not hold back: %v", err)
	}
	held := make(chan error)
	go func() { held <- ix.Throttle(context.Background()) }()
	must(t, ix.Flush())
	must(t, <-held)

	ix.Publish(2, []Doc{doc(1, "graph"), doc(2, "graph")})
	ix.opts.MaxStall = time.Millisecond
	must(t, ix.Throttle(context.Background()))
}

// TestMemoryDropsWhatWasReplaced keeps an index without a directory from growing
// by updates alone.
func TestMemoryDropsWhatWasReplaced(t *testing.T) {
	ix := open(t, manual(""))
	for seq := uint64(1); seq <= 3000; seq++ {
		ix.Publish(seq, []Doc{doc(value.NodeID(1+seq%5), fmt.Sprintf("graph number%d", seq))})
	}
	old, err := ix.At(1500)
	must(t, err)
	must(t, ix.Flush())
	if s := ix.Stats(); s.Tail != 5 {
		t.Errorf("%d entries for 5 documents", s.Tail)
	}
	if got := search(t, ix, "graph"); len(got) != 5 {
		t.Errorf("found %v", got)
	}
	if hits, err := old.Search(Query{Text: "number1500", Limit: 1}); err != nil || len(hits) != 1 {
		t.Errorf("an old view finds %v, %v", hits, err)
	}
}

// TestOldViews takes views some flushes back; older ones are refused.
func TestOldViews(t *testing.T) {
	ix := open(t, manual(filepath.Join(t.TempDir(), "index")))
	first, err := ix.At(0)
	must(t, err)
	for seq := uint64(1); seq <= 12; seq++ {
		ix.Publish(seq, []Doc{doc(value.NodeID(seq), "graph")})
		must(t, ix.Flush())
	}
	for seq := uint64(5); seq <= 12; seq++ {
		v, err := ix.At(seq)
		must(t, err)
		if n, err := v.Count(); err != nil || n != int64(seq) {
			t.Errorf("at %d: %d documents, %v", seq, n, err)
		}
	}
	if _, err := ix.At(4); !errors.Is(err, ErrGone) {
		t.Errorf("at 4: %v", err)
	}
	if n, err := first.Count(); err != nil || n != 0 {
		t.Errorf("a view that was kept: %d, %v", n, err)
	}
	must(t, ix.Close())
	if _, err := first.Search(Query{Text: "graph", Limit: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
}

// TestSearchesBesideWriting is for the race detector.
func TestSearchesBesideWriting(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	o.FlushEvery, o.FlushDocs = time.Millisecond, 50
	ix := open(t, o)
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ix.PublishedSeq() < 500 {
				seq := ix.PublishedSeq()
				v, err := ix.At(seq)
				if err != nil {
					t.Error(err)
					return
				}
				hits, err := v.Search(Query{Text: "graph", Limit: 1000})
				if err != nil || uint64(len(hits)) != seq {
					t.Errorf("at %d: %d hits, %v", seq, len(hits), err)
					return
				}
			}
		}()
	}
	for seq := uint64(1); seq <= 500; seq++ {
		ix.Publish(seq, []Doc{doc(value.NodeID(seq), "graph"), doc(value.NodeID(1+seq/2), "graph again")})
	}
	wg.Wait()
}

func TestQueryOptions(t *testing.T) {
	ix := open(t, manual(""))
	ix.Publish(1, []Doc{
		{Node: 1, Fields: []FieldText{{"content", "the graph database graph"}, {"labels", "Memory"}}},
		{Node: 2, Fields: []FieldText{{"content", "graphs remember"}, {"title", "Lake"}}},
		{Node: 3, Fields: []FieldText{{"content", "graphs remember"}, {"unknown", "lake"}}},
	})
	v, err := ix.At(1)
	must(t, err)
	find := func(q Query) string {
		t.Helper()
		if q.Limit == 0 {
			q.Limit = 10
		}
		hits, err := v.Search(q)
		must(t, err)
		var out []string
		for _, h := range hits {
			out = append(out, fmt.Sprint(h.Node))
		}
		return strings.Join(out, " ")
	}
	cases := []struct {
		name, want string
		q          Query
	}{
		{"stems", "1 2 3", Query{Text: "graphing"}},
		{"label", "1", Query{Text: "MEMORY"}},
		{"only stop words", "", Query{Text: "the of"}},
		{"nothing", "", Query{Text: "zebra"}},
		{"a field that is not configured", "2", Query{Text: "lake"}},
		{"ties by id", "2 3", Query{Text: "remember"}},
		{"ties by function", "3 2", Query{Text: "remember", Tie: func(a, b value.NodeID) int { return int(b) - int(a) }}},
		{"ties at the limit", "3", Query{Text: "remember", Limit: 1, Tie: func(a, b value.NodeID) int { return int(b) - int(a) }}},
		{"keep", "3", Query{Text: "remember", Keep: func(n value.NodeID) bool { return n == 3 }}},
		{"rarest term", "2", Query{Text: "graph lake", MaxTerms: 1}},
		{"fields", "", Query{Text: "lake", Weights: map[string]float64{"content": 1}}},
		{"weighted terms", "2 3 1", Query{Terms: []Term{{"graph", 0.01}, {"remember", 5}}}},
		{"terms without weight", "", Query{Terms: []Term{{"graph", 0}}}},
	}
	for _, c := range cases {
		if got := find(c.q); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := ix.Terms("The running Graphs, and the graph!"); !slices.Equal(got, []string{"graph", "run"}) {
		t.Errorf("terms: %q", got)
	}
}

// TestExplanationAddsUp compares each hit's score with its summands.
func TestExplanationAddsUp(t *testing.T) {
	ix := open(t, manual(filepath.Join(t.TempDir(), "index")))
	ix.Publish(1, []Doc{{Node: 1, Fields: []FieldText{{"content", "graph graph lake"}, {"title", "graph"}}}, doc(2, "a lake")})
	must(t, ix.Flush())
	ix.Publish(2, []Doc{doc(3, "graph")})
	v, err := ix.At(2)
	must(t, err)
	hits, err := v.Search(Query{Text: "graphs at lakes", Limit: 3, Explain: true})
	must(t, err)
	if len(hits) != 3 || hits[0].Node != 1 {
		t.Fatalf("got %+v", hits)
	}
	for _, h := range hits {
		sum := 0.0
		for _, s := range h.Terms {
			sum += s.Score
		}
		if sum != h.Score {
			t.Errorf("node %d: %v adds up to %v, score %v", h.Node, h.Terms, sum, h.Score)
		}
	}
	want := TermScore{Field: "content", Term: "graph", Freq: 2, Length: 3, Docs: 2}
	got := hits[0].Terms[0]
	got.Score = 0
	if got != want || len(hits[0].Terms) != 3 {
		t.Errorf("got %+v, want %+v first of 3", hits[0].Terms, want)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, fields := range [][]Field{nil, {{Name: ""}}, {{Name: "_id"}}, {{Name: "a"}, {Name: "a"}}, {{Name: "a", Kind: 9}}, {{Name: "a", Weight: -1}}} {
		if ix, err := Open(Options{Fields: fields}); err == nil {
			_ = ix.Close()
			t.Errorf("%v was accepted", fields)
		}
	}
}

// TestReplayIsHarmless publishes seqs again, as a log does that reaches further
// back than the index.
func TestReplayIsHarmless(t *testing.T) {
	ix := open(t, manual(filepath.Join(t.TempDir(), "index")))
	ix.Publish(1, []Doc{doc(1, "graph")})
	ix.Publish(2, []Doc{doc(1, "lake"), doc(2, "graph")})
	ix.Publish(1, []Doc{doc(1, "graph")})
	ix.Publish(2, []Doc{doc(1, "lake"), doc(2, "graph")})
	if got := search(t, ix, "graph"); !slices.Equal(got, []value.NodeID{2}) || ix.Stats().Tail != 3 {
		t.Errorf("found %v in %+v", got, ix.Stats())
	}
}
