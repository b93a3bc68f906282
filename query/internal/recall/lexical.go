package recall

import (
	"strings"
	"unicode"

	"engram/graph/value"
	"engram/query/internal/access"
)

// lexical searches the text.
func (r *run) lexical() error {
	if !r.hasWord(r.o.Query) {
		return r.needSeed()
	}
	if r.o.Legs.NoLexical && r.o.Legs.NoAssociative {
		return nil
	}
	limit := max(r.t.Pool, r.t.PoolFactor*r.o.Limit)
	hits, err := r.rankText(limit)
	if err != nil {
		return err
	}
	r.hits = hits
	for _, h := range hits {
		r.candidates.of(h.Node).lexical = h.Score / hits[0].Score
	}
	return nil
}

func (r *run) rankText(limit int) ([]access.TextHit, error) {
	if ranker, ok := r.g.(access.TextRanker); ok {
		return ranker.RankText(r.o.Query, limit, r.o.Limit, nil)
	}
	return r.g.SearchText(r.o.Query, limit, nil)
}

// hasWord reports whether a text has a word that could be found: stop words are
// in no document.
func (r *run) hasWord(text string) bool {
	if a, ok := r.g.(access.TextAnalyser); ok {
		return len(a.SearchTerms(text)) > 0
	}
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func (r *run) needSeed() error {
	if len(r.o.From) == 0 {
		return ErrNothingToSearch
	}
	return nil
}

// words returns the words of the query that each of some nodes has.
func (r *run) words(nodes []value.NodeID) ([][]string, error) {
	if ranker, ok := r.g.(access.TextRanker); ok {
		return ranker.MatchedWords(r.o.Query, nodes)
	}
	out := make([][]string, len(nodes))
	for i, n := range nodes {
		for _, h := range r.hits {
			if h.Node == n {
				out[i] = h.Terms
			}
		}
	}
	return out, nil
}
