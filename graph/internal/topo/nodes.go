package topo

import (
	"math"
	"unsafe"

	"engram/graph/value"
)

const (
	nodeBits = 6
	nodePer  = 1 << nodeBits
	nodeMask = nodePer - 1
)

// nodePage holds the columns of 64 nodes.
type nodePage struct {
	owner   *token
	alive   uint64 // bit per node
	doomed  uint64 // dead, but edges at it are not removed yet
	labels  [nodePer]uint32
	created [nodePer]int64 // ms since 1970
	left    *[nodePer]uint32
	cols    []*hotPage // by Column; nil: absent everywhere
}

// hotPage holds one hot column of 64 nodes.
type hotPage struct {
	owner *token
	kind  [nodePer]cellKind
	bits  [nodePer]uint64
}

func floatBits(f float64) uint64 { return math.Float64bits(f) }
func floatOf(b uint64) float64   { return math.Float64frombits(b) }

// ownNode returns the page of a slot, made writable for tok.
func (v *Version) ownNode(slot uint32, tok *token) *nodePage {
	p := v.nodes.at(slot >> nodeBits)
	if p != nil && p.owner == tok {
		return p
	}
	next := &nodePage{}
	if p != nil {
		*next = *p
		next.cols = append([]*hotPage(nil), p.cols...)
		if p.left != nil {
			left := *p.left
			next.left = &left
		}
	}
	next.owner = tok
	v.nodes.set(slot>>nodeBits, next, tok)
	tok.count(unsafe.Sizeof(*next) + uintptr(len(next.cols))*8)
	return next
}

func (p *nodePage) setHot(i uint32, col Column, columns int, k cellKind, bits uint64, tok *token) {
	if p.cols == nil {
		if k == cellAbsent {
			return
		}
		p.cols = make([]*hotPage, columns)
	}
	h := p.cols[col]
	if h == nil && k == cellAbsent {
		return
	}
	if h == nil || h.owner != tok {
		next := &hotPage{}
		if h != nil {
			*next = *h
		}
		next.owner = tok
		p.cols[col], h = next, next
		tok.count(unsafe.Sizeof(*next))
	}
	h.kind[i], h.bits[i] = k, bits
}

// NodeSlot returns the dense slot of a living node.
func (v *Version) NodeSlot(id value.NodeID) (Slot, bool) {
	s, ok := v.nodeIDs.slot(uint64(id))
	if !ok || !v.alive(s) {
		return 0, false
	}
	return s, true
}

// NodeID returns the id of a node's slot, which must be below Slots.
func (v *Version) NodeID(s Slot) value.NodeID { return value.NodeID(v.nodeIDs.id(s)) }

// Slots returns a bound for node slots, living and dead: sizes visited sets.
func (v *Version) Slots() uint32 { return v.nodeIDs.n }

func (v *Version) alive(s Slot) bool {
	p := v.nodes.at(s >> nodeBits)
	return p != nil && p.alive>>(s&nodeMask)&1 != 0
}

func (v *Version) doomed(s Slot) bool {
	return v.nodes.at(s>>nodeBits).doomed>>(s&nodeMask)&1 != 0
}

// NodeExists reports whether the node is there.
func (v *Version) NodeExists(id value.NodeID) bool {
	_, ok := v.NodeSlot(id)
	return ok
}

// HasLabel reports whether the node is there and carries the label.
func (v *Version) HasLabel(id value.NodeID, l value.LabelID) bool {
	s, ok := v.NodeSlot(id)
	return ok && v.HasLabelSlot(s, l)
}

// HasLabelSlot is HasLabel for the slot of a living node.
func (v *Version) HasLabelSlot(s Slot, l value.LabelID) bool {
	for _, have := range v.labelsOf(s) {
		if have == l {
			return true
		}
	}
	return false
}

// Labels appends the node's labels in ascending order of id.
func (v *Version) Labels(id value.NodeID, buf []value.LabelID) []value.LabelID {
	s, ok := v.NodeSlot(id)
	if !ok {
		return buf
	}
	return append(buf, v.labelsOf(s)...)
}

func (v *Version) labelsOf(s Slot) []value.LabelID {
	return v.shared.sets.at(v.nodes.at(s >> nodeBits).labels[s&nodeMask])
}

// NodeCreated returns when the node was created, in ms since 1970.
func (v *Version) NodeCreated(id value.NodeID) (ms int64, ok bool) {
	s, ok := v.NodeSlot(id)
	if !ok {
		return 0, false
	}
	return v.nodes.at(s >> nodeBits).created[s&nodeMask], true
}

// Hot returns a hot property of a node.
func (v *Version) Hot(id value.NodeID, col Column) (value.Value, State) {
	s, ok := v.NodeSlot(id)
	if !ok {
		return value.Null, Absent
	}
	return v.HotSlot(s, col)
}

// HotSlot is Hot for the slot of a living node.
func (v *Version) HotSlot(s Slot, col Column) (value.Value, State) {
	p := v.nodes.at(s >> nodeBits)
	if p == nil || int(col) >= len(p.cols) || col < 0 || p.cols[col] == nil {
		return value.Null, Absent
	}
	h, i := p.cols[col], s&nodeMask
	return v.shared.decode(h.kind[i], h.bits[i])
}

// HotColumn returns the column of a name; the caller keeps it, since it never
// changes.
func (v *Version) HotColumn(name string) (Column, bool) {
	for i, c := range v.shared.columns {
		if c == name {
			return Column(i), true
		}
	}
	return 0, false
}

// ScanNodes fills buf with ids greater than after, in ascending order, of nodes
// that carry label (0: any). A short fill means the end.
func (v *Version) ScanNodes(label value.LabelID, after value.NodeID, buf []value.NodeID) []value.NodeID {
	from, n := v.nodeIDs.after(uint64(after)), 0
	if label != 0 {
		if set := v.labels.at(uint32(label)); set != nil {
			set.scan(from, func(s Slot) bool {
				if n == len(buf) {
					return false
				}
				buf[n] = v.NodeID(s)
				n++
				return true
			})
		}
		return buf[:n]
	}
	for s := from; s < v.nodeIDs.n && n < len(buf); {
		p := v.nodes.at(s >> nodeBits)
		end := min(s|nodeMask, v.nodeIDs.n-1)
		if p == nil {
			s = end + 1
			continue
		}
		for ; s <= end && n < len(buf); s++ {
			if p.alive>>(s&nodeMask)&1 != 0 {
				buf[n] = v.NodeID(s)
				n++
			}
		}
	}
	return buf[:n]
}

// NodeCount returns how many nodes carry label; label 0 counts all.
func (v *Version) NodeCount(label value.LabelID) int64 {
	if label == 0 {
		return v.nodeCount
	}
	if set := v.labels.at(uint32(label)); set != nil {
		return set.n
	}
	return 0
}

// Living reports whether a slot below Slots is that of a living node.
func (v *Version) Living(s Slot) bool { return v.alive(s) }
