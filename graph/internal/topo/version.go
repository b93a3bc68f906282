package topo

import (
	"engram/graph/value"
)

// Slot is the dense number of a node or an edge inside one topology. Slots
// follow the order of ids. They mean nothing outside the process.
type Slot = uint32

// Config is fixed for the life of a topology.
type Config struct {
	// Columns names the hot node properties, such as importance or tier.
	Columns []string
}

// Version is the topology as of one transaction. It never changes, so any
// number of goroutines may read it, for as long as they hold it.
type Version struct {
	seq    uint64
	shared *shared

	nodeIDs idMap
	edgeIDs idMap
	nodes   vec[nodePage]
	edges   vec[edgePage]
	segs    vec[segment]
	labels  vec[labelSet]

	typeCounts  vec[typeCount]
	cells       cellMap  // edges by type and labels of both ends
	hubSets     []hubSet // by slot; never changed in place
	nodeCount   int64
	edgeCount   int64
	doomedCount int // dead nodes with edges still there
}

// New returns the empty topology at seq 0.
func New(c Config) *Version {
	s := &shared{columns: append([]string(nil), c.Columns...)}
	s.internLabels(nil)
	return &Version{shared: s}
}

// Seq returns the transaction the version stands at.
func (v *Version) Seq() uint64 { return v.seq }

// LastIDs returns the greatest ids that a node and an edge ever had, 0 without
// any. Those of elements that were gone before it was built are not known.
func (v *Version) LastIDs() (node, edge uint64) { return v.nodeIDs.last, v.edgeIDs.last }

// Doomed appends, in ascending order, up to limit nodes that are deleted while
// edges at them are still stored: the sweeper's work.
func (v *Version) Doomed(limit int, buf []value.NodeID) []value.NodeID {
	if v.doomedCount == 0 {
		return buf
	}
	found := 0
	for i, p := v.nodes.next(0); p != nil && found < limit; i, p = v.nodes.next(i + 1) {
		for k := uint32(0); k < nodePer && found < limit; k++ {
			if p.doomed>>k&1 != 0 {
				buf = append(buf, v.NodeID(i<<nodeBits|k))
				found++
			}
		}
	}
	return buf
}

// DoomedEdges appends up to limit edges still stored at a doomed node. The
// sweeper removes their records and gives them to Editor.DeleteEdge.
func (v *Version) DoomedEdges(id value.NodeID, limit int, buf []value.EdgeID) []value.EdgeID {
	slot, ok := v.nodeIDs.slot(uint64(id))
	if !ok || !v.doomed(slot) {
		return buf
	}
	seg := v.segs.at(slot >> segBits)
	if seg == nil {
		return buf
	}
	found := 0
	for d := range 2 {
		var c cursor
		c.init(v, seg, d, slot&segMask, anyType)
		for h, ok := c.raw(); ok && found < limit; h, ok = c.raw() {
			if d == 1 && h.Node == slot {
				continue // a self loop, seen as outgoing
			}
			buf = append(buf, v.EdgeID(h.Edge))
			found++
		}
	}
	return buf
}
