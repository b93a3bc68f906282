package topo

import (
	"encoding/binary"
	"math"
)

// SnapshotContent is the version of the chunks that Encode emits.
//
//	1  first
//	2  may end with numbers of edges by labels; without them they are counted
const SnapshotContent = 2

// The kinds of chunks, in the order in which they come. Everything refers to
// what came before it only, so chunks of the last four kinds may be decoded in
// any order.
const (
	chunkMeta     byte = iota + 1 // columns, sizes, counts by type
	chunkLabels                   // interned sets of labels, by number
	chunkStrings                  // interned strings, by number
	chunkNodeIDs                  // bitmaps of 1,024 ids
	chunkEdgeIDs                  // likewise
	chunkNodes                    // pages of nodes
	chunkEdges                    // pages of edges
	chunkSegments                 // packed segments
	chunkCells                    // numbers of edges by type and labels of both ends
)

// chunkTarget is about how many bytes a chunk has.
const chunkTarget = 512 << 10

// Encode hands out the version as chunks of about half a MiB; the edges of one
// segment are not divided. Slots, hot columns, label sets and counters are in it;
// overlays are packed on the way. v must be published. The payload is reused
// after each call; an error ends the encoding.
func (v *Version) Encode(emit func(kind byte, payload []byte) error) error {
	e := &encoder{v: v, emit: emit}
	for _, step := range []func() error{e.meta, e.labels, e.strings, e.ids, e.nodes, e.edges, e.segments, e.cells} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type encoder struct {
	v    *Version
	emit func(byte, []byte) error
	b    []byte
}

// flush emits what was gathered.
func (e *encoder) flush(kind byte) error {
	err := e.emit(kind, e.b)
	e.b = e.b[:0]
	return err
}

// flushFull emits a chunk that is large enough.
func (e *encoder) flushFull(kind byte) error {
	if len(e.b) < chunkTarget {
		return nil
	}
	return e.flush(kind)
}

func (e *encoder) flushRest(kind byte) error {
	if len(e.b) == 0 {
		return nil
	}
	return e.flush(kind)
}

func (e *encoder) u32(x uint32)  { e.b = binary.LittleEndian.AppendUint32(e.b, x) }
func (e *encoder) u64(x uint64)  { e.b = binary.LittleEndian.AppendUint64(e.b, x) }
func (e *encoder) uint(x uint64) { e.b = binary.AppendUvarint(e.b, x) }
func (e *encoder) str(s string)  { e.uint(uint64(len(s))); e.b = append(e.b, s...) }

func (e *encoder) u32s(list []uint32) {
	for _, x := range list {
		e.u32(x)
	}
}

func (e *encoder) meta() error {
	v := e.v
	e.uint(uint64(len(v.shared.columns)))
	for _, c := range v.shared.columns {
		e.str(c)
	}
	for _, n := range []uint64{uint64(v.nodeIDs.n), uint64(v.edgeIDs.n), uint64(v.nodeCount), uint64(v.edgeCount), uint64(v.doomedCount)} {
		e.uint(n)
	}
	for t, c := v.typeCounts.next(0); c != nil; t, c = v.typeCounts.next(t + 1) {
		if c.n != 0 {
			e.uint(uint64(t))
			e.uint(uint64(c.n))
		}
	}
	return e.flush(chunkMeta)
}

func (e *encoder) labels() error {
	for _, set := range *e.v.shared.sets.list.Load() {
		e.uint(uint64(len(set)))
		for _, l := range set {
			e.uint(uint64(l))
		}
	}
	return e.flush(chunkLabels)
}

func (e *encoder) strings() error {
	if list := e.v.shared.strings.list.Load(); list != nil {
		for _, s := range *list {
			e.str(s)
		}
	}
	return e.flush(chunkStrings)
}

func (e *encoder) ids() error {
	if err := e.idMap(chunkNodeIDs, &e.v.nodeIDs); err != nil {
		return err
	}
	return e.idMap(chunkEdgeIDs, &e.v.edgeIDs)
}

func (e *encoder) idMap(kind byte, m *idMap) error {
	for i, p := m.byID.next(0); p != nil; i, p = m.byID.next(i + 1) {
		e.u32(i)
		for _, w := range p.words {
			e.u64(w)
		}
		if err := e.flushFull(kind); err != nil {
			return err
		}
	}
	return e.flushRest(kind)
}

// pages emits chunks of numbered pages 0 to n-1.
func (e *encoder) pages(kind byte, n uint32, page func(i uint32)) error {
	for i := range n {
		if len(e.b) == 0 {
			e.u32(i)
		}
		page(i)
		if err := e.flushFull(kind); err != nil {
			return err
		}
	}
	return e.flushRest(kind)
}

func pagesFor(slots uint32, bits uint) uint32 { return uint32((uint64(slots) + 1<<bits - 1) >> bits) }

func (e *encoder) nodes() error {
	return e.pages(chunkNodes, pagesFor(e.v.nodeIDs.n, nodeBits), func(i uint32) { e.nodePage(e.v.nodes.at(i)) })
}

// nodePage appends the columns of 64 nodes.
func (e *encoder) nodePage(p *nodePage) {
	e.u64(p.alive)
	e.u64(p.doomed)
	e.u32s(p.labels[:])
	e.times(p.created[:])
	if p.left != nil && p.doomed != 0 {
		e.b = append(e.b, 1)
		e.u32s(p.left[:])
	} else {
		e.b = append(e.b, 0)
	}
	used := uint64(0)
	for _, h := range p.cols {
		if h != nil {
			used++
		}
	}
	e.uint(used)
	for c, h := range p.cols {
		if h == nil {
			continue
		}
		e.uint(uint64(c))
		for _, k := range h.kind {
			e.b = append(e.b, byte(k))
		}
		for _, x := range h.bits {
			e.u64(x)
		}
	}
}

// times appends times that are usually close to each other: a base, and nothing,
// 32 or 64 bits each.
func (e *encoder) times(list []int64) {
	base, width := list[0], byte(0)
	for _, t := range list {
		if t != base {
			width = max(width, 4)
		}
		if d := t - base; int64(int32(d)) != d {
			width = 8
		}
	}
	e.b = append(e.b, width)
	e.u64(uint64(base))
	for _, t := range list {
		switch width {
		case 4:
			e.u32(uint32(int32(t - base)))
		case 8:
			e.u64(uint64(t))
		}
	}
}

func (e *encoder) edges() error {
	return e.pages(chunkEdges, pagesFor(e.v.edgeIDs.n, edgeBits), func(i uint32) { e.edgePage(e.v.edges.at(i)) })
}

// edgePage appends the columns of 256 edges. A bit for each column that is there
// comes first.
func (e *encoder) edgePage(p *edgePage) {
	var has columnSet
	for _, c := range []struct {
		there bool
		bit   columnSet
	}{
		{p.wide != nil, colWide},
		{p.flags != nil, colFlags},
		{p.layer != nil, colLayer},
		{p.weight != nil, colWeight},
		{p.learned != nil, colLearned},
		{p.created != nil, colCreated},
		{p.createdL != nil, colCreatedL},
	} {
		if c.there {
			has |= c.bit
		}
	}
	e.b = append(e.b, byte(has))
	for _, w := range p.alive {
		e.u64(w)
	}
	for _, x := range p.ends {
		e.u32(x.src)
		e.u32(x.dst)
	}
	e.b = append(e.b, p.typ[:]...)
	e.u64(uint64(p.base))
	if p.wide != nil {
		e.u32s(p.wide[:])
	}
	if p.flags != nil {
		e.b = append(e.b, p.flags[:]...)
	}
	if p.layer != nil {
		e.b = append(e.b, p.layer[:]...)
	}
	if p.weight != nil {
		e.floats(p.weight[:])
	}
	if p.learned != nil {
		e.floats(p.learned[:])
	}
	if p.created != nil {
		for _, d := range p.created {
			e.u32(uint32(d))
		}
	}
	if p.createdL != nil {
		for _, t := range p.createdL {
			e.u64(uint64(t))
		}
	}
}

func (e *encoder) floats(list []float32) {
	for _, f := range list {
		e.u32(math.Float32bits(f))
	}
}

// cells emits the numbers of edges by type and sets of labels: whether they ran out,
// then all, in order. With a hub that is counted by old labels it emits nothing, so
// that they are counted anew when the file is read.
func (e *encoder) cells() error {
	m := &e.v.cells
	if len(e.v.hubSets) > 0 || m.n == 0 {
		return nil
	}
	full := byte(0)
	if m.full {
		full = 1
	}
	e.b = append(e.b, full)
	m.each(anyType, func(c cell) bool {
		for _, x := range []uint32{c.typ, c.src, c.dst} {
			e.uint(uint64(x))
		}
		e.uint(uint64(c.n))
		return true
	})
	return e.flush(chunkCells)
}

func (e *encoder) segments() error {
	for i, s := e.v.segs.next(0); s != nil; i, s = e.v.segs.next(i + 1) {
		base := s.base
		if s.over[0].root != nil || s.over[1].root != nil {
			base = e.v.Merge(i).base
		}
		e.u32(i)
		for _, c := range base {
			e.csr(c)
		}
		if err := e.flushFull(chunkSegments); err != nil {
			return err
		}
	}
	return e.flushRest(chunkSegments)
}

// csr appends one direction of a segment: how many edges, the degrees in 2 bytes
// where they fit, neighbours, edges and types.
func (e *encoder) csr(c *csr) {
	if c == nil {
		e.u32(0)
		return
	}
	e.u32(uint32(len(c.nbr)))
	wide := false
	for i := range segPer {
		wide = wide || c.off[i+1]-c.off[i] > math.MaxUint16
	}
	if wide {
		e.b = append(e.b, 4)
	} else {
		e.b = append(e.b, 2)
	}
	for i := range segPer {
		if d := c.off[i+1] - c.off[i]; wide {
			e.u32(d)
		} else {
			e.b = binary.LittleEndian.AppendUint16(e.b, uint16(d))
		}
	}
	e.u32s(c.nbr)
	e.u32s(c.edge)
	if c.wide != nil {
		e.b = append(e.b, 0)
		e.u32s(c.wide)
		return
	}
	e.b = append(e.b, byte(len(c.dict)))
	e.u32s(c.dict)
	e.b = append(e.b, c.typ...)
}
