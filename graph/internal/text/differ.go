package text

import (
	"iter"
	"slices"

	"engram/graph/value"
)

// Differ compares documents with what the index has of the same nodes, and calls fn
// for those whose words, or how often they occur, are others there. A node that the
// index does not have at all is passed over: see EachNode. It is for audits.
func (v *View) Differ(docs iter.Seq2[Doc, error], fn func(value.NodeID)) error {
	v, err := v.resolve()
	if err != nil {
		return err
	}
	if !v.gen.base.pin.acquire() {
		return ErrClosed
	}
	defer v.gen.base.pin.release()
	r, err := v.read()
	if err != nil {
		return err
	}
	defer r.gen.base.giveBack(r.dicts)
	for doc, err := range docs {
		if err != nil {
			return err
		}
		same, err := r.holds(v.ix.analyze(0, doc))
		if err != nil {
			return err
		}
		if !same {
			fn(doc.Node)
		}
	}
	return nil
}

// holds reports whether the index has a document just so, or not at all.
func (r *reading) holds(d *document) (bool, error) {
	for _, p := range slices.Backward(r.View.pend) {
		if p.node == d.node {
			return equalDocuments(p, d), nil
		}
	}
	if at, ok := r.gen.tail.newest(d.node, r.n); ok {
		return equalDocuments(r.gen.tail.entries()[at].document, d), nil
	}
	ref, lengths, found, err := r.gen.base.find(d.node)
	if err != nil || !found {
		return true, err
	}
	mine := d.lengths(len(r.ix.fields))
	if mine == nil {
		mine = make([]uint32, len(lengths))
	}
	if !slices.Equal(mine, lengths) {
		return false, nil
	}
	// As long as a field is as long, having each of its words as often is enough.
	for _, f := range d.fields {
		for _, x := range f.terms {
			list, err := r.dicts[ref.seg][f.field].PostingsList([]byte(x.term), nil, nil)
			if err != nil {
				return false, err
			}
			p, err := list.Iterator(true, false, false, nil).Advance(uint64(ref.doc))
			if err != nil {
				return false, err
			}
			if p == nil || p.Number() != uint64(ref.doc) || uint32(p.Frequency()) != x.freq {
				return false, nil
			}
		}
	}
	return true, nil
}

// equalDocuments compares words and how often they occur. A document without words is
// not in the index.
func equalDocuments(have, want *document) bool {
	return have.deleted() || slices.EqualFunc(have.fields, want.fields, func(a, b docField) bool {
		return a.field == b.field && slices.Equal(a.terms, b.terms)
	})
}
