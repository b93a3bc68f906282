package recall

import (
	"cmp"
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
	hits, err := r.rankText(limit, nil)
	if err != nil {
		return err
	}
	more := len(hits) == limit // others there may be no room for
	if r.hits, err = r.screened(hits); err != nil {
		return err
	}
	for _, h := range r.hits {
		r.candidates.of(h.Node).lexical = h.Score / r.hits[0].Score
	}
	if more && (r.o.Where != nil || !r.screen.open()) {
		return r.lexicalWithin(limit)
	}
	return nil
}

// screened leaves out the hits that may neither be rows nor carry activation. What
// is superseded carries it to what took its place.
func (r *run) screened(hits []access.TextHit) ([]access.TextHit, error) {
	if r.screen.open() {
		return hits, nil
	}
	kept := hits[:0:0]
	for _, h := range hits {
		x, err := r.screen.state(h.Node)
		if err != nil {
			return nil, err
		}
		if x == Kept || x == IsSuperseded {
			kept = append(kept, h)
		} else {
			r.drop(h.Node, x)
		}
	}
	return kept, nil
}

// lexicalWithin searches again, now only what may be rows: a filter must not eat up
// the hits that are looked at.
func (r *run) lexicalWithin(limit int) error {
	var bad error
	hits, err := r.rankText(limit, func(id value.NodeID) bool {
		x, err := r.dropped(id)
		bad = cmp.Or(bad, err)
		return bad == nil && x == Kept
	})
	if err = cmp.Or(bad, err); err != nil || len(hits) == 0 {
		return err
	}
	if len(r.hits) == 0 {
		r.hits = hits
	}
	for _, h := range hits {
		r.candidates.of(h.Node).lexical = min(h.Score/r.hits[0].Score, 1)
	}
	return nil
}

func (r *run) rankText(limit int, keep func(value.NodeID) bool) ([]access.TextHit, error) {
	if ranker, ok := r.g.(access.TextRanker); ok {
		return ranker.RankText(r.o.Query, limit, r.o.Limit, keep)
	}
	return r.g.SearchText(r.o.Query, limit, keep)
}

// hasWord reports whether a text has a word that could be found: stop words are
// in no document.
func (r *run) hasWord(text string) bool {
	if a, ok := r.g.(access.TextAnalyser); ok {
		return access.HasTerms(a, text)
	}
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func (r *run) needSeed() error {
	if len(r.o.From) == 0 && r.o.Self == 0 {
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
