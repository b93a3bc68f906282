package recall

import (
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
	least   float64                    // a similarity that matters
	words   map[activation.ID][]uint64 // hashes, sorted
	err     error                      // comparing can't return one
}

func newTexts(g access.Reader, least float64) *texts {
	t := &texts{g: g, least: least, words: map[activation.ID][]uint64{}}
	t.content, _ = g.Key(vocab.KeyContent)
	return t
}

// similar is the share of words that two memories have in common, or 0 where the
// number of their words alone makes it less than what matters.
func (t *texts) similar(a, b activation.ID) float64 {
	x, y := t.of(a), t.of(b)
	if few, many := min(len(x), len(y)), max(len(x), len(y)); float64(few) < t.least*float64(many) {
		return 0
	}
	return activation.Similarity(x, y)
}

func (t *texts) of(id activation.ID) []uint64 {
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
	words := wordHashes(v.AsString())
	slices.Sort(words)
	words = slices.Compact(words)
	t.words[id] = words
	return words
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
