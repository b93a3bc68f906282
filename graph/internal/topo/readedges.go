package topo

import "engram/graph/value"

// EdgeRow is an edge as its columns have it.
type EdgeRow struct {
	Slot     Slot
	Src, Dst Slot // of nodes
	Type     value.TypeID
	// Weight is asserted and rounded like WeightSlot's; 0 without Weighted. Learned is 0
	// when nothing was.
	Weight, Learned float32
	Weighted        bool
	Inhibitory      bool
}

// ReadEdges appends the visible edges of the page that a slot lies in, from the slot on,
// and returns the slot behind the page. It reads columns front to back, which for all
// edges takes a fraction of asking for each.
func (v *Version) ReadEdges(from Slot, buf []EdgeRow) (rows []EdgeRow, next Slot) {
	next = min(from|edgeMask, v.edgeIDs.n-1) + 1
	p := v.edges.at(from >> edgeBits)
	if p == nil {
		return buf, next
	}
	for s := from; s < next; s++ {
		i := s & edgeMask
		if !p.isAlive(i) {
			continue
		}
		e := p.ends[i]
		if v.doomedCount != 0 && (v.doomed(e.src) || v.doomed(e.dst)) {
			continue
		}
		row := EdgeRow{Slot: s, Src: e.src, Dst: e.dst, Type: p.typeOf(i)}
		if p.flags != nil {
			flags := p.flags[i]
			if p.weight != nil && flags&3 != attrAbsent {
				if w := p.weight[i]; w == w { // NaN marks a weight that is no number
					row.Weight, row.Weighted = w, true
				}
			}
			if flags&flagLearned != 0 {
				row.Learned = p.learned[i]
			}
			row.Inhibitory = flags>>flagInhibitory&3 == attrTwo
		}
		buf = append(buf, row)
	}
	return buf, next
}
