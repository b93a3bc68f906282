package topo

import (
	"fmt"
	"slices"

	"engram/graph/value"
)

// Builder makes a topology from all its nodes and then all its edges, each in
// ascending order of id, straight into packed segments. It is for opening and
// for bulk load; at 10 million edges it is some ten times faster than an Editor.
type Builder struct {
	e     Editor
	cells cellSum
	tombs int
}

// NewBuilder starts an empty topology.
func NewBuilder(c Config) *Builder {
	b := &Builder{e: *New(c).Edit()}
	b.cells.to, b.cells.tok = &b.e.v.cells, b.e.tok
	return b
}

// AddNode adds a node, as Editor.AddNode does.
func (b *Builder) AddNode(id value.NodeID, labels []value.LabelID, hot []HotValue, createdMs int64) error {
	return b.e.AddNode(id, labels, hot, createdMs)
}

// AddTombstone adds a deleted node that may still have stored edges. Its id
// takes its place in the order of nodes.
func (b *Builder) AddTombstone(id value.NodeID) error {
	if err := b.e.AddNode(id, nil, nil, 0); err != nil {
		return err
	}
	s := b.e.v.nodeIDs.n - 1
	p := b.e.v.ownNode(s, b.e.tok)
	p.alive &^= 1 << (s & nodeMask)
	p.doomed |= 1 << (s & nodeMask)
	b.e.v.nodeCount--
	b.e.v.doomedCount++
	b.tombs++
	return nil
}

// AddEdge adds a stored edge. Its ends are nodes or tombstones added before.
func (b *Builder) AddEdge(id value.EdgeID, src, dst value.NodeID, t value.TypeID, init EdgeInit) error {
	v := &b.e.v
	if err := checkNext(&v.edgeIDs, uint64(id)); err != nil {
		return fmt.Errorf("add edge %d: %w", id, err)
	}
	s, okS := v.nodeIDs.slot(uint64(src))
	d, okD := v.nodeIDs.slot(uint64(dst))
	if !okS || !okD {
		return fmt.Errorf("add edge %d from node %d to node %d: %w", id, src, dst, ErrMissing)
	}
	slot := b.e.storeEdge(id, ends{s, d}, t, init)
	b.cells.add(v.cellOf(s, d, t), 1)
	if v.edgeVisible(slot) {
		v.addTypeCount(t, 1, b.e.tok)
		return nil
	}
	b.left(s)
	if d != s {
		b.left(d)
	}
	return nil
}

// left counts one more edge stored at a node, if it is doomed.
func (b *Builder) left(s Slot) {
	if !b.e.v.doomed(s) {
		return
	}
	p, i := b.e.v.ownNode(s, b.e.tok), s&nodeMask
	n := uint32(1)
	if p.left != nil {
		n += p.left[i]
	}
	b.e.setLeft(p, i, n)
}

// Build packs what was added into a version at seq. The builder is used up.
func (b *Builder) Build(seq uint64) *Version {
	b.dropBareTombstones()
	b.cells.flushAll()
	v := &b.e.v
	if v.nodeIDs.n > 0 {
		for d := range 2 {
			b.pack(d)
		}
	}
	for l, set := v.labels.next(0); set != nil; l, set = v.labels.next(l + 1) {
		for _, c := range set.chunks {
			if c.bits != nil {
				c.bits.RunOptimize()
			}
		}
	}
	return b.e.Commit(seq)
}

// dropBareTombstones forgets tombstones that have no stored edge.
func (b *Builder) dropBareTombstones() {
	if b.tombs == 0 {
		return
	}
	v := &b.e.v
	for _, id := range v.Doomed(b.tombs, nil) {
		s, _ := v.nodeIDs.slot(uint64(id))
		p, i := v.ownNode(s, b.e.tok), s&nodeMask
		if p.left == nil || p.left[i] == 0 {
			p.doomed &^= 1 << i
			v.doomedCount--
		}
	}
}

// pack builds the segments of one direction by counting: the edges of each node
// are laid out in order of edge, then each run is sorted.
func (b *Builder) pack(d int) {
	v := &b.e.v
	segs := make([]*csr, (v.nodeIDs.n-1)>>segBits+1)
	b.eachEdge(d, func(at, _ Slot, _ uint32, _ Slot) {
		c := segs[at>>segBits]
		if c == nil {
			c = &csr{}
			segs[at>>segBits] = c
		}
		c.off[at&segMask+1]++
	})
	types := make([][]uint32, len(segs))
	next := make([]uint32, v.nodeIDs.n)
	for i, c := range segs {
		if c == nil {
			continue
		}
		for k := range segPer {
			c.off[k+1] += c.off[k]
		}
		n := c.off[segPer]
		c.nbr, c.edge, types[i] = make([]uint32, n), make([]uint32, n), make([]uint32, n)
		copy(next[i<<segBits:], c.off[:segPer])
	}
	b.eachEdge(d, func(at, nbr Slot, t uint32, edge Slot) {
		c, k := segs[at>>segBits], next[at]
		next[at]++
		c.nbr[k], c.edge[k], types[at>>segBits][k] = nbr, edge, t
	})
	var scratch []entry
	for i, c := range segs {
		if c == nil {
			continue
		}
		for local := range uint32(segPer) {
			scratch = c.sortRun(local, types[i], scratch)
		}
		c.setTypes(types[i])
		types[i] = nil
		b.e.ownSegment(uint32(i) << segBits).base[d] = c
	}
}

// eachEdge calls fn for every stored edge, seen from its end in direction d.
func (b *Builder) eachEdge(d int, fn func(at, nbr Slot, t uint32, edge Slot)) {
	v := &b.e.v
	for pn, p := v.edges.next(0); p != nil; pn, p = v.edges.next(pn + 1) {
		for i := range uint32(edgePer) {
			if !p.isAlive(i) {
				continue
			}
			x, t := p.ends[i], uint32(p.typeOf(i))
			if d == 0 {
				fn(x.src, x.dst, t, pn<<edgeBits|i)
			} else {
				fn(x.dst, x.src, t, pn<<edgeBits|i)
			}
		}
	}
}

// sortRun puts one node's edges in order of type, neighbour and edge.
func (c *csr) sortRun(local uint32, types []uint32, scratch []entry) []entry {
	lo, hi := c.off[local], c.off[local+1]
	scratch = scratch[:0]
	sorted := true
	for k := lo; k < hi; k++ {
		scratch = append(scratch, makeEntry(0, types[k], c.nbr[k], c.edge[k]))
		if n := len(scratch); n > 1 && scratch[n-1].less(scratch[n-2]) {
			sorted = false
		}
	}
	if sorted {
		return scratch
	}
	slices.SortFunc(scratch, func(a, b entry) int {
		if a.less(b) {
			return -1
		}
		return 1
	})
	for i, e := range scratch {
		k := lo + uint32(i)
		types[k], c.nbr[k], c.edge[k] = e.typ(), e.nbr(), e.edge()
	}
	return scratch
}
