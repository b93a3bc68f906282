package topo

import (
	"fmt"

	"engram/graph/value"
)

// Verify compares the adjacency with the edges, both ways: each entry is an edge
// with these ends and this type, entries ascend, so that none comes twice, and
// there are as many as edges. So are the numbers of edges by type and labels of the
// ends. It reports each problem in words and returns when report returns false.
func (v *Version) Verify(report func(problem string) bool) {
	if !v.verifyCells() && !report("the numbers of edges by type and labels of their ends are not those of the edges") {
		return
	}
	edges := int64(0)
	for s := range v.edgeIDs.n {
		if p := v.edges.at(s >> edgeBits); p.isAlive(s & edgeMask) {
			edges++
		}
	}
	for d, name := range []string{"outgoing", "incoming"} {
		found := int64(0)
		for i, seg := v.segs.next(0); seg != nil; i, seg = v.segs.next(i + 1) {
			for local := range uint32(segPer) {
				n, ok := v.verifyNode(seg, d, i<<segBits|local, name, report)
				if !ok {
					return
				}
				found += n
			}
		}
		if found != edges && !report(fmt.Sprintf("the topology has %d %s entries for %d edges", found, name, edges)) {
			return
		}
	}
}

// verifyNode looks at the entries of one node in one direction and returns how
// many there are.
func (v *Version) verifyNode(seg *segment, d int, slot Slot, name string, report func(string) bool) (n int64, ok bool) {
	var c cursor
	c.init(v, seg, d, slot&segMask, anyType)
	var last Hop
	for h, more := c.raw(); more; h, more = c.raw() {
		n++
		wrong := ""
		p := v.edges.at(h.Edge >> edgeBits)
		switch {
		case slot >= v.nodeIDs.n || h.Node >= v.nodeIDs.n || h.Edge >= v.edgeIDs.n || p == nil:
			wrong = "points beyond the end"
		case n > 1 && !last.less(&h):
			wrong = "is not in order"
		case !p.isAlive(h.Edge & edgeMask):
			wrong = "is of an edge that is gone"
		default:
			src, dst, t := v.EdgeEndsSlot(h.Edge)
			if d == 1 {
				src, dst = dst, src
			}
			if src != slot || dst != h.Node || t != h.Type {
				wrong = "has other ends or another type than the edge"
			}
		}
		if wrong != "" && !report(fmt.Sprintf("an %s entry of node %d in the topology %s", name, v.nodeAt(slot), wrong)) {
			return n, false
		}
		last = h
	}
	return n, true
}

// nodeAt is NodeID for a slot that may not be there.
func (v *Version) nodeAt(s Slot) value.NodeID {
	if s >= v.nodeIDs.n {
		return 0
	}
	return v.NodeID(s)
}
