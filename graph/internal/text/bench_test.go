package text

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"engram/graph/value"
)

const benchDocs = 100_000

// zipf draws words as frequent as in prose.
func zipf(r *rand.Rand, n int) string {
	z := rand.NewZipf(r, 1.1, 20, 50_000)
	text := ""
	for range n {
		text += fmt.Sprintf("w%d ", z.Uint64())
	}
	return text
}

func benchIndex(b *testing.B, dir string) *View {
	r := rand.New(rand.NewPCG(1, 2))
	ix := open(b, manual(dir))
	err := ix.Load(1, func(yield func(Doc, error) bool) {
		for i := range benchDocs {
			d := Doc{Node: value.NodeID(i + 1), Fields: []FieldText{{"content", zipf(r, 30)}, {"labels", "Memory"}}}
			if !yield(d, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	v, err := ix.At(1)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d segments", len(v.gen.base.segs))
	return v
}

func benchSearch(b *testing.B, v *View, words int) {
	r := rand.New(rand.NewPCG(3, 4))
	queries := make([]string, 200)
	for i := range queries {
		queries[i] = zipf(r, words)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := v.Search(Query{Text: queries[i%len(queries)], Limit: 10}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, where := range []string{"disk", "memory"} {
		dir := ""
		if where == "disk" {
			dir = filepath.Join(b.TempDir(), "index")
		}
		v := benchIndex(b, dir)
		for _, words := range []int{1, 2, 4, 10} {
			b.Run(fmt.Sprintf("%s/words=%d", where, words), func(b *testing.B) { benchSearch(b, v, words) })
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		benchIndex(b, filepath.Join(b.TempDir(), "index"))
	}
	b.ReportMetric(float64(benchDocs*b.N)/b.Elapsed().Seconds(), "docs/s")
}

func BenchmarkPublish(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = zipf(r, 30)
	}
	ix := open(b, manual(""))
	for i := 0; b.Loop(); i++ {
		ix.Publish(uint64(i+1), []Doc{{Node: value.NodeID(i + 1), Fields: []FieldText{{"content", texts[i%1000]}}}})
	}
}
