package topo

import (
	"errors"
	"fmt"
	"unsafe"

	"engram/graph/value"
)

// Errors of an editor; test with errors.Is.
var (
	ErrOrder   = errors.New("topology: id is not greater than all before it")
	ErrMissing = errors.New("topology: no such element")
	ErrFull    = errors.New("topology: no slot is left")
)

const (
	maxID    = 1 << 40     // external ids hold 40 bits
	maxSlots = 1<<32 - 256 // of nodes, and of edges
)

// Editor changes a private copy of a version. It is for one goroutine. What it
// has not touched it shares with the version it came from; dropping it undoes
// everything.
type Editor struct {
	v     Version
	tok   *token
	spent Cost // by commits before
}

// Edit starts a change. v stays as it is.
func (v *Version) Edit() *Editor { return &Editor{v: *v, tok: &token{}} }

// View reads the state so far. Unlike a version it changes with the editor: it
// must not be read after the next change, nor by other goroutines.
func (e *Editor) View() *Version { return &e.v }

// Cost tells what the editor has copied so far, commits included.
func (e *Editor) Cost() Cost {
	return Cost{e.spent.Pages + e.tok.cost.Pages, e.spent.Bytes + e.tok.cost.Bytes}
}

// Commit returns the state as an immutable version at seq. The editor goes on
// from there, as if got from the version's Edit.
func (e *Editor) Commit(seq uint64) *Version {
	e.v.seq = seq
	v := e.v
	e.spent, e.tok = e.Cost(), &token{}
	return &v
}

// HotValue is one hot property of a node.
type HotValue struct {
	Column Column
	Value  value.Value
}

// AddNode adds a node. Its id must be greater than all node ids before it.
// createdMs counts from 1970.
func (e *Editor) AddNode(id value.NodeID, labels []value.LabelID, hot []HotValue, createdMs int64) error {
	if err := checkNext(&e.v.nodeIDs, uint64(id)); err != nil {
		return fmt.Errorf("add node %d: %w", id, err)
	}
	s := e.v.nodeIDs.add(uint64(id), e.tok)
	p, i := e.v.ownNode(s, e.tok), s&nodeMask
	p.alive |= 1 << i
	p.created[i] = createdMs
	p.labels[i] = e.v.shared.internLabels(labels)
	for _, l := range e.v.labelsOf(s) {
		e.v.ownLabel(uint32(l), e.tok).add(s, e.tok)
	}
	for _, h := range hot {
		e.setHot(p, i, h.Column, h.Value)
	}
	e.v.nodeCount++
	return nil
}

func checkNext(m *idMap, id uint64) error {
	switch {
	case id <= m.last || id == 0:
		return fmt.Errorf("%w: the last was %d", ErrOrder, m.last)
	case id >= maxID || m.n >= maxSlots:
		return ErrFull
	}
	return nil
}

// SetLabels replaces the labels of a node.
func (e *Editor) SetLabels(id value.NodeID, labels []value.LabelID) error {
	s, ok := e.v.NodeSlot(id)
	if !ok {
		return fmt.Errorf("set labels of node %d: %w", id, ErrMissing)
	}
	old, next := e.v.labelsOf(s), e.v.shared.internLabels(labels)
	p := e.v.ownNode(s, e.tok)
	if p.labels[s&nodeMask] == next {
		return nil
	}
	e.relabel(s, next)
	p.labels[s&nodeMask] = next
	// A label in both lists is taken out and put back: short lists, rare calls.
	for _, l := range old {
		e.v.ownLabel(uint32(l), e.tok).remove(s, e.tok)
	}
	for _, l := range e.v.labelsOf(s) {
		e.v.ownLabel(uint32(l), e.tok).add(s, e.tok)
	}
	return nil
}

// SetHot sets a hot property of a node; Null removes it.
func (e *Editor) SetHot(id value.NodeID, col Column, val value.Value) error {
	s, ok := e.v.NodeSlot(id)
	if !ok {
		return fmt.Errorf("set a column of node %d: %w", id, ErrMissing)
	}
	e.setHot(e.v.ownNode(s, e.tok), s&nodeMask, col, val)
	return nil
}

func (e *Editor) setHot(p *nodePage, i uint32, col Column, val value.Value) {
	if col < 0 || int(col) >= len(e.v.shared.columns) {
		return
	}
	k, bits := e.v.shared.encode(val)
	p.setHot(i, col, len(e.v.shared.columns), k, bits, e.tok)
}

// DeleteNode removes a node and reports whether it was there. Its edges are
// gone from every read at once, counters included, while their entries stay
// until DeleteEdge is called for each; see Doomed.
func (e *Editor) DeleteNode(id value.NodeID) bool {
	s, ok := e.v.NodeSlot(id)
	if !ok {
		return false
	}
	visible, stored := e.v.incident(s)
	for _, c := range visible {
		e.v.addTypeCount(c.typ, -c.n, e.tok)
	}
	for _, l := range e.v.labelsOf(s) {
		e.v.ownLabel(uint32(l), e.tok).remove(s, e.tok)
	}
	p, i := e.v.ownNode(s, e.tok), s&nodeMask
	p.alive &^= 1 << i
	e.v.nodeCount--
	if stored > 0 {
		p.doomed |= 1 << i
		e.v.doomedCount++
		e.setLeft(p, i, stored)
	}
	return true
}

// setLeft notes how many edges are still stored at a doomed node.
func (e *Editor) setLeft(p *nodePage, i uint32, n uint32) {
	if p.left == nil {
		p.left = new([nodePer]uint32)
		e.tok.count(unsafe.Sizeof(*p.left))
	}
	p.left[i] = n
}

// EdgeInit is what an edge starts with besides its ends and type. Null is
// absent.
type EdgeInit struct {
	Weight, Layer, Inhibitory value.Value
	CreatedMs                 int64 // since 1970
}

// AddEdge adds an edge between living nodes. Its id must be greater than all
// edge ids before it.
func (e *Editor) AddEdge(id value.EdgeID, src, dst value.NodeID, t value.TypeID, init EdgeInit) error {
	if err := checkNext(&e.v.edgeIDs, uint64(id)); err != nil {
		return fmt.Errorf("add edge %d: %w", id, err)
	}
	a, okA := e.v.NodeSlot(src)
	b, okB := e.v.NodeSlot(dst)
	if !okA || !okB {
		return fmt.Errorf("add edge %d from node %d to node %d: %w", id, src, dst, ErrMissing)
	}
	s := e.storeEdge(id, ends{a, b}, t, init)
	e.link(0, a, uint32(t), b, s)
	e.link(1, b, uint32(t), a, s)
	e.v.addTypeCount(t, 1, e.tok)
	e.v.cells.add(e.v.cellOf(a, b, t), 1, e.tok)
	return nil
}

// storeEdge fills the columns of a new edge.
func (e *Editor) storeEdge(id value.EdgeID, ab ends, t value.TypeID, init EdgeInit) Slot {
	s := e.v.edgeIDs.add(uint64(id), e.tok)
	e.v.ownEdge(s, e.tok).init(s&edgeMask, ab, t, init, e.tok)
	return s
}

func (p *edgePage) init(i uint32, ab ends, t value.TypeID, init EdgeInit, tok *token) {
	p.alive[i>>6] |= 1 << (i & 63)
	p.ends[i] = ab
	p.setType(i, t, tok)
	p.setCreated(i, init.CreatedMs, tok)
	p.set(i, Weight, init.Weight, tok)
	p.set(i, Layer, init.Layer, tok)
	p.set(i, Inhibitory, init.Inhibitory, tok)
}

// ownSegment returns the segment of a node, made writable.
func (e *Editor) ownSegment(s Slot) *segment {
	seg := e.v.segs.at(s >> segBits)
	if seg != nil && seg.owner == e.tok {
		return seg
	}
	next := &segment{}
	if seg != nil {
		*next = *seg
	}
	next.owner = e.tok
	e.v.segs.set(s>>segBits, next, e.tok)
	e.tok.count(unsafe.Sizeof(*next))
	return next
}

func (e *Editor) link(d int, at Slot, t uint32, nbr, edge Slot) {
	seg, local := e.ownSegment(at), at&segMask
	seg.over[d].put(makeEntry(uint16(local), t, nbr, edge), e.tok)
	seg.touched[d][local>>6] |= 1 << (local & 63)
}

// unlink takes an edge out: of the overlay when it is there, else by an entry
// that hides the packed one.
func (e *Editor) unlink(d int, at Slot, t uint32, nbr, edge Slot) {
	seg, local := e.ownSegment(at), at&segMask
	en := makeEntry(uint16(local), t, nbr, edge)
	if _, ok := seg.over[d].get(en); ok {
		seg.over[d].remove(en, e.tok)
		return
	}
	en.hi |= goneBit
	seg.over[d].put(en, e.tok)
	seg.touched[d][local>>6] |= 1 << (local & 63)
}

// DeleteEdge removes an edge and reports whether it was stored; edges at a
// doomed node are stored until removed here.
func (e *Editor) DeleteEdge(id value.EdgeID) bool {
	s, ok := e.v.edgeIDs.slot(uint64(id))
	if !ok || !e.v.edges.at(s>>edgeBits).isAlive(s&edgeMask) {
		return false
	}
	visible := e.v.edgeVisible(s)
	p, i := e.v.ownEdge(s, e.tok), s&edgeMask
	p.alive[i>>6] &^= 1 << (i & 63)
	ab, t := p.ends[i], p.typeOf(i)
	e.unlink(0, ab.src, uint32(t), ab.dst, s)
	e.unlink(1, ab.dst, uint32(t), ab.src, s)
	e.v.cells.add(e.v.cellOf(ab.src, ab.dst, t), -1, e.tok)
	if visible {
		e.v.addTypeCount(t, -1, e.tok)
		return true
	}
	e.sweep(ab.src)
	if ab.dst != ab.src {
		e.sweep(ab.dst)
	}
	return true
}

// sweep notes that one edge less is stored at a node, if it is doomed.
func (e *Editor) sweep(s Slot) {
	if !e.v.doomed(s) {
		return
	}
	p, i := e.v.ownNode(s, e.tok), s&nodeMask
	if p.left[i]--; p.left[i] == 0 {
		p.doomed &^= 1 << i
		e.v.doomedCount--
	}
}

// SetEdgeAttr sets an attribute of an edge; Null removes it.
func (e *Editor) SetEdgeAttr(id value.EdgeID, a EdgeAttr, val value.Value) error {
	s, ok := e.v.EdgeSlot(id)
	if !ok {
		return fmt.Errorf("set an attribute of edge %d: %w", id, ErrMissing)
	}
	e.v.ownEdge(s, e.tok).set(s&edgeMask, a, val, e.tok)
	return nil
}

// SetLearned sets the learned weight of an edge, or, with ok false, forgets it.
func (e *Editor) SetLearned(id value.EdgeID, w float32, ok bool) error {
	s, found := e.v.EdgeSlot(id)
	if !found {
		return fmt.Errorf("set the learned weight of edge %d: %w", id, ErrMissing)
	}
	e.v.ownEdge(s, e.tok).setLearned(s&edgeMask, w, ok, e.tok)
	return nil
}
