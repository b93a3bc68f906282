package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"engram/graph/value"
)

// clustered draws vectors as texts give: around topics, with a common part.
func clustered(r *rand.Rand, dim, topics int) func() []float32 {
	centres := make([][]float32, topics)
	for i := range centres {
		centres[i] = gaussian(r, dim, 1)
	}
	common := gaussian(r, dim, 0.5)
	return func() []float32 {
		v := gaussian(r, dim, 0.7)
		c := centres[r.IntN(topics)]
		for j := range v {
			v[j] += c[j] + common[j]
		}
		return v
	}
}

func gaussian(r *rand.Rand, dim int, spread float64) []float32 {
	v := make([]float32, dim)
	for j := range v {
		v[j] = float32(r.NormFloat64() * spread)
	}
	return v
}

func benchSpace(b *testing.B, n, dim int) (*Index, func() []float32) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	draw := clustered(r, dim, 2000)
	ix, err := Open(Options{Model: "bench", Dim: dim})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ix.Close() })
	err = ix.Load(1, func(yield func(Doc, error) bool) {
		for i := range n {
			if !yield(Doc{Node: value.NodeID(i + 1), Vector: draw()}, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	return ix, draw
}

func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct{ n, dim int }{{10_000, 64}, {100_000, 64}, {1_000_000, 64}, {100_000, 384}} {
		b.Run(fmt.Sprintf("%dx%d", size.n, size.dim), func(b *testing.B) {
			ix, draw := benchSpace(b, size.n, size.dim)
			view, err := ix.At(1)
			if err != nil {
				b.Fatal(err)
			}
			queries := make([][]float32, 50)
			for i := range queries {
				queries[i] = draw()
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := view.Search(Query{Vector: queries[i%50], Limit: 10}); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.StopTimer()
			b.ReportMetric(recallOf(b, view, queries[:20]), "recall")
		})
	}
}

// recallOf returns the share of the exact ten nearest that Search finds.
func recallOf(b *testing.B, view *View, queries [][]float32) float64 {
	found, all := 0, 0
	for _, v := range queries {
		hits, err := view.Search(Query{Vector: v, Limit: 10})
		if err != nil {
			b.Fatal(err)
		}
		exact := view.compareAll(newTarget(normalised(v), view.totals(), true), &Query{Limit: 10})
		for _, h := range exact {
			all++
			for _, o := range hits {
				if o == h {
					found++
				}
			}
		}
	}
	return float64(found) / float64(all)
}

func BenchmarkPublish(b *testing.B) {
	ix, draw := benchSpace(b, 1000, 64)
	vectors := make([][]float32, 1000)
	for i := range vectors {
		vectors[i] = draw()
	}
	seq := uint64(1)
	for b.Loop() {
		seq++
		ix.Publish(seq, []Doc{{Node: value.NodeID(seq), Vector: vectors[seq%1000]}})
	}
}
