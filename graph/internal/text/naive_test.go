package text

import (
	"maps"
	"math"
	"slices"
	"strings"

	"engram/graph/value"
)

// naive is BM25F over a map of documents, by the book: the same formula, summed
// in the same order, with nothing worked out before.
type naive struct {
	ix   *Index // for its analyser and its options
	docs map[value.NodeID]Doc
}

func (n *naive) clone() *naive { return &naive{n.ix, maps.Clone(n.docs)} }

func (n *naive) apply(d Doc) {
	if len(d.Fields) == 0 {
		delete(n.docs, d.Node)
	} else {
		n.docs[d.Node] = d
	}
}

// terms returns the terms of one field of a document.
func (n *naive) terms(d Doc, f Field) []string {
	var out []string
	for _, t := range d.Fields {
		if t.Name == f.Name {
			out = append(out, n.ix.analyzer.tokens(f.Kind, t.Text)...)
		}
	}
	return out
}

func occurrences(terms []string, term string) (n int) {
	for _, t := range terms {
		if t == term {
			n++
		}
	}
	return n
}

// search scores every document for every word.
func (n *naive) search(text string, limit, maxTerms int) []Hit {
	a := n.ix.analyzer
	type form struct {
		kind Kind
		term string
	}
	words := map[string]map[form]bool{}
	weights := map[string]float64{}
	add := func(key string, f form) {
		if words[key] == nil {
			words[key] = map[form]bool{}
		}
		words[key][f] = true
	}
	list := a.tokens(Words, text)
	for _, w := range list {
		weights[a.stemOf(w)]++
		add(a.stemOf(w), form{English, a.stemOf(w)})
		add(a.stemOf(w), form{Words, w})
		add(a.stemOf(w), form{Exact, w})
	}
	if whole := strings.ToLower(strings.TrimSpace(text)); len(list) > 1 {
		weights[whole]++
		add(whole, form{Exact, whole})
	}

	contents := map[value.NodeID][][]string{}
	for id, d := range n.docs {
		words := 0
		for _, f := range n.ix.fields {
			contents[id] = append(contents[id], n.terms(d, f))
			words += len(contents[id][len(contents[id])-1])
		}
		if words == 0 { // nothing but stop words: no document
			delete(contents, id)
		}
	}
	docsWith := func(field int, term string) (df int) {
		for _, c := range contents {
			if occurrences(c[field], term) > 0 {
				df++
			}
		}
		return df
	}
	rarity := map[string]int{}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(words)) {
		for f, spec := range n.ix.fields {
			for form := range words[key] {
				if form.kind == spec.Kind {
					rarity[key] += docsWith(f, form.term)
				}
			}
		}
		if rarity[key] > 0 {
			keys = append(keys, key)
		}
	}
	if len(keys) > maxTerms {
		slices.SortStableFunc(keys, func(a, b string) int { return rarity[a] - rarity[b] })
		keys = keys[:maxTerms]
		slices.Sort(keys)
	}

	scores := map[value.NodeID]float64{}
	k1, b := n.ix.opts.K1, n.ix.opts.B
	for _, key := range keys {
		frequencies := map[value.NodeID]float64{}
		for f, spec := range n.ix.fields {
			var terms []string
			for form := range words[key] {
				if form.kind == spec.Kind {
					terms = append(terms, form.term)
				}
			}
			slices.Sort(terms)
			var docs, tokens float64
			for _, c := range contents {
				if len(c[f]) > 0 {
					docs++
					tokens += float64(len(c[f]))
				}
			}
			for _, term := range terms {
				for id, c := range contents {
					if tf := float64(occurrences(c[f], term)); tf > 0 {
						frequencies[id] += spec.Weight * tf / (1 - b + b/(tokens/docs)*float64(len(c[f])))
					}
				}
			}
		}
		all, df := float64(len(contents)), float64(len(frequencies))
		idf := math.Log(1 + (all-df+0.5)/(df+0.5))
		for id, tf := range frequencies {
			scores[id] += weights[key] * idf * (k1 + 1) * tf / (k1 + tf)
		}
	}
	var hits []Hit
	for id, s := range scores {
		hits = append(hits, Hit{Node: id, Score: s})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return int(a.Node) - int(b.Node)
	})
	return hits[:min(limit, len(hits))]
}
