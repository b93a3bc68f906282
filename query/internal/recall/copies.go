package recall

import (
	"hash/fnv"
	"slices"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// texts compares what memories say. The words of each are read once.
type texts struct {
	g       access.Reader
	content value.KeyID
	words   map[activation.ID][]uint64 // hashes, sorted
	err     error                      // comparing can't return one
}

func newTexts(g access.Reader) *texts {
	t := &texts{g: g, words: map[activation.ID][]uint64{}}
	t.content, _ = g.Key(vocab.KeyContent)
	return t
}

// similar is the share of words that two memories have in common.
func (t *texts) similar(a, b activation.ID) float64 {
	return activation.Similarity(t.of(a), t.of(b))
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
	var words []uint64
	hash := fnv.New64a()
	for _, w := range nameWords(v.AsString()) {
		hash.Reset()
		hash.Write([]byte(w))
		words = append(words, hash.Sum64())
	}
	slices.Sort(words)
	words = slices.Compact(words)
	t.words[id] = words
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
