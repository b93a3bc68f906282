package text

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"engram/graph/value"
)

var testFields = []Field{
	{Name: "content", Weight: 1},
	{Name: "title", Weight: 2.5},
	{Name: "speaker", Kind: Words, Weight: 0.7},
	{Name: "labels", Kind: Exact, Weight: 1.3},
}

// manual returns options under which nothing happens by itself.
func manual(dir string) Options {
	return Options{Dir: dir, Fields: testFields, Identity: "test", FlushEvery: time.Hour, FlushDocs: 1 << 30}
}

func open(t testing.TB, o Options) *Index {
	t.Helper()
	ix, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return ix
}

var vocabulary = []string{
	"run", "running", "runs", "crash", "crashes", "the", "of", "disconnect", "Caroline", "café", "CAFE", "graph", "memory", "memories",
	"Melanie's", "painting", "lake", "x1", "sunrise", "test", "case",
}

func genText(t *rapid.T, label string, most int) string {
	words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, most).Draw(t, label)
	text := ""
	for _, w := range words {
		text += w + " "
	}
	return text
}

func genDoc(t *rapid.T, node value.NodeID) Doc {
	d := Doc{Node: node}
	if rapid.IntRange(0, 4).Draw(t, "deleted") == 0 {
		return d
	}
	d.Fields = append(d.Fields, FieldText{"content", genText(t, "content", 12)})
	if rapid.Bool().Draw(t, "titled") {
		d.Fields = append(d.Fields, FieldText{"title", genText(t, "title", 4)})
	}
	d.Fields = append(d.Fields, FieldText{"speaker", rapid.SampledFrom([]string{"Caroline", "Melanie Smith"}).Draw(t, "speaker")})
	for _, l := range rapid.SliceOfN(rapid.SampledFrom([]string{"Memory", "Test Case", "graph", "Lake"}), 0, 2).Draw(t, "labels") {
		d.Fields = append(d.Fields, FieldText{"labels", l})
	}
	return d
}

// held is an old view beside what it must find.
type held struct {
	view *View
	want *naive
}

type world struct {
	t    *rapid.T
	opts Options
	ix   *Index
	m    *naive
	seq  uint64
	held []held
	log  [][]Doc // by seq-1, for replay
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) at(seq uint64) *View {
	v, err := w.ix.At(seq)
	w.must(err)
	return v
}

func (w *world) commit() {
	w.seq++
	var docs []Doc
	for range rapid.IntRange(0, 6).Draw(w.t, "docs") {
		docs = append(docs, genDoc(w.t, value.NodeID(rapid.IntRange(1, 40).Draw(w.t, "node"))))
	}
	w.ix.Publish(w.seq, docs)
	w.log = append(w.log, docs)
	for _, d := range docs {
		w.m.apply(d)
	}
	if rapid.IntRange(0, 3).Draw(w.t, "hold") == 0 {
		w.held = append(w.held, held{w.at(w.seq), w.m.clone()})
	}
}

// reopen closes the index, or leaves it as a killed process would, and replays
// what the index on disk lacks.
func (w *world) reopen() {
	w.held = nil
	if rapid.Bool().Draw(w.t, "cleanly") {
		w.must(w.ix.Close())
	} else {
		w.ix.Pause()
		w.must(w.ix.Close())
	}
	var err error
	w.ix, err = Open(w.opts)
	w.must(err)
	w.m.ix = w.ix
	from := w.ix.AppliedSeq()
	if from > w.seq {
		w.t.Fatalf("applied %d of %d", from, w.seq)
	}
	for s := from; s < w.seq; s++ {
		w.ix.Publish(s+1, w.log[s])
	}
}

func (w *world) step() {
	switch rapid.IntRange(0, 12).Draw(w.t, "step") {
	case 0, 1:
		w.must(w.ix.Flush())
	case 2:
		w.must(w.ix.Flush())
		w.must(w.ix.merge(context.Background()))
	case 3:
		w.reopen()
	case 4:
		w.compare(w.at(w.seq), w.m)
	case 5:
		w.pending()
	default:
		w.commit()
	}
}

// pending compares a view with changes on top that are never published.
func (w *world) pending() {
	m := w.m.clone()
	var docs []Doc
	for range rapid.IntRange(1, 4).Draw(w.t, "pending") {
		d := genDoc(w.t, value.NodeID(rapid.IntRange(1, 45).Draw(w.t, "node")))
		docs = append(docs, d)
		m.apply(d)
	}
	w.compare(w.at(w.seq).With(docs), m)
}

func (w *world) compare(v *View, m *naive) {
	w.t.Helper()
	text := genText(w.t, "query", 6)
	limit := rapid.SampledFrom([]int{1, 3, 100}).Draw(w.t, "limit")
	most := rapid.SampledFrom([]int{1, 3, 10}).Draw(w.t, "terms")
	got, err := v.Search(Query{Text: text, Limit: limit, MaxTerms: most})
	w.must(err)
	want := m.search(text, limit, most)
	if !slices.EqualFunc(got, want, func(a, b Hit) bool { return a.Node == b.Node && a.Score == b.Score }) {
		w.t.Fatalf("query %q: got %v want %v", text, got, want)
	}
	w.explained(v, Query{Text: text, MaxTerms: most})
	live := 0
	for _, d := range m.docs {
		for _, f := range testFields {
			if len(m.terms(d, f)) > 0 {
				live++
				break
			}
		}
	}
	n, err := v.Count()
	w.must(err)
	seen := 0
	w.must(v.EachNode(func(id value.NodeID) bool {
		if _, ok := m.docs[id]; ok {
			seen++
		}
		return true
	}))
	if n != int64(live) || seen != live {
		w.t.Fatalf("count %d, nodes %d, want %d", n, seen, live)
	}
}

// explained compares what a view tells of some nodes with what a search for them does.
func (w *world) explained(v *View, q Query) {
	w.t.Helper()
	nodes := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) value.NodeID { return value.NodeID(rapid.IntRange(1, 46).Draw(t, "node")) }), 1, 12, rapid.ID).Draw(w.t, "nodes")
	got, err := v.Explain(q, nodes)
	w.must(err)
	q.Limit, q.Explain, q.Keep = len(nodes), true, func(n value.NodeID) bool { return slices.Contains(nodes, n) }
	want, err := v.Search(q)
	w.must(err)
	slices.SortFunc(want, func(a, b Hit) int { return slices.Index(nodes, a.Node) - slices.Index(nodes, b.Node) })
	if !slices.EqualFunc(got, want, func(a, b Hit) bool {
		return a.Node == b.Node && a.Score == b.Score && slices.Equal(a.Terms, b.Terms)
	}) {
		w.t.Fatalf("query %q, nodes %v: got %v want %v", q.Text, nodes, got, want)
	}
}

// TestScoresEqualNaiveBM25 compares scores to the bit with BM25 by the book,
// wherever the line between disk and memory runs: across flushes, merges,
// updates, deletions, reopening with and without a clean end, for old views and
// for pending changes.
func TestScoresEqualNaiveBM25(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "text")
		if err != nil {
			rt.Fatal(err)
		}
		w := &world{t: rt, opts: manual(filepath.Join(dir, "index"))}
		if rapid.IntRange(0, 4).Draw(rt, "memory") == 0 {
			w.opts.Dir = ""
		}
		w.ix, err = Open(w.opts)
		w.must(err)
		defer func() { _ = w.ix.Close() }()
		w.m = &naive{w.ix, map[value.NodeID]Doc{}}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			w.step()
		}
		w.compare(w.at(w.seq), w.m)
		for _, h := range w.held {
			w.compare(h.view, h.want)
		}
	})
}

// TestPausedFollowerFindsEverything writes and asks in turn while nothing goes
// to disk.
func TestPausedFollowerFindsEverything(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	o.FlushEvery, o.FlushDocs = time.Millisecond, 100
	ix := open(t, o)
	ix.Pause()
	for i := 1; i <= 10_000; i++ {
		word := fmt.Sprintf("word%d", i)
		ix.Publish(uint64(i), []Doc{{Node: value.NodeID(i), Fields: []FieldText{{"content", "remember " + word}}}})
		v, err := ix.At(uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		hits, err := v.Search(Query{Text: word, Limit: 2})
		if err != nil || len(hits) != 1 || hits[0].Node != value.NodeID(i) {
			t.Fatalf("%s: %v, %v", word, hits, err)
		}
	}
	if s := ix.Stats(); s.Applied != 0 || s.Tail != 10_000 {
		t.Errorf("a paused follower wrote: %+v", s)
	}
}
