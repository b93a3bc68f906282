package topo

import (
	"math/bits"
	"unsafe"
)

const (
	idBits = 10
	idMask = 1<<idBits - 1
)

// idMap maps ascending ids to dense slots and back, both in constant time. Ids
// arrive in ascending order and slots are given in order of arrival, so the
// slot of an id is the count of smaller ids: a bitmap with ranks, 0.16 bytes an
// id. The other way, a page of slots holds its first id and, only when ids in
// it have holes, every id.
type idMap struct {
	first  uint64 // id of slot 0
	dense  uint32 // slots below it hold the id first+slot
	n      uint32 // slots in use
	last   uint64 // id of slot n-1
	byID   vec[rankPage]
	bySlot vec[slotIDs]
}

// rankPage covers 1,024 ids.
type rankPage struct {
	owner *token
	base  uint32 // slots given before this page
	rank  [16]uint16
	words [16]uint64
}

// slotIDs covers 256 slots beyond the dense beginning: slot s of the page holds
// base+s, or ids[s] when ids in the page have holes.
type slotIDs struct {
	owner *token
	base  uint64
	ids   *[256]uint64
}

// slot returns the slot of an id.
func (m *idMap) slot(id uint64) (uint32, bool) {
	if off := id - m.first; id >= m.first && off < uint64(m.dense) {
		return uint32(off), true
	}
	if id > m.last || id < m.first {
		return 0, false
	}
	p := m.byID.at(uint32(id >> idBits))
	if p == nil {
		return 0, false
	}
	w, bit := id&idMask>>6, uint64(1)<<(id&63)
	if p.words[w]&bit == 0 {
		return 0, false
	}
	return p.base + uint32(p.rank[w]) + uint32(bits.OnesCount64(p.words[w]&(bit-1))), true
}

// after returns the first slot whose id is greater than id; m.n when none is.
func (m *idMap) after(id uint64) uint32 {
	if m.n == 0 || id < m.first {
		return 0
	}
	if off := id - m.first; off < uint64(m.dense) {
		return uint32(off) + 1
	}
	if id >= m.last {
		return m.n
	}
	if p := m.byID.at(uint32(id >> idBits)); p != nil {
		w := id & idMask >> 6
		return p.base + uint32(p.rank[w]) + uint32(bits.OnesCount64(p.words[w]<<(63-id&63)))
	}
	_, p := m.byID.next(uint32(id >> idBits))
	return p.base
}

// id returns the id of a slot below m.n.
func (m *idMap) id(slot uint32) uint64 {
	if slot < m.dense {
		return m.first + uint64(slot)
	}
	p := m.bySlot.at(slot >> 8)
	if p.ids == nil {
		return p.base + uint64(slot&255)
	}
	return p.ids[slot&255]
}

// add gives the next slot to an id greater than every id before.
func (m *idMap) add(id uint64, tok *token) uint32 {
	s := m.n
	if s == 0 {
		m.first = id
	}
	if s == m.dense && id == m.first+uint64(s) {
		m.dense++
	} else {
		m.setSlotID(s, id, tok)
	}
	m.setRank(s, id, tok)
	m.n++
	m.last = id
	return s
}

func (m *idMap) setSlotID(s uint32, id uint64, tok *token) {
	p := m.bySlot.at(s >> 8)
	in := uint64(s & 255)
	if p != nil && p.ids == nil && id == p.base+in {
		return
	}
	if p == nil || p.owner != tok {
		next := &slotIDs{owner: tok, base: id - in}
		if p != nil {
			next.base, next.ids = p.base, p.ids
			if p.ids != nil {
				ids := *p.ids
				next.ids = &ids
				tok.count(unsafe.Sizeof(ids))
			}
		}
		p = next
		m.bySlot.set(s>>8, p, tok)
		tok.count(unsafe.Sizeof(*p))
	}
	if p.ids == nil && id != p.base+in {
		p.ids = new([256]uint64)
		for i := range in {
			p.ids[i] = p.base + i
		}
		tok.count(unsafe.Sizeof(*p.ids))
	}
	if p.ids != nil {
		p.ids[in] = id
	}
}

func (m *idMap) setRank(s uint32, id uint64, tok *token) {
	pn := uint32(id >> idBits)
	p := m.byID.at(pn)
	if p == nil || p.owner != tok {
		next := &rankPage{owner: tok, base: s}
		if p != nil {
			*next = *p
			next.owner = tok
		}
		p = next
		m.byID.set(pn, p, tok)
		tok.count(unsafe.Sizeof(*p))
	}
	w := id & idMask >> 6
	p.words[w] |= 1 << (id & 63)
	for i := w + 1; i < 16; i++ {
		p.rank[i]++
	}
}
