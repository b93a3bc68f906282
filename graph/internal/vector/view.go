package vector

import (
	"slices"
	"sync"

	"engram/graph/value"
)

// View is the vectors as of one transaction. It never changes and may be used by
// any number of goroutines.
type View struct {
	ix     *Index
	gen    *generation
	chunks []*chunk
	n      uint32 // entries that it sees
	over   *overlay
	once   *sync.Once
	lazy   *totals // of the entries, without the overlay
}

// overlay is changes on top that are not published.
type overlay struct {
	entries []entry                  // newest of each node, in the order they came
	at      map[value.NodeID]int     // into entries
	hidden  map[uint32]bool          // entries that they replace
	total   func(base totals) totals // of everything
}

// At returns the vectors as of seq. All transactions up to seq have to be published,
// but for those that the caller adds by With. Seqs more than a flush old may be gone:
// take the view when a transaction begins, and keep it.
func (ix *Index) At(seq uint64) (*View, error) {
	if ix.closed.Load() {
		return nil, ErrClosed
	}
	ix.genLock.RLock()
	defer ix.genLock.RUnlock()
	for _, g := range slices.Backward(ix.gens) {
		// An older generation is complete up to where the next one starts.
		if g.base <= seq {
			s := g.seen()
			return &View{ix: ix, gen: g, chunks: s.chunks, n: s.upTo(seq), once: new(sync.Once), lazy: new(totals)}, nil
		}
	}
	return nil, ErrGone
}

// With returns the view with changes on top, such as a transaction's own or those of
// pending ones, in order. They are compared one by one: meant for tens or hundreds.
func (v *View) With(docs []Doc) *View {
	var all []entry
	if v.over != nil {
		all = slices.Clone(v.over.entries)
	}
	for _, d := range docs {
		all = append(all, v.ix.entryOf(0, d))
	}
	o := &overlay{at: map[value.NodeID]int{}, hidden: map[uint32]bool{}}
	o.entries = merged(all, false)
	var replaced []code
	for i, e := range o.entries {
		o.at[e.node] = i
		if at, ok := v.gen.find(e.node, v.n); ok {
			o.hidden[at] = true
			k, in := split(at)
			replaced = append(replaced, v.chunks[k].code(in, v.gen.dim))
		}
	}
	o.total = func(base totals) totals {
		t := totals{base.live, slices.Clone(base.sums)}
		for _, c := range replaced {
			t.add(c, -1)
		}
		for _, e := range o.entries {
			if e.kind == isVector {
				t.add(e.code, 1)
			}
		}
		return t
	}
	next := *v
	next.over = o
	return &next
}

// totals returns what the mean is made of; it is shared and must not be changed.
func (v *View) totals() totals {
	v.once.Do(func() { *v.lazy = v.gen.totalsAt(v.n) })
	if v.over != nil {
		return v.over.total(*v.lazy)
	}
	return *v.lazy
}

// Count returns how many nodes have a vector.
func (v *View) Count() int { return v.totals().live }

// EachNode calls fn for every node with a vector, in no certain order, until it
// returns false: for comparing the space with the truth.
func (v *View) EachNode(fn func(value.NodeID) bool) {
	for i := range v.n {
		k, in := split(i)
		if c := v.chunks[k]; v.sees(c, i, in) && !fn(c.heads[in].node) {
			return
		}
	}
	if v.over != nil {
		for _, e := range v.over.entries {
			if e.kind == isVector && !fn(e.node) {
				return
			}
		}
	}
}

// sees reports whether an entry counts.
func (v *View) sees(c *chunk, at, in uint32) bool {
	return c.live(in, v.n) && (v.over == nil || !v.over.hidden[at])
}

// code returns a node's vector.
func (v *View) code(id value.NodeID) (code, bool) {
	if v.over != nil {
		if i, ok := v.over.at[id]; ok {
			e := v.over.entries[i]
			return e.code, e.kind == isVector
		}
	}
	at, ok := v.gen.find(id, v.n)
	if !ok {
		return code{}, false
	}
	k, in := split(at)
	return v.chunks[k].code(in, v.gen.dim), true
}

// Vector returns a node's vector as it is kept, about of length 1, and whether it
// has one.
func (v *View) Vector(id value.NodeID) ([]float32, bool) {
	c, ok := v.code(id)
	if !ok {
		return nil, false
	}
	out := make([]float32, len(c.codes))
	for j, k := range c.codes {
		out[j] = float32(float64(c.scale) * float64(k) / unit)
	}
	return out, true
}
