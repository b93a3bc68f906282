package recall

import (
	"hash/fnv"
	"slices"
	"testing"
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
