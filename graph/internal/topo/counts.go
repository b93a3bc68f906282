package topo

import "engram/graph/value"

// typedCount is a number of edges of one type.
type typedCount struct {
	typ value.TypeID
	n   int64
}

// incident counts the edges at a node: visible ones by type, and all that are
// stored.
func (v *Version) incident(s Slot) (visible []typedCount, stored uint32) {
	seg := v.segs.at(s >> segBits)
	if seg == nil {
		return nil, 0
	}
	for d := range 2 {
		var c cursor
		c.init(v, seg, d, s&segMask, anyType)
		for h, ok := c.raw(); ok; h, ok = c.raw() {
			if d == 1 && h.Node == s {
				continue
			}
			stored++
			if v.doomedCount != 0 && v.doomed(h.Node) {
				continue
			}
			if n := len(visible); n > 0 && visible[n-1].typ == h.Type {
				visible[n-1].n++
			} else {
				visible = append(visible, typedCount{h.Type, 1})
			}
		}
	}
	return visible, stored
}
