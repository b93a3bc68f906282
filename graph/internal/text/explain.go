package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"engram/graph/value"
)

// Explain returns what a query finds among some nodes, in their order, with what each
// word gave: as Search with a Keep of those nodes and Query.Explain, but it looks only
// at them. Limit, Keep, Tie and Apart are not used.
func (v *View) Explain(q Query, nodes []value.NodeID) ([]Hit, error) {
	if err := v.ix.usable(); err != nil {
		return nil, err
	}
	groups := v.ix.groups(&q)
	if len(groups) == 0 || len(nodes) == 0 {
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
	hits, err := r.explainOnly(&q, groups, nodes)
	if err != nil {
		return nil, fmt.Errorf("text index: search: %w", err)
	}
	return hits, nil
}

// placed is a hit with the number of its document.
type placed struct {
	doc uint32
	hit *Hit
}

func (r *reading) explainOnly(q *Query, groups []*group, nodes []value.NodeID) ([]Hit, error) {
	groups, err := r.located(q, groups)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(nodes))
	var docs []placed
	for i, n := range nodes {
		hits[i].Node = n
		doc, ok, err := r.document(n)
		if err != nil {
			return nil, err
		}
		if ok {
			docs = append(docs, placed{doc, &hits[i]})
		}
	}
	slices.SortFunc(docs, func(a, b placed) int { return cmp.Compare(a.doc, b.doc) })
	first := make([]int, len(docs))
	for _, g := range groups {
		if g.with, err = r.with(g); err != nil {
			return nil, err
		}
		for i := range docs {
			first[i] = len(docs[i].hit.Terms)
		}
		for _, it := range g.items {
			if it.docs == 0 {
				continue
			}
			it.scorer = newScorer(it.weight, r.ix.opts.B, r.counts.fields[it.field])
			if err := r.note(g, it, docs); err != nil {
				return nil, err
			}
		}
		for i := range docs {
			if terms := docs[i].hit.Terms[first[i]:]; len(terms) > 0 {
				docs[i].hit.Score += r.share(g, terms)
			}
		}
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return len(h.Terms) == 0 }), nil
}

// with counts the documents that have a word in any field.
func (r *reading) with(g *group) (uint64, error) {
	if it := g.only(); it != nil {
		return it.docs, nil
	}
	n := uint64(0)
	for seg := range r.gen.base.segs {
		all := roaring.New()
		for _, it := range g.items {
			if err := addDocs(it.lists[seg], all); err != nil {
				return 0, err
			}
		}
		if r.excepts[seg] != nil {
			all.AndNot(r.excepts[seg])
		}
		n += all.GetCardinality()
	}
	docs, seen := r.gen.tail.entries(), map[uint32]bool{}
	for _, it := range g.items {
		for _, p := range it.tail {
			if !seen[p.at] && r.sees(p.at, docs) {
				seen[p.at] = true
				n++
			}
		}
	}
	for _, d := range r.pend {
		if slices.ContainsFunc(g.items, func(it *item) bool { tf, _ := d.freq(it.field, it.term); return tf > 0 }) {
			n++
		}
	}
	return n, nil
}

// addDocs adds the documents of postings, those to be left out too.
func addDocs(l segment.PostingsList, to *roaring.Bitmap) error {
	if l, ok := l.(interface{ OrInto(*roaring.Bitmap) }); ok {
		l.OrInto(to)
		return nil
	}
	iter := l.Iterator(false, false, false, nil)
	for {
		p, err := iter.Next()
		if err != nil || p == nil {
			return err
		}
		to.Add(uint32(p.Number()))
	}
}

// document returns the number of a node's document; not ok when it has none.
func (r *reading) document(node value.NodeID) (doc uint32, ok bool, err error) {
	base := r.gen.base
	for i, d := range r.pend {
		if d.node == node {
			return base.total + r.n + uint32(i), true, nil
		}
	}
	if slices.ContainsFunc(r.View.pend, func(d *document) bool { return d.node == node }) {
		return 0, false, nil // it lost its text
	}
	if at, ok := r.gen.tail.newest(node, r.n); ok {
		return base.total + at, r.sees(at, r.gen.tail.entries()), nil
	}
	if node > base.maxNode {
		return 0, false, nil
	}
	ids := []string{docID(node)}
	for i := len(base.segs) - 1; i >= 0; i-- { // the newest segment first
		docs, err := base.segs[i].seg.DocNumbers(ids)
		if err != nil {
			return 0, false, err
		}
		if r.excepts[i] != nil {
			docs.AndNot(r.excepts[i])
		}
		if !docs.IsEmpty() {
			return base.segs[i].start + docs.Minimum(), true, nil
		}
	}
	return 0, false, nil
}

// note notes how often an item is in some documents, which are in order of number.
func (r *reading) note(g *group, it *item, docs []placed) error {
	add := func(d placed, freq, length uint32) {
		d.hit.Terms = append(d.hit.Terms, r.termScore(g, it, freq, length))
	}
	i := 0
	for s, l := range it.lists {
		seg := r.gen.base.segs[s]
		end := seg.start + uint32(seg.seg.Count())
		var iter segment.PostingsIterator
		var at segment.Posting
		for ; i < len(docs) && docs[i].doc < end; i++ {
			if iter == nil {
				iter = l.Iterator(true, true, false, nil)
			}
			want := uint64(docs[i].doc - seg.start)
			if at == nil || at.Number() < want {
				var err error
				if at, err = iter.Advance(want); err != nil {
					return err
				}
				if at == nil { // none behind it either
					for ; i < len(docs) && docs[i].doc < end; i++ {
					}
					break
				}
			}
			if at.Number() == want {
				add(docs[i], uint32(at.Frequency()), lengthOf(at))
			}
		}
	}
	for ; i < len(docs); i++ {
		at := docs[i].doc - r.gen.base.total
		if at >= r.n {
			if tf, length := r.pend[at-r.n].freq(it.field, it.term); tf > 0 {
				add(docs[i], tf, length)
			}
			continue
		}
		if p, ok := slices.BinarySearchFunc(it.tail, at, func(p posting, at uint32) int { return cmp.Compare(p.at, at) }); ok {
			add(docs[i], it.tail[p].freq, it.tail[p].length)
		}
	}
	return nil
}
