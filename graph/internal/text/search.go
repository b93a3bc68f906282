package text

import (
	"fmt"
)

// Search returns the best documents for a query, best first; nodes of equal
// score are in order of Query.Tie. Words that nothing has count for nothing.
func (v *View) Search(q Query) ([]Hit, error) {
	if err := v.ix.usable(); err != nil {
		return nil, err
	}
	if q.Limit <= 0 {
		return nil, nil
	}
	groups := v.ix.groups(&q)
	if len(groups) == 0 {
		return nil, nil
	}
	v, err := v.resolve()
	if err != nil {
		return nil, err
	}
	if !v.gen.base.pin.acquire() {
		return nil, ErrClosed
	}
	defer v.gen.base.pin.release()
	r, err := v.read()
	if err != nil {
		return nil, err
	}
	defer r.gen.base.giveBack(r.dicts)
	hits, err := r.search(&q, groups)
	if err != nil {
		return nil, fmt.Errorf("text index: search: %w", err)
	}
	return hits, nil
}

func (r *reading) search(q *Query, groups []*group) ([]Hit, error) {
	groups, err := r.located(q, groups)
	if err != nil {
		return nil, err
	}
	s, word := r.ix.scratch(), r.ix.scratch()
	defer r.ix.putScratch(s)
	defer r.ix.putScratch(word)
	s.reset(r.total())
	// Every document gets its summands in the order of terms and fields, whatever
	// part of the index it lies in: so the sums are the same to the bit.
	for _, g := range groups {
		if it := g.only(); it != nil {
			if err := r.sole(g, it, s); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.frequencies(g, word); err != nil {
			return nil, err
		}
		top := r.top(g)
		for _, doc := range word.touched {
			s.add(doc, saturated(top, r.ix.opts.K1, word.scores[doc]))
		}
	}
	hits, docs, err := r.best(q, s)
	if err == nil && q.Explain {
		err = r.explain(groups, hits, docs)
	}
	return hits, err
}

// located finds where the words of a query are, and keeps the rarest.
func (r *reading) located(q *Query, groups []*group) ([]*group, error) {
	for _, g := range groups {
		g.expand(r.ix, q)
		for _, it := range g.items {
			if err := r.locate(it); err != nil {
				return nil, err
			}
			g.docs += it.docs
		}
	}
	return rarest(groups, q.MaxTerms), nil
}

// sole adds the scores of a word that documents have in one form and field only: how
// many have it is then known before.
func (r *reading) sole(g *group, it *item, into *scratch) error {
	g.with = it.docs
	it.scorer = newScorer(it.weight, r.ix.opts.B, r.counts.fields[it.field])
	top, k1 := r.top(g), r.ix.opts.K1
	return r.each(it, func(doc, freq, length uint32) { into.add(doc, saturated(top, k1, it.scorer.frequency(freq, length))) })
}

// frequencies sums up, for every document, how often a word is in its fields.
func (r *reading) frequencies(g *group, into *scratch) error {
	into.reset(r.total())
	for _, it := range g.items {
		if it.docs == 0 {
			continue
		}
		it.scorer = newScorer(it.weight, r.ix.opts.B, r.counts.fields[it.field])
		if err := r.each(it, func(doc, freq, length uint32) { into.add(doc, it.scorer.frequency(freq, length)) }); err != nil {
			return err
		}
	}
	g.with = uint64(len(into.touched))
	return nil
}

// top is what a word's score comes close to when the word is frequent.
func (r *reading) top(g *group) float64 {
	return float64(float64(g.weight*idf(r.counts.docs, g.with)) * (r.ix.opts.K1 + 1))
}

// scratch holds the sums of one search; it is used again.
type scratch struct {
	scores  []float64 // by document; 0: not touched
	touched []uint32
}

func (s *scratch) reset(total uint32) {
	for _, d := range s.touched {
		s.scores[d] = 0
	}
	s.touched = s.touched[:0]
	if int(total) > len(s.scores) {
		s.scores = make([]float64, int(total)+int(total)/8)
	}
}

func (s *scratch) add(doc uint32, score float64) {
	if s.scores[doc] == 0 {
		s.touched = append(s.touched, doc)
	}
	s.scores[doc] += score
}

func (ix *Index) scratch() *scratch {
	if s, ok := ix.scratches.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

func (ix *Index) putScratch(s *scratch) { ix.scratches.Put(s) }

// explain goes over the postings once more and notes what the hits got: each
// field its share of the word's score.
func (r *reading) explain(groups []*group, hits []Hit, docs []uint32) error {
	at := make(map[uint32]int, len(docs))
	for i, d := range docs {
		at[d] = i
	}
	for _, g := range groups {
		first := make([]int, len(hits))
		for i := range hits {
			first[i] = len(hits[i].Terms)
		}
		for _, it := range g.items {
			if it.docs == 0 {
				continue
			}
			err := r.each(it, func(doc, freq, length uint32) {
				if i, ok := at[doc]; ok {
					hits[i].Terms = append(hits[i].Terms, r.termScore(g, it, freq, length))
				}
			})
			if err != nil {
				return err
			}
		}
		for i := range hits {
			r.share(g, hits[i].Terms[first[i]:])
		}
	}
	return nil
}

// termScore is what a word's field gives a hit, before share.
func (r *reading) termScore(g *group, it *item, freq, length uint32) TermScore {
	return TermScore{
		Field: r.ix.fields[it.field].Name, Term: it.term, Freq: freq, Length: length,
		Docs: g.with, Score: it.scorer.frequency(freq, length),
	}
}

// share turns the frequencies of one word's fields into parts of its score, which it
// returns.
func (r *reading) share(g *group, terms []TermScore) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += t.Score
	}
	score := saturated(r.top(g), r.ix.opts.K1, sum)
	for i := range terms {
		terms[i].Score = float64(score*terms[i].Score) / sum
	}
	return score
}
