package recall

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// texts compares what memories say. The words of each are read once.
type texts struct {
	g       access.Reader
	content value.KeyID
	least   float64 // a similarity that matters
	words   map[activation.ID]*words
	err     error // comparing can't return one
}

func newTexts(g access.Reader, least float64) *texts {
	t := &texts{g: g, least: least, words: map[activation.ID]*words{}}
	t.content, _ = g.Key(vocab.KeyContent)
	return t
}

// similar is the share of words that two memories have in common, or 0 where it is
// less than what matters.
func (t *texts) similar(a, b activation.ID) float64 {
	x, y := t.of(a), t.of(b)
	if x.likeAtMost(y) < t.least || y.likeAtMost(x) < t.least {
		return 0
	}
	if s := activation.Similarity(x.distinct(), y.distinct()); s >= t.least {
		return s
	}
	return 0
}

func (t *texts) of(id activation.ID) *words {
	if w, ok := t.words[id]; ok {
		return w
	}
	var v value.Value
	if t.content != 0 {
		var err error
		if v, err = t.g.NodeProp(nodeOf(id), t.content); err != nil && t.err == nil {
			t.err = err
		}
	}
	w := newWords(wordHashes(v.AsString()))
	t.words[id] = w
	return w
}

// words are the hashes of a text's words.
type words struct {
	hashes []uint64  // as they come in the text, until they are sorted
	sorted bool      // and each is there once
	marks  [4]uint64 // a bit for every word; several may share one
}

func newWords(hashes []uint64) *words {
	w := &words{hashes: hashes}
	for _, h := range hashes {
		w.marks[h>>62] |= 1 << (h >> 56 & 63)
	}
	return w
}

// likeAtMost is a bound on the similarity of two texts that takes a few operations.
// Each mark that only one of them has is a word at least that the other has not; more
// words than there are, as before they are sorted, only raise it.
func (w *words) likeAtMost(other *words) float64 {
	mine, others := 0, 0
	for i := range w.marks {
		mine += bits.OnesCount64(w.marks[i] &^ other.marks[i])
		others += bits.OnesCount64(other.marks[i] &^ w.marks[i])
	}
	if len(w.hashes) == 0 {
		return 0
	}
	return float64(len(w.hashes)-mine) / float64(len(w.hashes)+others)
}

// distinct returns the hashes in ascending order, each once.
func (w *words) distinct() []uint64 {
	if !w.sorted {
		slices.Sort(w.hashes)
		w.hashes, w.sorted = slices.Compact(w.hashes), true
	}
	return w.hashes
}

// wordHashes are the hashes (FNV-1a) of the words that nameWords finds.
func wordHashes(text string) []uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	words := make([]uint64, 0, len(text)/6+1)
	hash, runes := uint64(offset), 0
	end := func() {
		if runes > 1 {
			words = append(words, hash)
		}
		hash, runes = offset, 0
	}
	text = strings.ToLower(text)
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[i:])
		}
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			for ; size > 0; size-- {
				hash = (hash ^ uint64(text[i])) * prime
				i++
			}
			runes++
			continue
		}
		end()
		i += size
	}
	end()
	return words
}

// copies reports whether two of some candidates say the same.
func (t *texts) copies(best []ranked, least float64) bool {
	for i := range best {
		for k := range best[:i] {
			if t.similar(activation.ID(best[i].node), activation.ID(best[k].node)) >= least {
				return true
			}
		}
	}
	return false
}
