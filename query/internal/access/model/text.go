package model

import (
	"math"
	"sort"
	"strings"
	"unicode"

	"engram/graph/value"
	"engram/query/internal/access"
)

// SearchText implements access.Reader: BM25 with k1 1.2 and b .75 over the
// lower-cased words of all string properties of a node, without stemming.
func (g *Graph) SearchText(text string, limit int, keep func(value.NodeID) bool) ([]access.TextHit, error) {
	docs := map[value.NodeID][]string{}
	total := 0
	for id, n := range g.nodes {
		for _, k := range appendKeys(n.props, nil) {
			if v := n.props[k]; v.Kind() == value.KindString && g.KeyName(k) != "id" {
				docs[id] = append(docs[id], words(v.AsString())...)
			}
		}
		total += len(docs[id])
	}
	if total == 0 {
		return nil, nil
	}
	avg := float64(total) / float64(len(docs))
	scores := map[value.NodeID]float64{}
	for _, w := range words(text) {
		counts := map[value.NodeID]float64{}
		for id, d := range docs {
			for _, t := range d {
				if t == w {
					counts[id]++
				}
			}
		}
		df := float64(len(counts))
		idf := math.Log(1 + (float64(len(docs))-df+.5)/(df+.5))
		for id, tf := range counts {
			scores[id] += idf * tf * 2.2 / (tf + 1.2*(.25+.75*float64(len(docs[id]))/avg))
		}
	}
	var hits []access.TextHit
	for id, s := range scores {
		if keep == nil || keep(id) {
			hits = append(hits, access.TextHit{Node: id, Score: s})
		}
	}
	sort.Slice(hits, func(i, j int) bool {
		if hits[i].Score != hits[j].Score {
			return hits[i].Score > hits[j].Score
		}
		return g.nodeElementID(hits[i].Node) < g.nodeElementID(hits[j].Node)
	})
	return hits[:min(limit, len(hits))], nil
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
