package text

import (
	"github.com/RoaringBitmap/roaring/v2"

	"engram/graph/value"
)

// generation is a base with the changes that came after it.
type generation struct {
	base *base
	tail *tail
}

// View is the text as of one transaction. It never changes and may be used by
// any number of goroutines. A view that nobody refers to lets go of its files.
type View struct {
	ix   *Index
	gen  *generation
	n    uint32      // entries of the tail that it sees
	pend []*document // changes on top, in order, that are not published
	late *late       // the index was not open when the view was taken; seq is what
	seq  uint64      // it is of
}

// At returns the text as of seq. All transactions up to seq have to be published,
// but for those that the caller adds by With. Seqs more than a few flushes
// old may be gone: take the view when a transaction begins, and keep it.
func (ix *Index) At(seq uint64) (*View, error) {
	if err := ix.usable(); err != nil {
		return nil, err
	}
	ix.genLock.RLock()
	defer ix.genLock.RUnlock()
	if ix.late != nil {
		return &View{ix: ix, late: ix.late, seq: seq}, nil
	}
	for i := len(ix.gens) - 1; i >= 0; i-- {
		// An older generation is complete up to where the next one starts.
		if g := ix.gens[i]; g.base.seq <= seq {
			return &View{ix: ix, gen: g, n: g.tail.upTo(seq)}, nil
		}
	}
	return nil, ErrGone
}

// With returns the view with changes on top, such as a transaction's own or
// those of pending ones, in order. They are searched one by one: meant for tens
// or hundreds.
func (v *View) With(docs []Doc) *View {
	next := *v
	next.pend = append([]*document(nil), v.pend...)
	for _, d := range docs {
		next.pend = append(next.pend, v.ix.analyze(0, d))
	}
	return &next
}

// reading is a view made ready for one search: what hides what, and the counts
// with everything in.
type reading struct {
	*View
	counts  counts
	pend    []*document // the newest of each node, with text
	hidden  map[uint32]bool
	excepts []*roaring.Bitmap // by segment: documents not to be seen
	dicts   dictionaries
}

// read prepares a search. The caller has acquired the base.
func (v *View) read() (*reading, error) {
	r := &reading{View: v, counts: v.gen.base.counts}
	if v.n > 0 {
		r.counts = v.gen.tail.entries()[v.n-1].after
	}
	refs := v.gen.tail.masks(v.n)
	if len(v.pend) > 0 {
		more, err := r.overlay()
		if err != nil {
			return nil, err
		}
		refs = append(append([]maskedRef(nil), refs...), more...)
	}
	r.excepts = make([]*roaring.Bitmap, len(v.gen.base.segs))
	for i, s := range v.gen.base.segs {
		r.excepts[i] = s.deleted
	}
	for _, m := range refs {
		at := &r.excepts[m.ref.seg]
		if *at == v.gen.base.segs[m.ref.seg].deleted {
			own := roaring.New()
			if *at != nil {
				own = (*at).Clone()
			}
			*at = own
		}
		(*at).Add(m.ref.doc)
	}
	var err error
	r.dicts, err = v.gen.base.dictionaries()
	return r, err
}

// overlay puts the unpublished changes on top: it adjusts the counts, hides what
// they replace in the tail, and returns what they replace in the base.
func (r *reading) overlay() ([]maskedRef, error) {
	newest := map[value.NodeID]*document{}
	r.hidden = map[uint32]bool{}
	var refs []maskedRef
	fields := len(r.ix.fields)
	for _, d := range r.View.pend {
		var old []uint32
		if before, ok := newest[d.node]; ok {
			old = before.lengths(fields)
		} else if at, ok := r.gen.tail.newest(d.node, r.n); ok {
			r.hidden[at] = true
			old = r.gen.tail.entries()[at].lengths(fields)
		} else {
			ref, lengths, found, err := r.gen.base.find(d.node)
			if err != nil {
				return nil, err
			}
			if found {
				refs, old = append(refs, maskedRef{ref: ref}), lengths
			}
		}
		r.counts = r.counts.replaced(old, d)
		newest[d.node] = d
	}
	for _, d := range r.View.pend {
		if newest[d.node] == d && !d.deleted() {
			r.pend = append(r.pend, d)
		}
	}
	return refs, nil
}

// sees reports whether a tail entry counts.
func (r *reading) sees(at uint32, docs []*tailDoc) bool {
	return docs[at].live(r.n) && !r.hidden[at]
}

// total bounds the numbers that documents have during one search: those of the
// base, then the tail's entries, then the unpublished ones.
func (r *reading) total() uint32 { return r.gen.base.total + r.n + uint32(len(r.pend)) }

// node returns the node of a numbered document.
func (r *reading) node(doc uint32) (value.NodeID, error) {
	b := r.gen.base
	if doc < b.total {
		lo := 0
		for i := range b.segs {
			if b.segs[i].start <= doc {
				lo = i
			}
		}
		ids, err := b.segs[lo].nodeIDs()
		if err != nil {
			return 0, err
		}
		return ids[doc-b.segs[lo].start], nil
	}
	if doc -= b.total; doc < r.n {
		return r.gen.tail.entries()[doc].node, nil
	}
	return r.pend[doc-r.n].node, nil
}

// EachNode calls fn for every node with text, in no certain order, until it
// returns false: for comparing the index with the truth.
func (v *View) EachNode(fn func(value.NodeID) bool) error {
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
	docs := r.gen.tail.entries()
	for d := range r.total() {
		if d < r.gen.base.total {
			if r.excepted(d) {
				continue
			}
		} else if t := d - r.gen.base.total; t < r.n && !r.sees(t, docs) {
			continue
		}
		id, err := r.node(d)
		if err != nil || !fn(id) {
			return err
		}
	}
	return nil
}

func (r *reading) excepted(doc uint32) bool {
	for i, s := range r.gen.base.segs {
		if doc >= s.start && uint64(doc-s.start) < s.seg.Count() {
			return r.excepts[i] != nil && r.excepts[i].Contains(doc-s.start)
		}
	}
	return true
}

// Count returns how many nodes have text.
func (v *View) Count() (int64, error) {
	v, err := v.resolve()
	if err != nil {
		return 0, err
	}
	if !v.gen.base.pin.acquire() {
		return 0, ErrClosed
	}
	defer v.gen.base.pin.release()
	r, err := v.read()
	if err != nil {
		return 0, err
	}
	r.gen.base.giveBack(r.dicts)
	return int64(r.counts.docs), nil
}
