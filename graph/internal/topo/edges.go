package topo

import (
	"unsafe"

	"engram/graph/value"
)

const (
	edgeBits = 8
	edgePer  = 1 << edgeBits
	edgeMask = edgePer - 1

	wideType = 255 // escape: the type is in edgePage.wide
)

type ends struct{ src, dst Slot }

// edgePage holds the columns of 256 edges. Columns that hold nothing but
// defaults are nil.
type edgePage struct {
	owner   *token
	alive   [edgePer / 64]uint64
	ends    [edgePer]ends
	typ     [edgePer]uint8
	wide    *[edgePer]uint32
	flags   *[edgePer]uint8
	layer   *[edgePer]uint8
	weight  *[edgePer]float32 // asserted; nearest float32 when flags say record
	learned *[edgePer]float32 // valid with flagLearned
	// Creation times are offsets from base: nil when all are 0, else 32 bits
	// each, or 64 when one is more than 24 days away.
	base     int64
	created  *[edgePer]int32
	createdL *[edgePer]int64
	fresh    columnSet // columns copied since owner took the page
}

// The flags of an edge. Weight, layer and inhibitory take two bits each.
const (
	flagWeight     = 0 // shift; attribute states below
	flagLayer      = 2
	flagInhibitory = 4
	flagLearned    = 1 << 6
	// flagDecimal, with a weight whose state is attrRecord: it is the number of six
	// decimals nearest to the float32. Who does not know the flag sees the record.
	flagDecimal = 1 << 7
)

// The states of a two-bit attribute.
const (
	attrAbsent = iota
	attrRecord
	attrOne // weight as float, layer as int, inhibitory false
	attrTwo // weight as int, inhibitory true
)

type columnSet uint8

const (
	colWide columnSet = 1 << iota
	colFlags
	colLayer
	colWeight
	colLearned
	colCreated
	colCreatedL
)

// ownEdge returns the page of a slot, made writable for tok. Its optional
// columns stay shared until column makes them writable too.
func (v *Version) ownEdge(slot Slot, tok *token) *edgePage {
	p := v.edges.at(slot >> edgeBits)
	if p != nil && p.owner == tok {
		return p
	}
	next := &edgePage{}
	if p != nil {
		*next = *p
	}
	next.owner, next.fresh = tok, 0
	v.edges.set(slot>>edgeBits, next, tok)
	tok.count(unsafe.Sizeof(*next))
	return next
}

// column makes one optional column of an owned page writable.
func column[T any](p *edgePage, col **[edgePer]T, bit columnSet, tok *token) *[edgePer]T {
	if *col == nil || p.fresh&bit == 0 {
		next := new([edgePer]T)
		if *col != nil {
			*next = **col
		}
		*col = next
		p.fresh |= bit
		tok.count(unsafe.Sizeof(*next))
	}
	return *col
}

func (p *edgePage) isAlive(i uint32) bool { return p.alive[i>>6]>>(i&63)&1 != 0 }

func (p *edgePage) typeOf(i uint32) value.TypeID {
	if p.typ[i] == wideType {
		return value.TypeID(p.wide[i])
	}
	return value.TypeID(p.typ[i])
}

func (p *edgePage) setType(i uint32, t value.TypeID, tok *token) {
	if t < wideType {
		p.typ[i] = uint8(t)
		return
	}
	p.typ[i] = wideType
	column(p, &p.wide, colWide, tok)[i] = uint32(t)
}

func (p *edgePage) flag(i uint32) uint8 {
	if p.flags == nil {
		return 0
	}
	return p.flags[i]
}

func (p *edgePage) setAttr(i uint32, shift, state uint8, tok *token) {
	old := p.flag(i)
	next := old&^(3<<shift) | state<<shift
	if next != old {
		column(p, &p.flags, colFlags, tok)[i] = next
	}
}

func (p *edgePage) setFlag(i uint32, flag uint8, on bool, tok *token) {
	old := p.flag(i)
	next := old &^ flag
	if on {
		next |= flag
	}
	if next != old {
		column(p, &p.flags, colFlags, tok)[i] = next
	}
}

func (p *edgePage) createdMs(i uint32) int64 {
	switch {
	case p.createdL != nil:
		return p.createdL[i]
	case p.created != nil:
		return p.base + int64(p.created[i])
	}
	return p.base
}

func (p *edgePage) setCreated(i uint32, ms int64, tok *token) {
	if i == 0 && p.created == nil && p.createdL == nil {
		p.base = ms
	}
	d := ms - p.base
	if p.createdL == nil && d == 0 && p.created == nil {
		return
	}
	if p.createdL == nil && int64(int32(d)) == d {
		column(p, &p.created, colCreated, tok)[i] = int32(d)
		return
	}
	if p.createdL == nil {
		wide := column(p, &p.createdL, colCreatedL, tok)
		for k := range wide {
			wide[k] = p.base
			if p.created != nil {
				wide[k] += int64(p.created[k])
			}
		}
		p.created = nil
	}
	column(p, &p.createdL, colCreatedL, tok)[i] = ms
}

// EdgeSlot returns the dense slot of a living edge between living nodes.
func (v *Version) EdgeSlot(id value.EdgeID) (Slot, bool) {
	s, ok := v.edgeIDs.slot(uint64(id))
	if !ok || !v.edgeVisible(s) {
		return 0, false
	}
	return s, true
}

// EdgeID returns the id of an edge's slot, which must be below EdgeSlots.
func (v *Version) EdgeID(s Slot) value.EdgeID { return value.EdgeID(v.edgeIDs.id(s)) }

// EdgeSlots returns a bound for edge slots, living and dead.
func (v *Version) EdgeSlots() uint32 { return v.edgeIDs.n }

func (v *Version) edgeVisible(s Slot) bool {
	p := v.edges.at(s >> edgeBits)
	if !p.isAlive(s & edgeMask) {
		return false
	}
	if v.doomedCount == 0 {
		return true
	}
	e := p.ends[s&edgeMask]
	return !v.doomed(e.src) && !v.doomed(e.dst)
}

// EdgeEnds returns the ends and the type of an edge.
func (v *Version) EdgeEnds(id value.EdgeID) (src, dst value.NodeID, t value.TypeID, ok bool) {
	s, ok := v.EdgeSlot(id)
	if !ok {
		return 0, 0, 0, false
	}
	a, b, t := v.EdgeEndsSlot(s)
	return v.NodeID(a), v.NodeID(b), t, true
}

// EdgeEndsSlot is EdgeEnds for the slot of an edge, by node slots.
func (v *Version) EdgeEndsSlot(s Slot) (src, dst Slot, t value.TypeID) {
	p, i := v.edges.at(s>>edgeBits), s&edgeMask
	return p.ends[i].src, p.ends[i].dst, p.typeOf(i)
}

// EdgeCreated returns when the edge was created, in ms since 1970.
func (v *Version) EdgeCreated(id value.EdgeID) (ms int64, ok bool) {
	s, ok := v.EdgeSlot(id)
	if !ok {
		return 0, false
	}
	return v.edges.at(s >> edgeBits).createdMs(s & edgeMask), true
}

// ScanEdges fills buf with ids greater than after, in ascending order, of edges
// of type t (0: any). A short fill means the end. It passes over every edge.
func (v *Version) ScanEdges(t value.TypeID, after value.EdgeID, buf []value.EdgeID) []value.EdgeID {
	n := 0
	if v.EdgeCount(t) == 0 {
		return buf[:0]
	}
	for s := v.edgeIDs.after(uint64(after)); s < v.edgeIDs.n && n < len(buf); s++ {
		p, i := v.edges.at(s>>edgeBits), s&edgeMask
		if t != 0 && p.typeOf(i) != t || !v.edgeVisible(s) {
			continue
		}
		buf[n] = v.EdgeID(s)
		n++
	}
	return buf[:n]
}

// EdgeCount returns how many edges have type t; type 0 counts all.
func (v *Version) EdgeCount(t value.TypeID) int64 {
	if t == 0 {
		return v.edgeCount
	}
	if c := v.typeCounts.at(uint32(t)); c != nil {
		return c.n
	}
	return 0
}

// typeCount is the number of visible edges of one type.
type typeCount struct {
	owner *token
	n     int64
}

func (v *Version) addTypeCount(t value.TypeID, delta int64, tok *token) {
	c := v.typeCounts.at(uint32(t))
	if c == nil || c.owner != tok {
		next := &typeCount{owner: tok}
		if c != nil {
			next.n = c.n
		}
		v.typeCounts.set(uint32(t), next, tok)
		c = next
		tok.count(unsafe.Sizeof(*next))
	}
	c.n += delta
	v.edgeCount += delta
}
