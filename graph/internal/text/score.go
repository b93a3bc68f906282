package text

import (
	"math"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// item is one term in one field, with where it is.
type item struct {
	field  int
	term   string
	weight float64 // of the field
	docs   uint64
	lists  []segment.PostingsList // by segment
	tail   []posting
	scorer scorer
}

// idf is BM25's weight of a term that docs of all documents have: always above
// zero, even for a term that every document has.
func idf(all, docs uint64) float64 {
	return math.Log(1 + (float64(all)-float64(docs)+0.5)/(float64(docs)+0.5))
}

// scorer is the part of BM25F (Robertson, Zaragoza and Taylor, "Simple BM25
// extension to multiple weighted fields", 2004) that one field gives: how often a
// term is there, weighted and held against the field's length. The conversions
// keep compilers from fusing multiplication and addition, so that every machine
// gets the same bits.
type scorer struct {
	weight float64
	flat   float64 // 1-b
	per    float64 // b / average length
}

func newScorer(weight, b float64, all fieldStats) scorer {
	return scorer{weight: weight, flat: 1 - b, per: b / (float64(all.tokens) / float64(all.docs))}
}

func (s scorer) frequency(freq, length uint32) float64 {
	return float64(s.weight*float64(freq)) / float64(s.flat+float64(s.per*float64(length)))
}

// saturated is the score of a word from its frequency over all fields: top is
// weight · idf · (k1+1).
func saturated(top, k1, frequency float64) float64 {
	return float64(top*frequency) / float64(k1+frequency)
}

// locate finds an item's postings and counts its documents.
func (r *reading) locate(it *item) error {
	it.lists = make([]segment.PostingsList, len(r.dicts))
	for i := range r.dicts {
		l, err := r.dicts[i][it.field].PostingsList([]byte(it.term), r.excepts[i], nil)
		if err != nil {
			return err
		}
		it.lists[i] = l
		it.docs += l.Count()
	}
	it.tail = r.gen.tail.postings(it.field, it.term, r.n)
	docs := r.gen.tail.entries()
	for _, p := range it.tail {
		if r.sees(p.at, docs) {
			it.docs++
		}
	}
	for _, d := range r.pend {
		if tf, _ := d.freq(it.field, it.term); tf > 0 {
			it.docs++
		}
	}
	return nil
}

// each calls fn for every document with an item's term.
func (r *reading) each(it *item, fn func(doc, freq, length uint32)) error {
	var iter segment.PostingsIterator
	for i, l := range it.lists {
		start := r.gen.base.segs[i].start
		iter = l.Iterator(true, true, false, iter)
		for {
			p, err := iter.Next()
			if err != nil {
				return err
			}
			if p == nil {
				break
			}
			fn(start+uint32(p.Number()), uint32(p.Frequency()), lengthOf(p))
		}
	}
	docs := r.gen.tail.entries()
	for _, p := range it.tail {
		if r.sees(p.at, docs) {
			fn(r.gen.base.total+p.at, p.freq, p.length)
		}
	}
	for i, d := range r.pend {
		if tf, length := d.freq(it.field, it.term); tf > 0 {
			fn(r.gen.base.total+r.n+uint32(i), tf, length)
		}
	}
	return nil
}
