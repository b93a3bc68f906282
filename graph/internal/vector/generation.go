package vector

import (
	"slices"
	"sort"
	"sync"

	"engram/graph/value"
)

// generation is the entries since the space was last compacted, in order of seq.
// It only grows: a view is a number of entries.
type generation struct {
	dim  int
	base uint64 // seq up to which it began complete

	mu      sync.RWMutex
	chunks  []*chunk
	n       uint32 // entries
	flushed uint32 // entries that are on disk
	newest  locator
	total   totals
	pending uint32 // nodes whose vector is still to be made
	cursor  uint32 // no entry before it is pending
}

// totals are what a mean is made of. Sums of whole numbers do not depend on the
// order of what came and went.
type totals struct {
	live int
	sums []int64 // of scale·code, by dimension
}

func newGeneration(dim int, base uint64) *generation {
	return &generation{dim: dim, base: base, newest: locator{}, total: totals{sums: make([]int64, dim)}}
}

// add counts a vector in, or out with sign -1.
func (t *totals) add(c code, sign int64) {
	t.live += int(sign)
	scale := sign * int64(c.scale)
	for j, k := range c.codes {
		t.sums[j] += scale * int64(k)
	}
}

// entry is what is added.
type entry struct {
	node value.NodeID
	seq  uint64
	kind kind
	code code // of a vector
}

// add appends an entry. Only one goroutine adds. What changes nothing is left out.
func (g *generation) add(e entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	prev := g.newest.get(e.node)
	if prev == 0 && e.kind == isGone {
		return
	}
	if prev != 0 && g.same(prev-1, e) {
		return
	}
	at, in := split(g.n)
	if int(at) == len(g.chunks) {
		g.chunks = append(g.chunks, newChunk(g.dim))
	}
	c := g.chunks[at]
	h := &c.heads[in]
	h.node, h.seq, h.prev = e.node, e.seq, prev
	h.scale, h.norm = e.code.scale, e.code.norm
	if e.kind != isVector {
		h.scale, h.norm = 0, uint32(e.kind)
		c.mark(in)
	}
	switch e.kind {
	case isVector:
		copy(c.code(in, g.dim).codes, e.code.codes)
		signs(c.signs[int(in)*words(g.dim):][:words(g.dim)], e.code.codes)
		g.total.add(e.code, 1)
	case isPending:
		g.pending++
	case isGone:
	}
	g.n++
	g.newest.set(e.node, g.n)
	if prev != 0 {
		g.replace(prev-1, g.n)
	}
}

// same reports whether a node's newest entry says already what e says.
func (g *generation) same(at uint32, e entry) bool {
	k, in := split(at)
	c := g.chunks[k]
	if c.heads[in].kind() != e.kind {
		return false
	}
	old := c.code(in, g.dim)
	return e.kind == isGone || e.kind == isVector && old.scale == e.code.scale && slices.Equal(old.codes, e.code.codes)
}

func (g *generation) replace(at, by uint32) {
	k, in := split(at)
	c := g.chunks[k]
	switch c.heads[in].kind() {
	case isVector:
		g.total.add(c.code(in, g.dim), -1)
	case isPending:
		g.pending--
	case isGone:
	}
	c.heads[in].next.Store(by)
	c.mark(in)
}

// seen is a state of a generation that a reader may use without the lock.
type seen struct {
	chunks []*chunk
	n      uint32
}

func (g *generation) seen() seen {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return seen{g.chunks, g.n}
}

// upTo returns how many entries there are up to a seq.
func (s seen) upTo(seq uint64) uint32 {
	return uint32(sort.Search(int(s.n), func(i int) bool {
		k, in := split(uint32(i))
		return s.chunks[k].heads[in].seq > seq
	}))
}

// totalsAt returns the totals of the first n entries, by taking back what came
// since.
func (g *generation) totalsAt(n uint32) totals {
	g.mu.RLock()
	defer g.mu.RUnlock()
	t := totals{g.total.live, slices.Clone(g.total.sums)}
	for i := g.n; i > n; i-- {
		k, in := split(i - 1)
		c := g.chunks[k]
		if c.heads[in].kind() == isVector {
			t.add(c.code(in, g.dim), -1)
		}
		if prev := c.heads[in].prev; prev != 0 {
			k, in := split(prev - 1)
			if c := g.chunks[k]; c.heads[in].kind() == isVector {
				t.add(c.code(in, g.dim), 1)
			}
		}
	}
	return t
}

// find returns the entry of a node's vector among the first n entries.
func (g *generation) find(id value.NodeID, n uint32) (uint32, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	at := g.newest.get(id)
	for at > n {
		k, in := split(at - 1)
		at = g.chunks[k].heads[in].prev
	}
	if at == 0 {
		return 0, false
	}
	k, in := split(at - 1)
	return at - 1, g.chunks[k].heads[in].kind() == isVector
}

// at returns an entry. The caller holds the lock, or is the one that adds.
func (g *generation) at(i uint32) entry {
	k, in := split(i)
	c := g.chunks[k]
	h := &c.heads[in]
	return entry{h.node, h.seq, h.kind(), c.code(in, g.dim)}
}

// slice returns the entries from one number to another.
func (g *generation) slice(from, to uint32) []entry {
	g.mu.RLock()
	defer g.mu.RUnlock()
	out := make([]entry, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, g.at(i))
	}
	return out
}

// wasteful reports whether most entries are of no use any more.
func (g *generation) wasteful() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	used := g.total.live + int(g.pending)
	return int(g.n) > 2*used+4*chunkSize
}

// compacted returns a generation without what newer entries replaced, for seq,
// that of its newest entry or later.
func (g *generation) compacted(seq uint64) *generation {
	next := newGeneration(g.dim, seq)
	for i := range g.n {
		k, in := split(i)
		c := g.chunks[k]
		if c.heads[in].next.Load() != 0 || c.heads[in].kind() == isGone && i < g.flushed {
			continue
		}
		e := g.at(i)
		if e.kind == isGone {
			next.newest.set(e.node, 0)
			next.forceGone(e)
		} else {
			next.add(e)
		}
		if i < g.flushed {
			next.flushed = next.n
		}
	}
	return next
}

// forceGone appends an entry for a node that has none, for the disk to see.
func (g *generation) forceGone(e entry) {
	at, in := split(g.n)
	if int(at) == len(g.chunks) {
		g.chunks = append(g.chunks, newChunk(g.dim))
	}
	c := g.chunks[at]
	h := &c.heads[in]
	h.node, h.seq, h.norm = e.node, e.seq, uint32(isGone)
	c.mark(in)
	g.n++
	g.newest.set(e.node, g.n)
}
