package topo

import "engram/graph/value"

// scanSlots is how many slots ScanHot looks at in one call at most, so that a
// caller can be stopped in between.
const scanSlots = 1 << 16

// GatherHot is Hot for many: out[i] belongs to ids[i]. It appends the positions
// whose value only the record has to see.
func (v *Version) GatherHot(ids []value.NodeID, col Column, out []value.Value, see []int) []int {
	page := ^uint32(0)
	var alive uint64
	var hot *hotPage
	for i, id := range ids {
		s, ok := v.nodeIDs.slot(uint64(id))
		if !ok {
			out[i] = value.Null
			continue
		}
		if s>>nodeBits != page {
			page = s >> nodeBits
			alive, hot = v.hotPage(page, col)
		}
		k := s & nodeMask
		if hot == nil || alive>>k&1 == 0 {
			out[i] = value.Null
			continue
		}
		switch hot.kind[k] {
		case cellInt:
			out[i] = value.Int(int64(hot.bits[k]))
		case cellFloat:
			out[i] = value.Float(floatOf(hot.bits[k]))
		case cellAbsent:
			out[i] = value.Null
		case cellRecord:
			see = append(see, i)
		default:
			out[i], _ = v.shared.decode(hot.kind[k], hot.bits[k])
		}
	}
	return see
}

// hotPage returns which nodes of a page live, and one of its hot columns; nil
// when no node of it has the property.
func (v *Version) hotPage(page uint32, col Column) (alive uint64, hot *hotPage) {
	p := v.nodes.at(page)
	if p == nil {
		return 0, nil
	}
	if int(col) < len(p.cols) {
		hot = p.cols[col]
	}
	return p.alive, hot
}

// FirstLabels fills out with the least label of every node; 0 for one that has
// none or is not there.
func (v *Version) FirstLabels(ids []value.NodeID, out []value.LabelID) {
	page := ^uint32(0)
	var p *nodePage
	lastSet, label := ^uint32(0), value.LabelID(0)
	for i, id := range ids {
		out[i] = 0
		s, ok := v.nodeIDs.slot(uint64(id))
		if !ok {
			continue
		}
		if s>>nodeBits != page {
			page = s >> nodeBits
			p = v.nodes.at(page)
		}
		if k := s & nodeMask; p != nil && p.alive>>k&1 != 0 {
			if set := p.labels[k]; set != lastSet {
				lastSet, label = set, 0
				if labels := v.shared.sets.at(set); len(labels) > 0 {
					label = labels[0]
				}
			}
			out[i] = label
		}
	}
}

// ScanHot is ScanNodes for the nodes that have a number within bounds in a hot
// column. A node whose value only the record has is asked of see. It stops when
// buf is full or after some work: the scan goes on after the id it returns,
// unless done.
func (v *Version) ScanHot(
	label value.LabelID, after value.NodeID, col Column, in value.Bounds, see func(value.NodeID) bool, buf []value.NodeID,
) (found []value.NodeID, last value.NodeID, done bool) {
	h := hotScan{v: v, col: col, in: in, see: see, buf: buf, page: ^uint32(0)}
	h.low, h.high, h.ints = in.Ints()
	from := v.nodeIDs.after(uint64(after))
	end := min(v.nodeIDs.n, from+scanSlots)
	if end < from {
		end = v.nodeIDs.n
	}
	if label == 0 {
		h.next = from
		for h.next < end && h.n < len(buf) {
			h.lookOn(min(h.next|nodeMask, end-1))
		}
	} else {
		h.next = end
		if set := v.labels.at(uint32(label)); set != nil {
			set.scan(from, func(s Slot) bool {
				if s >= end || h.n == len(buf) {
					h.next = min(s, end)
					return false
				}
				h.look(s)
				return true
			})
		}
	}
	if h.next >= v.nodeIDs.n {
		return buf[:h.n], 0, true
	}
	if h.next == 0 { // not reached: from < end
		return buf[:h.n], after, false
	}
	return buf[:h.n], v.NodeID(h.next - 1), false
}

// hotScan is one call of ScanHot.
type hotScan struct {
	v         *Version
	col       Column
	in        value.Bounds
	low, high int64
	ints      bool // the bounds are low and high
	see       func(value.NodeID) bool
	buf       []value.NodeID
	n         int
	next      Slot // the first that was not looked at
	page      uint32
	alive     uint64
	hot       *hotPage
}

// lookOn looks at the slots from next to last, which are of one page, as long as
// there is room.
func (h *hotScan) lookOn(last Slot) {
	alive, hot := h.v.hotPage(h.next>>nodeBits, h.col)
	if hot == nil || alive == 0 {
		h.next = last + 1
		return
	}
	for ; h.next <= last && h.n < len(h.buf); h.next++ {
		k := h.next & nodeMask
		if hot.kind[k] != cellInt || !h.ints {
			h.look(h.next)
			continue
		}
		if x := int64(hot.bits[k]); h.low <= x && x <= h.high && alive>>k&1 != 0 {
			h.buf[h.n] = h.v.NodeID(h.next)
			h.n++
		}
	}
}

// look adds the node of a slot if it is within.
func (h *hotScan) look(s Slot) {
	if s>>nodeBits != h.page {
		h.page = s >> nodeBits
		h.alive, h.hot = h.v.hotPage(h.page, h.col)
	}
	k := s & nodeMask
	if h.hot == nil || h.alive>>k&1 == 0 {
		return
	}
	within := false
	switch h.hot.kind[k] {
	case cellInt:
		if x := int64(h.hot.bits[k]); h.ints {
			within = h.low <= x && x <= h.high
		} else {
			within = h.in.Contains(value.Int(x))
		}
	case cellFloat:
		within = h.in.Contains(value.Float(floatOf(h.hot.bits[k])))
	case cellRecord:
		within = h.see(h.v.NodeID(s))
	}
	if within {
		h.buf[h.n] = h.v.NodeID(s)
		h.n++
	}
}
