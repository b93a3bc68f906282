package vector

import (
	"sync/atomic"

	"engram/graph/value"
)

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits // entries
)

// kind says what an entry brought.
type kind uint8

const (
	isVector kind = iota
	isGone
	isPending
)

// chunk is a run of entries. An entry is written once, before a reader may see it;
// only next changes later.
type chunk struct {
	heads [chunkSize]head
	// look has a bit for each entry that is replaced or holds no vector; the rest are
	// live for whoever sees them, without a look at their heads.
	look  [chunkSize / 64]atomic.Uint64
	codes []int8   // Dim an entry
	signs []uint64 // words an entry
}

// head is what an entry has beside its vector, in half a cache line.
type head struct {
	node  value.NodeID
	seq   uint64
	scale uint32        // 0: no vector
	norm  uint32        // of an entry without a vector, its kind
	prev  uint32        // entry of the same node that it replaced, plus 1; 0: none
	next  atomic.Uint32 // entry that replaced it, plus 1; 0: none yet
}

func (h *head) kind() kind {
	if h.scale > 0 {
		return isVector
	}
	return kind(h.norm)
}

// live reports whether an entry holds a vector and is its node's newest among the
// first n entries.
func (c *chunk) live(in, n uint32) bool {
	if c.look[in/64].Load()>>(in%64)&1 == 0 {
		return true
	}
	h := &c.heads[in]
	next := h.next.Load()
	return (next == 0 || next > n) && h.scale > 0
}

// mark makes live look at an entry.
func (c *chunk) mark(in uint32) { c.look[in/64].Or(1 << (in % 64)) }

func newChunk(dim int) *chunk {
	return &chunk{codes: make([]int8, chunkSize*dim), signs: make([]uint64, chunkSize*words(dim))}
}

// words returns how many words hold a bit a dimension.
func words(dim int) int { return (dim + 63) / 64 }

func split(at uint32) (chunk, in uint32) { return at >> chunkBits, at & (chunkSize - 1) }

// code returns an entry's vector; it shares the chunk's memory.
func (c *chunk) code(in uint32, dim int) code {
	h := &c.heads[in]
	return code{h.scale, h.norm, c.codes[int(in)*dim:][:dim]}
}

// locator finds the newest entry of a node. Ids are dense, so it is made of pages.
type locator map[value.NodeID]*[pageSize]uint32

const pageSize = 256

// get returns the entry's number plus 1, or 0.
func (l locator) get(id value.NodeID) uint32 {
	if p := l[id/pageSize]; p != nil {
		return p[id%pageSize]
	}
	return 0
}

func (l locator) set(id value.NodeID, at uint32) {
	p := l[id/pageSize]
	if p == nil {
		p = new([pageSize]uint32)
		l[id/pageSize] = p
	}
	p[id%pageSize] = at
}
