package topo

import "engram/graph/value"

// Degree returns how many edges Expand would append. It looks at runs and at
// the node's overlay, not at every edge, except while some deleted node waits
// for the sweeper.
func (v *Version) Degree(id value.NodeID, dir value.Direction, types []value.TypeID) int64 {
	slot, ok := v.NodeSlot(id)
	if !ok {
		return 0
	}
	return v.DegreeSlot(slot, dir, types)
}

// DegreeSlot is Degree for the slot of a living node.
func (v *Version) DegreeSlot(slot Slot, dir value.Direction, types []value.TypeID) int64 {
	seg := v.segs.at(slot >> segBits)
	if seg == nil {
		return 0
	}
	var few fewTypes
	n := int64(0)
	for _, t := range typeList(types, few[:0]) {
		if v.doomedCount != 0 {
			n += v.walkCount(seg, dir, slot, t)
			continue
		}
		if dir != value.In {
			n += seg.count(0, slot, t, false)
		}
		if dir != value.Out {
			n += seg.count(1, slot, t, dir == value.Both)
		}
	}
	return n
}

func (v *Version) walkCount(seg *segment, dir value.Direction, slot Slot, t uint32) (n int64) {
	var w walk
	w.init(v, seg, dir, slot, t)
	for _, ok := w.next(); ok; _, ok = w.next() {
		n++
	}
	return n
}

// count returns how many edges of one type or any a node has in one direction,
// edges to doomed nodes included, self loops left out on request.
func (s *segment) count(d int, slot Slot, t uint32, noLoops bool) int64 {
	c, lo, hi := s.packed(value.Direction(d), slot, t)
	n := int64(hi - lo)
	if noLoops {
		c.eachType(lo, hi, func(_, a, b uint32) { n -= c.loops(a, b, slot) })
	}
	s.eachOver(d, slot, t, func(e entry) {
		if !noLoops || e.nbr() != slot {
			n += e.weight()
		}
	})
	return n
}

// weight is what an overlay entry adds to a count.
func (e entry) weight() int64 {
	if e.gone() {
		return -1
	}
	return 1
}

// eachType calls fn for every run of one type within a node's run.
func (c *csr) eachType(lo, hi uint32, fn func(t, lo, hi uint32)) {
	for lo < hi {
		t := c.typeAt(lo)
		_, end := c.ofType(lo, hi, t)
		fn(t, lo, end)
		lo = end
	}
}

// loops counts self loops in a run of one type.
func (c *csr) loops(lo, hi uint32, slot Slot) int64 {
	a := lowerBound(c.nbr[lo:hi], slot)
	return int64(lowerBound(c.nbr[lo+a:hi], slot+1))
}

// eachOver calls fn for the overlay entries of a node, of one type or any.
func (s *segment) eachOver(d int, slot Slot, t uint32, fn func(entry)) {
	local := slot & segMask
	if !s.isTouched(d, local) {
		return
	}
	var it treeIter
	it.seek(&s.over[d], makeEntry(uint16(local), t, 0, 0))
	for e, ok := it.next(); ok && e.local() == uint16(local) && (t == anyType || e.typ() == t); e, ok = it.next() {
		fn(e)
	}
}

// typedCount is a number of edges of one type.
type typedCount struct {
	typ value.TypeID
	n   int64
}

type typedCounts []typedCount

func (tc *typedCounts) add(t uint32, n int64) {
	for i := range *tc {
		if (*tc)[i].typ == value.TypeID(t) {
			(*tc)[i].n += n
			return
		}
	}
	*tc = append(*tc, typedCount{value.TypeID(t), n})
}

// incident counts the edges at a node, self loops once: visible ones by type,
// and all that are stored.
func (v *Version) incident(s Slot) (visible typedCounts, stored uint32) {
	seg := v.segs.at(s >> segBits)
	if seg == nil {
		return nil, 0
	}
	if v.doomedCount != 0 {
		return v.walkIncident(seg, s)
	}
	for d := range 2 {
		c, lo, hi := seg.packed(value.Direction(d), s, anyType)
		c.eachType(lo, hi, func(t, a, b uint32) {
			n := int64(b - a)
			if d == 1 {
				n -= c.loops(a, b, s)
			}
			visible.add(t, n)
		})
		seg.eachOver(d, s, anyType, func(e entry) {
			if d == 0 || e.nbr() != s {
				visible.add(e.typ(), e.weight())
			}
		})
	}
	for _, c := range visible {
		stored += uint32(c.n)
	}
	return visible, stored
}

func (v *Version) walkIncident(seg *segment, s Slot) (visible typedCounts, stored uint32) {
	for d := range 2 {
		var c cursor
		c.init(v, seg, d, s&segMask, anyType)
		for h, ok := c.raw(); ok; h, ok = c.raw() {
			if d == 1 && h.Node == s {
				continue
			}
			stored++
			if !v.doomed(h.Node) {
				visible.add(uint32(h.Type), 1)
			}
		}
	}
	return visible, stored
}
