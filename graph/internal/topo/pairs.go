package topo

import (
	"slices"

	"engram/graph/value"
)

// hubEdges is how many edges a node may have for a change of its labels to count
// them anew. A node with more goes on being counted by the labels that it had, until
// the topology is next built from its records: a commit costs what it touches.
const hubEdges = 4096

// maxPairs is how many cells EdgesBetween looks at: planning must stay quick.
const maxPairs = 4096

// hubSet is a hub that is counted by labels which it does not have any more.
type hubSet struct {
	slot Slot
	set  uint32
}

// EdgesBetween returns how many edges of type t begin at a node with label src and
// end at one with label dst; 0 stands for any. Edges of deleted hubs count until
// they are swept, and those of a hub that got other labels count by the old ones for
// a while. ok is false when there are too many combinations of labels to tell.
func (v *Version) EdgesBetween(src value.LabelID, t value.TypeID, dst value.LabelID) (n int64, ok bool) {
	left := maxPairs
	from, begins := uint32(otherSet), false
	v.cells.each(uint32(t), func(c cell) bool {
		left--
		if c.src != from {
			from, begins = c.src, v.inSet(c.src, src)
		}
		if begins && v.inSet(c.dst, dst) {
			n += c.n
		}
		return left > 0
	})
	return n, left > 0 && !v.cells.full
}

// inSet reports whether a set of labels has l, or l is any.
func (v *Version) inSet(set uint32, l value.LabelID) bool {
	return l == 0 || set != otherSet && slices.Contains(v.shared.sets.at(set), l)
}

// countedSet is the set of labels by which a node's edges are counted.
func (v *Version) countedSet(s Slot) uint32 {
	if len(v.hubSets) > 0 {
		if i, found := v.findHub(s); found {
			return v.hubSets[i].set
		}
	}
	return v.nodes.at(s >> nodeBits).labels[s&nodeMask]
}

func (v *Version) findHub(s Slot) (int, bool) {
	return slices.BinarySearchFunc(v.hubSets, s, func(h hubSet, s Slot) int { return int(h.slot) - int(s) })
}

func (v *Version) cellOf(src, dst Slot, t value.TypeID) cellKey {
	return cellKey{uint32(t), v.countedSet(src), v.countedSet(dst)}
}

// relabel counts the stored edges at a node by another set of labels; it is called
// while the node still has the old one.
func (e *Editor) relabel(s Slot, next uint32) {
	v := &e.v
	seg := v.segs.at(s >> segBits)
	old := v.countedSet(s)
	if _, hub := v.findHub(s); hub || seg == nil || old == next {
		return
	}
	if seg.count(0, s, anyType, false)+seg.count(1, s, anyType, true) > hubEdges {
		i, _ := v.findHub(s)
		v.hubSets = slices.Insert(slices.Clone(v.hubSets), i, hubSet{s, old})
		return
	}
	sum := cellSum{to: &v.cells, tok: e.tok}
	for d := range 2 {
		var c cursor
		c.init(v, seg, d, s&segMask, anyType)
		for h, ok := c.raw(); ok; h, ok = c.raw() {
			before, after := cellKey{uint32(h.Type), old, v.countedSet(h.Node)}, cellKey{uint32(h.Type), next, v.countedSet(h.Node)}
			switch {
			case h.Node == s && d == 1: // a self loop, seen as outgoing
				continue
			case h.Node == s:
				after.dst = next
			case d == 1:
				before.src, before.dst = before.dst, before.src
				after.src, after.dst = after.dst, after.src
			}
			sum.add(before, -1)
			sum.add(after, 1)
		}
	}
	sum.flushAll()
}

// recount counts all stored edges anew.
func (v *Version) recount(tok *token) {
	v.cells, v.hubSets = cellMap{}, nil
	sum := cellSum{to: &v.cells, tok: tok}
	v.eachStored(func(s Slot) {
		src, dst, t := v.EdgeEndsSlot(s)
		sum.add(v.cellOf(src, dst, t), 1)
	})
	sum.flushAll()
}

func (v *Version) eachStored(fn func(Slot)) {
	for pn, p := v.edges.next(0); p != nil; pn, p = v.edges.next(pn + 1) {
		for i := range uint32(edgePer) {
			if p.isAlive(i) {
				fn(pn<<edgeBits | i)
			}
		}
	}
}

// verifyCells compares the cells with the edges, and reports whether they agree.
// When they ran out, only those that are there can be compared, and the sum.
func (v *Version) verifyCells() bool {
	want := map[cellKey]int64{}
	total := int64(0)
	v.eachStored(func(s Slot) {
		src, dst, t := v.EdgeEndsSlot(s)
		want[v.cellOf(src, dst, t)]++
		total++
	})
	same := v.cells.full || v.cells.n == len(want)
	v.cells.each(anyType, func(c cell) bool {
		total -= c.n
		if !v.cells.full {
			same = same && want[c.cellKey] == c.n
		}
		return true
	})
	return same && total == 0
}
