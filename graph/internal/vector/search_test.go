package vector

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/value"
)

// filled publishes vectors in the order given, several a transaction.
func filled(t testing.TB, dim int, docs []Doc) *View {
	t.Helper()
	ix := open(t, manual("", dim))
	seq := uint64(0)
	for some := range slices.Chunk(docs, 100) {
		seq++
		ix.Publish(seq, some)
	}
	return must(ix.At(seq))(t)
}

func TestSearchByHand(t *testing.T) {
	view := filled(t, 2, []Doc{
		{Node: 1, Vector: []float32{1, 0}}, {Node: 2, Vector: []float32{0, 5}}, {Node: 3, Vector: []float32{1, 1}}, {Node: 4, Vector: []float32{-2, 0}},
	})
	hits := must(view.Search(Query{Vector: []float32{3, 0}, Limit: 3, Floor: -1, Uncentred: true}))(t)
	want := []Hit{{1, 1}, {3, math.Sqrt2 / 2}, {2, 0}}
	for i, h := range hits {
		if h.Node != want[i].Node || math.Abs(h.Score-want[i].Score) > 1e-3 {
			t.Errorf("hit %d: %v, want %v", i, h, want[i])
		}
	}
	if len(hits) != 3 {
		t.Errorf("%d hits, want 3", len(hits))
	}
	positive := must(view.Search(Query{Vector: []float32{3, 0}, Limit: 10, Uncentred: true}))(t)
	if len(positive) != 2 {
		t.Errorf("above 0: %v, want nodes 1 and 3", positive)
	}
}

// TestScore compares with floating-point arithmetic on the vectors themselves.
func TestScore(t *testing.T) {
	for _, dim := range []int{1, 3, 64, 100, 384, 1536} {
		r := source(uint64(dim))
		draw := clustered(r, dim, 5)
		m, docs := naive{}, []Doc(nil)
		for i := range 300 {
			m[value.NodeID(i)] = draw()
			docs = append(docs, Doc{Node: value.NodeID(i), Vector: m[value.NodeID(i)]})
		}
		view, q := filled(t, dim, docs), draw()
		for _, h := range must(view.Search(Query{Vector: q, Limit: 300, Floor: -1}))(t) {
			if want := floats(q, h.Node, m); math.Abs(h.Score-want) > 0.01 {
				t.Errorf("%d dimensions, node %d: %.4f, want %.4f", dim, h.Node, h.Score, want)
			}
		}
	}
}

func TestScoreOfExtremes(t *testing.T) {
	view := filled(t, 3, []Doc{
		{Node: 1, Vector: []float32{math.MaxFloat32, math.MaxFloat32, 0}},
		{Node: 2, Vector: []float32{math.SmallestNonzeroFloat32, 0, 0}},
		{Node: 3, Vector: []float32{1e-30, 1e-30, 1e-30}},
	})
	for _, q := range [][]float32{{1e-40, 0, 0}, {math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32}} {
		for _, h := range must(view.Search(Query{Vector: q, Limit: 3, Floor: -1, Uncentred: true}))(t) {
			if math.IsNaN(h.Score) || math.Abs(h.Score) > 1 {
				t.Errorf("query %v: %v", q, h)
			}
		}
	}
}

func TestUnusableVectors(t *testing.T) {
	ix := open(t, manual("", 2))
	bad := [][]float32{{1}, {1, 2, 3}, {0, 0}, {float32(math.NaN()), 1}, {1, float32(math.Inf(-1))}, {}}
	ix.Publish(1, []Doc{{Node: 1, Vector: []float32{1, 1}}})
	view := must(ix.At(1))(t)
	for i, v := range bad {
		if _, err := view.Search(Query{Vector: v, Limit: 1}); !errors.Is(err, ErrVector) {
			t.Errorf("search for %v: %v", v, err)
		}
		if _, err := view.Scores(v, false, nil); !errors.Is(err, ErrVector) {
			t.Errorf("scores of %v: %v", v, err)
		}
		if _, err := ix.Fill(Task{}, v); !errors.Is(err, ErrVector) {
			t.Errorf("fill with %v: %v", v, err)
		}
		ix.Publish(uint64(i+2), []Doc{{Node: 1, Vector: v}})
	}
	if s := ix.Stats(); s.Invalid != int64(len(bad)) || s.Live != 0 {
		t.Errorf("%+v; want %d invalid, none live", s, len(bad))
	}
	for _, o := range []Options{{}, {Model: "m"}, {Model: "m", Dim: MaxDim + 1}, {Dim: 3}} {
		if _, err := Open(o); err == nil {
			t.Errorf("opened with %+v", o)
		}
	}
}

// manyDocs are enough vectors to be prefiltered.
func manyDocs(seed uint64, n int) []Doc {
	draw := clustered(source(seed), 64, 200)
	docs := make([]Doc, n)
	for i := range docs {
		docs[i] = Doc{Node: value.NodeID(i + 1), Vector: draw()}
	}
	return docs
}

func TestPrefilterFindsTheNearest(t *testing.T) {
	docs := manyDocs(1, 40_000)
	view := filled(t, 64, docs)
	draw := clustered(source(1), 64, 200)
	found := 0
	for range 50 {
		q := Query{Vector: draw(), Limit: 10}
		hits := must(view.Search(q))(t)
		exact := view.compareAll(newTarget(normalised(q.Vector), view.totals(), true), &q)
		for _, h := range exact {
			if slices.Contains(hits, h) {
				found++
			}
		}
	}
	if found < 495 {
		t.Errorf("%d of 500 nearest nodes found", found)
	}
}

// TestOrderOfArrivalDoesNotMatter brings the same final vectors by other ways.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	docs := manyDocs(2, 30_000)
	a := filled(t, 64, docs)
	r := source(3)
	shuffled := slices.Clone(docs)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	var detour []Doc
	for i, d := range shuffled {
		if i%3 == 0 { // another vector first
			detour = append(detour, Doc{Node: d.Node, Vector: shuffled[(i+1)%len(shuffled)].Vector})
		}
		if i%5 == 0 { // a node that goes again
			detour = append(detour, Doc{Node: d.Node + 1_000_000, Vector: d.Vector})
		}
	}
	detour = append(detour, shuffled...)
	for i, d := range shuffled {
		if i%5 == 0 {
			detour = append(detour, Doc{Node: d.Node + 1_000_000})
		}
	}
	b := filled(t, 64, detour)
	if a.Count() != b.Count() {
		t.Fatalf("%d and %d vectors", a.Count(), b.Count())
	}
	c := a.ix.gens[0].compacted(a.ix.durable.Load())
	if c.n != 30_000 {
		t.Fatalf("compacted to %d entries", c.n)
	}
	for i := range 20 {
		q := Query{Vector: docs[i*7].Vector, Limit: 20}
		want := must(a.Search(q))(t)
		if len(want) != 20 {
			t.Fatalf("%d hits", len(want))
		}
		sameHits(t, must(b.Search(q))(t), want)
	}
}

// TestPrefilterUnderOverlay puts changes on top of a prefiltered store.
func TestPrefilterUnderOverlay(t *testing.T) {
	docs := manyDocs(4, 30_000)
	changes := []Doc{{Node: 5}, {Node: 6, Vector: docs[100].Vector}, {Node: 99_999, Vector: docs[100].Vector}}
	under := filled(t, 64, docs).With(changes)
	plain := filled(t, 64, append(slices.Clone(docs), changes...))
	for _, at := range []int{4, 5, 100, 2000} {
		q := Query{Vector: docs[at].Vector, Limit: 20}
		sameHits(t, must(under.Search(q))(t), must(plain.Search(q))(t))
	}
}

func TestEqualScores(t *testing.T) {
	var docs []Doc
	for i := range 20_000 {
		docs = append(docs, Doc{Node: value.NodeID(i + 1), Vector: append(make([]float32, 63), 1)})
	}
	docs[777].Vector = append([]float32{1}, make([]float32, 63)...)
	view := filled(t, 64, docs)
	reverse := func(a, b value.NodeID) int { return cmp.Compare(b, a) }
	hits := must(view.Search(Query{Vector: docs[0].Vector, Limit: 3, Tie: reverse}))(t)
	if len(hits) != 3 || hits[0].Node != 20_000 || hits[1].Node != 19_999 || hits[2].Node != 19_998 {
		t.Errorf("hits %v, want the greatest ids", hits)
	}
	hits = must(view.Search(Query{Vector: docs[777].Vector, Limit: 3}))(t)
	if len(hits) != 1 || hits[0].Node != 778 {
		t.Errorf("hits %v, want node 778 alone", hits)
	}
}

func TestKeep(t *testing.T) {
	docs := manyDocs(5, 30_000)
	view := filled(t, 64, docs)
	for _, every := range []value.NodeID{2, 1000, 10_000} {
		q := Query{Vector: docs[9].Vector, Limit: 10, Floor: -1, Keep: func(id value.NodeID) bool { return id%every == 0 }}
		hits := must(view.Search(q))(t)
		want := view.compareAll(newTarget(normalised(q.Vector), view.totals(), true), &q)
		sameHits(t, hits, want)
		if len(hits) != min(10, 30_000/int(every)) {
			t.Errorf("one of %d kept: %d hits", every, len(hits))
		}
	}
}

func TestFewVectorsKeepTheirDirection(t *testing.T) {
	view := filled(t, 2, []Doc{{Node: 1, Vector: []float32{1, 0.1}}})
	hits := must(view.Search(Query{Vector: []float32{1, 0}, Limit: 1}))(t)
	if len(hits) != 1 || hits[0].Score < 0.98 {
		t.Errorf("hits %v, want one near 1: the mean of one vector must not take it away", hits)
	}
}

func TestFunnel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOf(rapid.Uint32Range(0, 20)).Draw(t, "scores")
		want := rapid.IntRange(1, 10).Draw(t, "want")
		var f funnel
		f.reset(want, 0)
		for i, s := range scores {
			if s >= f.floor {
				f.kept = append(f.kept, candidate{uint32(i), s})
			}
			if len(f.kept) >= f.limit {
				f.narrow()
			}
		}
		f.narrow()
		var best []candidate
		if sorted := slices.Sorted(slices.Values(scores)); len(sorted) > 0 {
			last := sorted[max(0, len(sorted)-want)]
			for i, s := range scores {
				if s >= last {
					best = append(best, candidate{uint32(i), s})
				}
			}
		}
		if !slices.Equal(f.kept, best) {
			t.Fatalf("kept %v, want %v", f.kept, best)
		}
	})
}

func TestCoarse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 5, 64, 65, 200}).Draw(t, "dim")
		r := source(rapid.Uint64().Draw(t, "seed"))
		q := newTarget(normalised(gaussian(r, dim, 1)), totals{}, false)
		c := encode(gaussian(r, dim, 1))
		var want uint32
		for j, k := range c.codes {
			if w := j / 64; (k > 0) == (q.sign[w]>>(j%64)&1 == 1) {
				for b := range q.masks {
					want += uint32(q.masks[b][w]>>(j%64)&1) << b
				}
			}
		}
		sign := make([]uint64, words(dim))
		signs(sign, c.codes)
		if got := q.coarse(sign); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
		if dim <= 64 {
			var out [1]uint16
			if q.coarse64(out[:], sign); uint32(out[0]) != want {
				t.Fatalf("%d, want %d", out[0], want)
			}
		}
		var along, mean int64
		for j, k := range c.codes {
			mean += int64(k) * int64(int32(q.pairs[j]))
			along += int64(k) * ((q.pairs[j] - int64(int32(q.pairs[j]))) >> 32)
		}
		if a, m := q.products(c.codes); int64(a) != along || int64(m) != mean {
			t.Fatalf("products %d, %d, want %d, %d", a, m, along, mean)
		}
	})
}

// TestPrefilterAfterAWrongGuess puts what is near into the chunks that are sampled,
// so that the guessed floor is too high.
func TestPrefilterAfterAWrongGuess(t *testing.T) {
	docs := manyDocs(6, 30_000)
	r := source(8)
	for i := range docs {
		if (i>>chunkBits)%sampled == 0 {
			docs[i].Vector = gaussian(r, 64, 0.3)
			docs[i].Vector[0] += 9
		}
	}
	view := filled(t, 64, docs)
	q := newTarget(normalised(docs[0].Vector), view.totals(), true)
	var f funnel
	view.prefilter(q, &f, 4096)
	var all []int
	view.eachCoarse(q, 1, func(_ uint32, coarse []uint16) {
		for _, s := range coarse {
			all = append(all, int(s))
		}
	})
	sorted := slices.Sorted(slices.Values(all))
	want := 0
	for _, s := range all {
		if s >= sorted[len(sorted)-4096] {
			want++
		}
	}
	if len(all) != 30_000 || len(f.kept) != want || int(f.floor) != sorted[len(sorted)-4096] {
		t.Errorf("%d candidates down to %d, want %d down to %d", len(f.kept), f.floor, want, sorted[len(sorted)-4096])
	}
}
