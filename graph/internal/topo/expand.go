package topo

import "engram/graph/value"

// Expand appends the edges of a node in direction dir whose type is one of
// types (empty: any), ordered by type, neighbour id and edge id. Edges whose
// other end is deleted are not seen. A missing node has none.
func (v *Version) Expand(id value.NodeID, dir value.Direction, types []value.TypeID, buf []value.Adjacent) []value.Adjacent {
	slot, ok := v.NodeSlot(id)
	if !ok {
		return buf
	}
	seg := v.segs.at(slot >> segBits)
	if seg == nil {
		return buf
	}
	var few fewTypes
	plain := v.plain(seg, dir, slot)
	for _, t := range typeList(types, few[:0]) {
		if plain {
			c, lo, hi := seg.packed(dir, slot, t)
			for k := lo; k < hi; k++ {
				buf = append(buf, value.Adjacent{Edge: v.EdgeID(c.edge[k]), Node: v.NodeID(c.nbr[k]), Type: value.TypeID(c.typeAt(k)), Out: dir == value.Out})
			}
			continue
		}
		var w walk
		w.init(v, seg, dir, slot, t)
		for h, ok := w.next(); ok; h, ok = w.next() {
			buf = append(buf, value.Adjacent{Edge: v.EdgeID(h.Edge), Node: v.NodeID(h.Node), Type: h.Type, Out: h.Out})
		}
	}
	return buf
}

// ExpandSlots is Expand for the slot of a living node, by slots.
func (v *Version) ExpandSlots(slot Slot, dir value.Direction, types []value.TypeID, buf []Hop) []Hop {
	seg := v.segs.at(slot >> segBits)
	if seg == nil {
		return buf
	}
	var few fewTypes
	plain := v.plain(seg, dir, slot)
	for _, t := range typeList(types, few[:0]) {
		if plain {
			c, lo, hi := seg.packed(dir, slot, t)
			for k := lo; k < hi; k++ {
				buf = append(buf, Hop{c.nbr[k], c.edge[k], value.TypeID(c.typeAt(k)), dir == value.Out})
			}
			continue
		}
		var w walk
		w.init(v, seg, dir, slot, t)
		for h, ok := w.next(); ok; h, ok = w.next() {
			buf = append(buf, h)
		}
	}
	return buf
}

// Neighbours appends the slots at the other ends, one for every edge, in the
// order of Expand.
func (v *Version) Neighbours(slot Slot, dir value.Direction, types []value.TypeID, buf []Slot) []Slot {
	seg := v.segs.at(slot >> segBits)
	if seg == nil {
		return buf
	}
	var few fewTypes
	plain := v.plain(seg, dir, slot)
	for _, t := range typeList(types, few[:0]) {
		if plain {
			c, lo, hi := seg.packed(dir, slot, t)
			if lo < hi {
				buf = append(buf, c.nbr[lo:hi]...)
			}
			continue
		}
		var w walk
		w.init(v, seg, dir, slot, t)
		for h, ok := w.next(); ok; h, ok = w.next() {
			buf = append(buf, h.Node)
		}
	}
	return buf
}

// plain reports whether a node's edges in one direction are a packed run as it
// stands: nothing in the overlay, no doomed neighbour possible.
func (v *Version) plain(seg *segment, dir value.Direction, slot Slot) bool {
	return dir != value.Both && v.doomedCount == 0 && !seg.isTouched(int(dir), slot&segMask)
}

// packed returns the positions of a node's packed edges of one type or any.
func (s *segment) packed(dir value.Direction, slot Slot, typ uint32) (c *csr, lo, hi uint32) {
	c = s.base[dir]
	lo, hi = c.run(slot & segMask)
	if typ != anyType && lo < hi {
		lo, hi = c.ofType(lo, hi, typ)
	}
	return c, lo, hi
}
