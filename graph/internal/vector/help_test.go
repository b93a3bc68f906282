package vector

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"engram/graph/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// manual are options under which nothing is flushed but by the test.
func manual(dir string, dim int) Options {
	return Options{Dir: dir, Model: "test/Model 1", Dim: dim, Identity: "db", FlushEvery: time.Hour, FlushDocs: 1 << 30}
}

func open(t testing.TB, o Options) *Index {
	t.Helper()
	ix, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	})
	return ix
}

// failer is what tests and property checks have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must[T any](x T, err error) func(failer) T {
	return func(t failer) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// naive is the vectors of a state: what a view is compared with.
type naive map[value.NodeID][]float32

// search ranks by plain sums over all vectors, from the codes alone.
func (m naive) search(q []float32, limit int, floor float64, centred bool) []Hit {
	ids := make([]value.NodeID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	t := totals{sums: make([]int64, len(q))}
	for _, id := range ids {
		t.add(encode(m[id]), 1)
	}
	target := newTarget(normalised(q), t, centred)
	var hits []Hit
	for _, id := range ids {
		if s := target.score(encode(m[id])); s > floor {
			hits = append(hits, Hit{id, s})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Node, b.Node)) })
	return hits[:min(limit, len(hits))]
}

func sameHits(t failer, got, want []Hit) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("hits\n%v, want\n%v", got, want)
	}
}

// floats is the score by the book, without codes.
func floats(q []float32, of value.NodeID, m naive) float64 {
	mean := make([]float64, len(q))
	for _, v := range m {
		for j, x := range normalised(v) {
			mean[j] += x / float64(len(m)+prior)
		}
	}
	a, b := normalised(q), normalised(m[of])
	for j := range mean {
		a[j] -= mean[j]
		b[j] -= mean[j]
	}
	return dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b))
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
