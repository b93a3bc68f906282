package recall

import (
	"sync"

	"engram/graph/value"
)

// candidate is a node that may be recalled, with what is known of it without
// reading its record.
type candidate struct {
	node       value.NodeID
	lexical    float64 // share of the best text score, 0 to 1
	titled     bool    // its title stands in the query
	semantic   float64 // similarity in meaning, 0 to 1
	activation float64 // share of the highest activation, 0 to 1
	window     int64   // what stands beside it hands on, in parts of unit
	received   float64 // what came over edges, relative to the strongest seed's 1
}

// candidates are found by node: open addressing with linear probing.
type candidates struct {
	all   []candidate
	slots []int32 // index plus 1; a power of two of them
}

var spareCandidates = sync.Pool{New: func() any { return &candidates{} }}

// release empties c and leaves its memory to another run.
func (c *candidates) release() {
	if len(c.slots) == 0 {
		return
	}
	clear(c.slots)
	spareCandidates.Put(&candidates{all: c.all[:0], slots: c.slots})
	*c = candidates{}
}

// of returns the candidate of a node, making it when there is none. It is valid
// until the next call.
func (c *candidates) of(id value.NodeID) *candidate {
	if 2*(len(c.all)+1) > len(c.slots) {
		c.grow()
	}
	at := c.spot(id)
	if c.slots[at] == 0 {
		c.all = append(c.all, candidate{node: id})
		c.slots[at] = int32(len(c.all))
	}
	return &c.all[c.slots[at]-1]
}

func (c *candidates) spot(id value.NodeID) uint64 {
	mask := uint64(len(c.slots) - 1)
	at := uint64(id) * 0x9E3779B97F4A7C15 >> 20 & mask // Fibonacci hashing
	for c.slots[at] != 0 && c.all[c.slots[at]-1].node != id {
		at = (at + 1) & mask
	}
	return at
}

func (c *candidates) grow() {
	if len(c.slots) == 0 {
		if *c = *spareCandidates.Get().(*candidates); len(c.slots) > 0 {
			return
		}
	}
	c.slots = make([]int32, max(1024, 2*len(c.slots)))
	for i := range c.all {
		c.slots[c.spot(c.all[i].node)] = int32(i + 1)
	}
}
