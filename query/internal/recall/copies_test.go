package recall

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"engram/activation"
)

// TestWordHashes: they are those of the words, one by one.
func TestWordHashes(t *testing.T) {
	for _, text := range []string{
		"", "a", "Ab", "one two, three; FOUR 5 66 seven-eight", "Grüße aus Zürich, É è ÉÈ", "日本 語 テキスト", "x\xffyz \xff ab\xc3",
		"İstanbul ẞ ǅ", "  lead and trail  ",
	} {
		var want []uint64
		for _, w := range nameWords(text) {
			h := fnv.New64a()
			h.Write([]byte(w))
			want = append(want, h.Sum64())
		}
		if got := wordHashes(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestSimilarBounds: the marks of words never rule out what is alike, sorted or not.
func TestSimilarBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		n := 1 + rng.IntN(60)
		a := someWords(rng, n, 80)
		b := slices.Clone(a)
		for range rng.IntN(1 + n/4) {
			b[rng.IntN(n)] = rng.Uint64()
		}
		x, y := newWords(slices.Clone(a)), newWords(slices.Clone(b))
		if rng.IntN(2) == 0 {
			x.distinct()
		}
		bound := min(x.likeAtMost(y), y.likeAtMost(x))
		if exact := activation.Similarity(newWords(a).distinct(), y.distinct()); bound < exact {
			t.Fatalf("at most %v, but it is %v", bound, exact)
		}
	}
}

// TestMarksTellApart: of texts that have little in common the words need not be compared.
func TestMarksTellApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 1000 {
		x, y := newWords(someWords(rng, 10+rng.IntN(90), 5000)), newWords(someWords(rng, 10+rng.IntN(90), 5000))
		if min(x.likeAtMost(y), y.likeAtMost(x)) >= 0.85 {
			compared++
		}
	}
	if compared > 50 {
		t.Errorf("%d of 1,000 pairs are compared word by word", compared)
	}
}

func someWords(rng *rand.Rand, n, vocabulary int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = wordHashes(fmt.Sprint("w", rng.IntN(vocabulary)))[0]
	}
	return out
}
