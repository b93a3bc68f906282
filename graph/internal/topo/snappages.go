package topo

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// slabPages is how many pages are allocated at once. Some of a slab may live
// longer than they must, so it is small.
const slabPages = 16

// slab hands out zeroed values that are allocated together.
type slab[T any] struct{ free []T }

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.free = make([]T, slabPages)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}

func (d *decoder) nodeChunk(r *reading) {
	var pages slab[nodePage]
	var hot slab[hotPage]
	last := pagesFor(d.nodes, nodeBits)
	for i := r.u32(); len(r.b) > 0; i++ {
		p := pages.next()
		d.nodePage(r, p, &hot)
		// No bit may stand for a slot that is not there.
		beyond := uint64(0)
		if i < last && (i+1)<<nodeBits > d.nodes {
			beyond = ^uint64(0) << (d.nodes & nodeMask)
		}
		if r.err != nil || i >= last || (p.alive|p.doomed)&beyond != 0 || p.alive&p.doomed != 0 || !d.v.nodes.fresh(&d.placing, i, p) {
			r.fail()
			return
		}
		d.nodePages.Add(1)
		d.liveNodes.Add(int64(bits.OnesCount64(p.alive)))
		d.doomedNodes.Add(int64(bits.OnesCount64(p.doomed)))
	}
}

func (d *decoder) nodePage(r *reading, p *nodePage, hot *slab[hotPage]) {
	p.owner = d.tok
	p.alive, p.doomed = r.u64(), r.u64()
	if int(r.u32s(p.labels[:])) >= d.sets {
		r.fail()
	}
	r.times(p.created[:])
	if r.byte() == 1 {
		p.left = new([nodePer]uint32)
		r.u32s(p.left[:])
	}
	for i := range uint32(nodePer) {
		if p.doomed>>i&1 != 0 && (p.left == nil || p.left[i] == 0) {
			r.fail()
			return
		}
	}
	for n := r.count(1); n > 0; n-- {
		c := r.uint()
		if c >= uint64(len(d.v.shared.columns)) {
			r.fail()
			return
		}
		if p.cols == nil {
			p.cols = make([]*hotPage, len(d.v.shared.columns))
		}
		h := hot.next()
		h.owner = d.tok
		p.cols[c] = h
		d.hotPage(r, h)
	}
}

func (d *decoder) hotPage(r *reading, h *hotPage) {
	kinds, cells := r.take(nodePer), r.take(8*nodePer)
	if cells == nil {
		return
	}
	for i, k := range kinds {
		h.kind[i] = cellKind(k)
		h.bits[i] = binary.LittleEndian.Uint64(cells[8*i:])
		if h.kind[i] > cellDateTime || h.kind[i] == cellString && h.bits[i] >= uint64(d.strings) {
			r.fail()
			return
		}
	}
}

// times reads what encoder.times appended.
func (r *reading) times(out []int64) {
	width, base := r.byte(), int64(r.u64())
	switch width {
	case 0:
		for i := range out {
			out[i] = base
		}
	case 4:
		if b := r.take(4 * len(out)); b != nil {
			for i := range out {
				out[i] = base + int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
			}
		}
	case 8:
		for i := range out {
			out[i] = int64(r.u64())
		}
	default:
		r.fail()
	}
}

func (d *decoder) edgeChunk(r *reading) {
	var pages slab[edgePage]
	last := pagesFor(d.edges, edgeBits)
	for i := r.u32(); len(r.b) > 0; i++ {
		p := pages.next()
		alive := d.edgePage(r, p)
		if r.err != nil || i >= last || !d.v.edges.fresh(&d.placing, i, p) {
			r.fail()
			return
		}
		if k := d.edges & edgeMask; i == last-1 && k != 0 {
			for ; k < edgePer; k++ {
				if p.isAlive(k) {
					r.fail()
					return
				}
			}
		}
		d.edgePages.Add(1)
		d.aliveEdges.Add(int64(alive))
	}
}

// edgePage reads the columns of 256 edges and returns how many are alive.
func (d *decoder) edgePage(r *reading, p *edgePage) (alive int) {
	p.owner = d.tok
	has := columnSet(r.byte())
	for i := range p.alive {
		p.alive[i] = r.u64()
		alive += bits.OnesCount64(p.alive[i])
	}
	pairs := r.take(8 * edgePer)
	copy(p.typ[:], r.take(edgePer))
	p.base = int64(r.u64())
	if r.err != nil {
		return 0
	}
	srcs, dsts := uint32(0), uint32(0)
	for i := range p.ends {
		x := binary.LittleEndian.Uint64(pairs[8*i:][:8])
		src, dst := uint32(x), uint32(x>>32)
		p.ends[i] = ends{src, dst}
		srcs, dsts = max(srcs, src), max(dsts, dst)
	}
	if max(srcs, dsts) >= d.nodes {
		r.fail()
		return 0
	}
	r.columns(p, has)
	if !p.holdsTogether() {
		r.fail()
	}
	return alive
}

func (r *reading) columns(p *edgePage, has columnSet) {
	if has&colWide != 0 {
		p.wide = new([edgePer]uint32)
		if r.u32s(p.wide[:]) >= maxNumber {
			r.fail()
		}
	}
	if has&colFlags != 0 {
		p.flags = new([edgePer]uint8)
		copy(p.flags[:], r.take(edgePer))
	}
	if has&colLayer != 0 {
		p.layer = new([edgePer]uint8)
		copy(p.layer[:], r.take(edgePer))
	}
	if has&colWeight != 0 {
		p.weight = new([edgePer]float32)
		r.floats(p.weight)
	}
	if has&colLearned != 0 {
		p.learned = new([edgePer]float32)
		r.floats(p.learned)
	}
	if has&colCreated != 0 {
		p.created = new([edgePer]int32)
		if b := r.take(4 * edgePer); b != nil {
			for i := range p.created {
				p.created[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
			}
		}
	}
	if has&colCreatedL != 0 {
		p.createdL = new([edgePer]int64)
		for i := range p.createdL {
			p.createdL[i] = int64(r.u64())
		}
	}
	if has>>7 != 0 {
		r.fail()
	}
}

func (r *reading) floats(out *[edgePer]float32) {
	if b := r.take(4 * edgePer); b != nil {
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
}

// holdsTogether reports whether every column is there that another one points
// to.
func (p *edgePage) holdsTogether() bool {
	if p.wide == nil && bytes.IndexByte(p.typ[:], wideType) >= 0 {
		return false
	}
	if p.flags == nil {
		return true
	}
	all := uint8(0)
	exact := uint8(0) // attributes with a value in a column
	for _, f := range p.flags {
		all |= f
		exact |= f & 0b101010 // attrOne and attrTwo have the upper bit
	}
	return (p.weight != nil || all>>flagWeight&3 == 0) &&
		(p.layer != nil || exact>>flagLayer&2 == 0) &&
		(p.learned != nil || all&flagLearned == 0)
}

func (d *decoder) segment(r *reading) {
	i, s := r.u32(), &segment{owner: d.tok}
	for dir := range s.base {
		s.base[dir] = d.csr(r)
	}
	if r.err != nil || i >= pagesFor(d.nodes, segBits) || !d.v.segs.fresh(&d.placing, i, s) {
		r.fail()
	}
}

func (d *decoder) csr(r *reading) *csr {
	n := int(r.u32())
	if n == 0 {
		return nil
	}
	if n > len(r.b)/8 {
		r.fail()
		return nil
	}
	c := &csr{nbr: make([]uint32, n), edge: make([]uint32, n)}
	if !r.degrees(c, uint32(n)) {
		r.fail()
		return nil
	}
	if r.u32s(c.nbr) >= d.nodes || r.u32s(c.edge) >= d.edges {
		r.fail()
		return nil
	}
	dict := int(r.byte())
	if dict == 0 {
		c.wide = make([]uint32, n)
		if r.u32s(c.wide) >= maxNumber {
			r.fail()
		}
		return c
	}
	c.dict, c.typ = make([]uint32, dict), make([]uint8, n)
	if r.u32s(c.dict) >= maxNumber || !slices.IsSorted(c.dict) || len(slices.Compact(slices.Clone(c.dict))) != dict {
		r.fail()
	}
	copy(c.typ, r.take(n))
	if r.err == nil && !allBelow(c.typ, uint8(dict)) {
		r.fail()
	}
	return c
}

// allBelow reports whether all of list are below limit: eight at a time by the
// carries of adding what is missing to 128, for limits to 128.
func allBelow(list []uint8, limit uint8) bool {
	const tops, ones = 0x8080808080808080, 0x0101010101010101
	over := uint64(0)
	for limit <= 128 && len(list) >= 8 {
		x := binary.LittleEndian.Uint64(list)
		over |= x | (x&^tops + uint64(128-limit)*ones)
		list = list[8:]
	}
	for _, x := range list {
		if x >= limit {
			return false
		}
	}
	return over&tops == 0
}

// degrees reads where the edges of each node begin; they have to add up to n.
func (r *reading) degrees(c *csr, n uint32) bool {
	width := int(r.byte())
	if width != 2 && width != 4 {
		return false
	}
	b := r.take(width * segPer)
	if b == nil {
		return false
	}
	at := uint64(0)
	for i := range segPer {
		if width == 2 {
			at += uint64(binary.LittleEndian.Uint16(b[2*i:]))
		} else {
			at += uint64(binary.LittleEndian.Uint32(b[4*i:]))
		}
		if at > uint64(n) {
			return false
		}
		c.off[i+1] = uint32(at)
	}
	return at == uint64(n)
}

// fillLabels makes the set of nodes of each label from the nodes. Slots come in
// ascending order, a chunk of 65,536 at a time.
func (v *Version) fillLabels(tok *token) {
	var slots [][]uint32 // by label
	sets := *v.shared.sets.list.Load()
	chunk, any := uint32(0), false
	flush := func() {
		for l, list := range slots {
			if len(list) == 0 {
				continue
			}
			set := v.ownLabel(uint32(l), tok)
			bits := set.chunk(list[0], tok)
			bits.AddMany(list)
			bits.RunOptimize()
			set.n += int64(len(list))
			slots[l] = list[:0]
		}
		any = false
	}
	for i, p := v.nodes.next(0); p != nil; i, p = v.nodes.next(i + 1) {
		if c := i << nodeBits >> chunkBits; any && c != chunk {
			flush()
		}
		chunk = i << nodeBits >> chunkBits
		for alive := p.alive; alive != 0; alive &= alive - 1 {
			k := uint32(bits.TrailingZeros64(alive))
			for _, l := range sets[p.labels[k]] {
				for int(l) >= len(slots) {
					slots = append(slots, nil)
				}
				slots[l] = append(slots[l], i<<nodeBits|k)
				any = true
			}
		}
	}
	flush()
}
