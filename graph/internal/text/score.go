package text

import (
	"math"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// item is one term in one field, with where it is.
type item struct {
	field  int
	term   string
	weight float64 // of the term times that of the field
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

// scorer is BM25 for one term in one field (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework", 2009), with what does not depend on the
// document worked out before. The conversions keep compilers from fusing
// multiplication and addition, so that every machine gets the same bits.
type scorer struct {
	top  float64 // weight * idf * (k1+1)
	flat float64 // k1 * (1-b)
	per  float64 // k1 * b / average length
}

func newScorer(weight, k1, b float64, docs uint64, all fieldStats) scorer {
	average := float64(all.tokens) / float64(all.docs)
	return scorer{
		top:  float64(float64(weight*idf(all.docs, docs)) * (k1 + 1)),
		flat: float64(k1 * (1 - b)),
		per:  float64(k1*b) / average,
	}
}

func (s scorer) score(freq, length uint32) float64 {
	tf := float64(freq)
	norm := float64(s.flat + float64(s.per*float64(length)))
	return float64(s.top*tf) / (tf + norm)
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
