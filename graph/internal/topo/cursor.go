package topo

import (
	"slices"

	"engram/graph/value"
)

// Hop is one edge seen from a node, by slots.
type Hop struct {
	Node Slot // the other end
	Edge Slot
	Type value.TypeID
	Out  bool
}

func (h *Hop) less(o *Hop) bool {
	if h.Type != o.Type {
		return h.Type < o.Type
	}
	if h.Node != o.Node {
		return h.Node < o.Node
	}
	return h.Edge < o.Edge
}

// anyType asks for every type; interned types start at 1.
const anyType = 0

// cursor walks the edges of one node in one direction, packed part and overlay
// together, in order of type, neighbour and edge.
type cursor struct {
	v      *Version
	base   *csr
	k, end uint32
	out    bool
	local  uint16
	typ    uint32
	skip   Slot // neighbour to leave out
	noSkip bool
	over   bool // look at it
	cur    entry
	it     treeIter
}

func (c *cursor) init(v *Version, seg *segment, d int, local uint32, typ uint32) {
	c.v, c.base, c.out, c.noSkip = v, seg.base[d], d == 0, true
	c.local, c.typ = uint16(local), typ
	c.k, c.end = seg.base[d].run(local)
	if typ != anyType {
		c.k, c.end = seg.base[d].ofType(c.k, c.end, typ)
	}
	c.over = seg.isTouched(d, local)
	if c.over {
		c.it.seek(&seg.over[d], makeEntry(uint16(local), typ, 0, 0))
		c.pull()
	}
}

// pull reads the next overlay entry that belongs to the walk into cur.
func (c *cursor) pull() {
	e, ok := c.it.next()
	c.cur = e
	c.over = ok && e.local() == c.local && (c.typ == anyType || e.typ() == c.typ)
}

// next returns the next visible edge.
func (c *cursor) next() (Hop, bool) {
	for {
		h, ok := c.raw()
		if !ok {
			return h, false
		}
		if !c.noSkip && h.Node == c.skip {
			continue
		}
		if c.v.doomedCount != 0 && c.v.doomed(h.Node) {
			continue
		}
		return h, true
	}
}

// raw returns the next edge, edges to doomed nodes included.
func (c *cursor) raw() (Hop, bool) {
	for {
		if c.k == c.end {
			if !c.over {
				return Hop{}, false
			}
			return c.takeOver(), true
		}
		b := makeEntry(c.local, c.base.typeAt(c.k), c.base.nbr[c.k], c.base.edge[c.k])
		if c.over {
			if c.cur.less(b) {
				return c.takeOver(), true
			}
			if c.cur.same(b) { // gone
				c.pull()
				c.k++
				continue
			}
		}
		c.k++
		return Hop{b.nbr(), b.edge(), value.TypeID(b.typ()), c.out}, true
	}
}

func (c *cursor) takeOver() Hop {
	e := c.cur
	c.pull()
	return Hop{e.nbr(), e.edge(), value.TypeID(e.typ()), c.out}
}

// walk is a cursor in one direction or a merge of both.
type walk struct {
	a, b   cursor
	ha, hb Hop
	oka    bool
	okb    bool
	both   bool
	pair   runPair
	packed bool // pair does it alone
}

// runPair merges a node's two packed runs of all or one type: walking both ways
// where neither an overlay nor a doomed node can interfere.
type runPair struct {
	out, in *csr
	i, iEnd uint32
	k, kEnd uint32
	self    Slot
}

func (p *runPair) next() (Hop, bool) {
	for p.k < p.kEnd && p.in.nbr[p.k] == p.self { // seen as outgoing
		p.k++
	}
	if p.i < p.iEnd && (p.k >= p.kEnd || p.outFirst()) {
		h := Hop{p.out.nbr[p.i], p.out.edge[p.i], value.TypeID(p.out.typeAt(p.i)), true}
		p.i++
		return h, true
	}
	if p.k >= p.kEnd {
		return Hop{}, false
	}
	h := Hop{p.in.nbr[p.k], p.in.edge[p.k], value.TypeID(p.in.typeAt(p.k)), false}
	p.k++
	return h, true
}

func (p *runPair) outFirst() bool {
	if a, b := p.out.typeAt(p.i), p.in.typeAt(p.k); a != b {
		return a < b
	}
	if a, b := p.out.nbr[p.i], p.in.nbr[p.k]; a != b {
		return a < b
	}
	return p.out.edge[p.i] < p.in.edge[p.k]
}

func (w *walk) init(v *Version, seg *segment, dir value.Direction, slot Slot, typ uint32) {
	local := slot & segMask
	if dir != value.Both {
		w.both = false
		w.a.init(v, seg, int(dir), local, typ)
		return
	}
	w.both = true
	if v.doomedCount == 0 && !seg.isTouched(0, local) && !seg.isTouched(1, local) {
		w.packed = true
		w.pair.out, w.pair.i, w.pair.iEnd = seg.packed(value.Out, slot, typ)
		w.pair.in, w.pair.k, w.pair.kEnd = seg.packed(value.In, slot, typ)
		w.pair.self = slot
		return
	}
	w.packed = false
	w.a.init(v, seg, 0, local, typ)
	w.b.init(v, seg, 1, local, typ)
	w.b.skip, w.b.noSkip = slot, false // a self loop is seen once, as outgoing
	w.ha, w.oka = w.a.next()
	w.hb, w.okb = w.b.next()
}

func (w *walk) next() (Hop, bool) {
	if !w.both {
		return w.a.next()
	}
	if w.packed {
		return w.pair.next()
	}
	if w.oka && (!w.okb || w.ha.less(&w.hb)) {
		h := w.ha
		w.ha, w.oka = w.a.next()
		return h, true
	}
	h, ok := w.hb, w.okb
	if ok {
		w.hb, w.okb = w.b.next()
	}
	return h, ok
}

// fewTypes is room for the types of most calls.
type fewTypes [8]uint32

var anyTypes = []uint32{anyType}

// typeList returns types in ascending order, each once, in buf where it fits.
func typeList(types []value.TypeID, buf []uint32) []uint32 {
	if len(types) == 0 {
		return anyTypes
	}
	for _, x := range types {
		if x != anyType {
			buf = append(buf, uint32(x))
		}
	}
	if len(buf) > 1 {
		slices.Sort(buf)
		buf = slices.Compact(buf)
	}
	return buf
}
