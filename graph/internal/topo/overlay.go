package topo

import (
	"sort"
	"unsafe"
)

// entry is one edge seen from one of its ends, or, with gone set, the news that
// the segment's packed part holds that edge no longer. Entries sort by node,
// type, neighbour and edge.
type entry struct {
	hi uint64 // local node 16 bits, type 32 bits, then gone in the lowest bit
	lo uint64 // neighbour slot, edge slot
}

const goneBit = 1

func makeEntry(local uint16, typ uint32, nbr, edge uint32) entry {
	return entry{uint64(local)<<48 | uint64(typ)<<16, uint64(nbr)<<32 | uint64(edge)}
}

func (e entry) key() uint64   { return e.hi &^ goneBit }
func (e entry) gone() bool    { return e.hi&goneBit != 0 }
func (e entry) local() uint16 { return uint16(e.hi >> 48) }
func (e entry) typ() uint32   { return uint32(e.hi >> 16) }
func (e entry) nbr() uint32   { return uint32(e.lo >> 32) }
func (e entry) edge() uint32  { return uint32(e.lo) }

func (e entry) less(o entry) bool {
	if a, b := e.key(), o.key(); a != b {
		return a < b
	}
	return e.lo < o.lo
}

func (e entry) same(o entry) bool { return e.key() == o.key() && e.lo == o.lo }

// tree is a persistent ordered set of entries: a B+ tree whose nodes are copied
// on the way down by an editor that does not own them. Nodes that run empty are
// dropped, half-empty ones are kept: merging a segment rebuilds it anyway.
type tree struct {
	root *treeNode
	n    int
}

const treeFan = 48

// treeNode is a leaf (items) or an inner node (kids, with items[i] no greater
// than anything in kids[i], and greater than everything in kids[i-1]).
type treeNode struct {
	owner *token
	items []entry
	kids  []*treeNode
}

func (n *treeNode) own(tok *token) *treeNode {
	if n.owner == tok {
		return n
	}
	c := &treeNode{owner: tok}
	c.items = append(make([]entry, 0, min(len(n.items)*5/4+4, treeFan+1)), n.items...)
	if n.kids != nil {
		c.kids = append(make([]*treeNode, 0, cap(c.items)), n.kids...)
	}
	tok.count(unsafe.Sizeof(*c) + uintptr(cap(c.items))*16 + uintptr(cap(c.kids))*8)
	return c
}

// find returns the first position whose item is not less than e.
func (n *treeNode) find(e entry) int {
	return sort.Search(len(n.items), func(i int) bool { return !n.items[i].less(e) })
}

// child returns the position of the kid that e belongs to.
func (n *treeNode) child(e entry) int {
	i := sort.Search(len(n.items), func(i int) bool { return e.less(n.items[i]) })
	return max(i-1, 0)
}

// put inserts e, replacing an entry of the same key.
func (t *tree) put(e entry, tok *token) {
	if t.root == nil {
		t.root = &treeNode{owner: tok, items: make([]entry, 0, 4)}
		tok.count(unsafe.Sizeof(*t.root) + 64)
	}
	root, right, added := t.root.put(e, tok)
	if right != nil {
		root = &treeNode{owner: tok, items: []entry{root.items[0], right.items[0]}, kids: []*treeNode{root, right}}
		tok.count(unsafe.Sizeof(*root) + 48)
	}
	t.root = root
	if added {
		t.n++
	}
}

func (n *treeNode) put(e entry, tok *token) (self, right *treeNode, added bool) {
	n = n.own(tok)
	if n.kids == nil {
		i := n.find(e)
		if i < len(n.items) && n.items[i].same(e) {
			n.items[i] = e
			return n, nil, false
		}
		n.items = append(n.items, entry{})
		copy(n.items[i+1:], n.items[i:])
		n.items[i] = e
		return n, n.split(tok), true
	}
	i := n.child(e)
	kid, r, added := n.kids[i].put(e, tok)
	n.kids[i], n.items[i] = kid, kid.items[0]
	if r != nil {
		n.items = append(n.items, entry{})
		copy(n.items[i+2:], n.items[i+1:])
		n.items[i+1] = r.items[0]
		n.kids = append(n.kids, nil)
		copy(n.kids[i+2:], n.kids[i+1:])
		n.kids[i+1] = r
	}
	return n, n.split(tok), added
}

// split halves an overfull node and returns the right half. Appending at the
// end, the usual case, leaves the left half nearly full.
func (n *treeNode) split(tok *token) *treeNode {
	if len(n.items) <= treeFan {
		return nil
	}
	at := len(n.items) / 2
	r := &treeNode{owner: tok, items: append(make([]entry, 0, treeFan+1), n.items[at:]...)}
	if n.kids != nil {
		r.kids = append(make([]*treeNode, 0, treeFan+1), n.kids[at:]...)
		clear(n.kids[at:])
		n.kids = n.kids[:at]
	}
	n.items = n.items[:at]
	tok.count(unsafe.Sizeof(*r) + treeFan*16)
	return r
}

// remove takes out the entry of e's key, if it is there.
func (t *tree) remove(e entry, tok *token) {
	if t.root == nil {
		return
	}
	root, removed := t.root.remove(e, tok)
	for root != nil && len(root.kids) == 1 {
		root = root.kids[0]
	}
	t.root = root
	if removed {
		t.n--
	}
}

func (n *treeNode) remove(e entry, tok *token) (self *treeNode, removed bool) {
	if n.kids == nil {
		i := n.find(e)
		if i == len(n.items) || !n.items[i].same(e) {
			return n, false
		}
		if len(n.items) == 1 {
			return nil, true
		}
		n = n.own(tok)
		n.items = append(n.items[:i], n.items[i+1:]...)
		return n, true
	}
	i := n.child(e)
	kid, removed := n.kids[i].remove(e, tok)
	if !removed {
		return n, false
	}
	if kid == nil && len(n.kids) == 1 {
		return nil, true
	}
	n = n.own(tok)
	if kid == nil {
		n.items = append(n.items[:i], n.items[i+1:]...)
		n.kids = append(n.kids[:i], n.kids[i+1:]...)
		return n, true
	}
	n.kids[i], n.items[i] = kid, kid.items[0]
	return n, true
}

// get returns the entry of e's key.
func (t *tree) get(e entry) (entry, bool) {
	for n := t.root; n != nil; {
		if n.kids == nil {
			i := n.find(e)
			if i < len(n.items) && n.items[i].same(e) {
				return n.items[i], true
			}
			return entry{}, false
		}
		n = n.kids[n.child(e)]
	}
	return entry{}, false
}

// treeIter walks entries in ascending order without allocating.
type treeIter struct {
	nodes [8]*treeNode
	pos   [8]int
	depth int
}

// seek places the iterator before the first entry not less than e.
func (it *treeIter) seek(t *tree, e entry) {
	it.depth = -1
	for n := t.root; n != nil; {
		it.depth++
		it.nodes[it.depth] = n
		if n.kids == nil {
			it.pos[it.depth] = n.find(e)
			return
		}
		i := n.child(e)
		it.pos[it.depth] = i
		n = n.kids[i]
	}
}

// settle moves to a leaf with an entry left, and returns it; nil at the end.
func (it *treeIter) settle() *treeNode {
	for it.depth >= 0 {
		n := it.nodes[it.depth]
		if i := it.pos[it.depth]; i < len(n.items) {
			if n.kids == nil {
				return n
			}
			it.descend(n.kids[i])
			continue
		}
		it.depth--
		if it.depth >= 0 {
			it.pos[it.depth]++
		}
	}
	return nil
}

// next returns the next entry.
func (it *treeIter) next() (entry, bool) {
	n := it.settle()
	if n == nil {
		return entry{}, false
	}
	it.pos[it.depth]++
	return n.items[it.pos[it.depth]-1], true
}

func (it *treeIter) descend(n *treeNode) {
	it.depth++
	it.nodes[it.depth], it.pos[it.depth] = n, 0
}

// since calls fn, in order, for what makes old into t: entries added since, and
// entries removed since with gone set. Leaves that both share are passed over
// unread.
func (t *tree) since(old *tree, fn func(entry)) {
	var a, b treeIter
	a.seek(t, entry{})
	b.seek(old, entry{})
	for {
		x, y := a.settle(), b.settle()
		if x == nil && y == nil {
			return
		}
		if x == y && a.pos[a.depth] == 0 && b.pos[b.depth] == 0 {
			a.pos[a.depth], b.pos[b.depth] = len(x.items), len(y.items)
			continue
		}
		switch {
		case y == nil || x != nil && x.items[a.pos[a.depth]].less(y.items[b.pos[b.depth]]):
			e, _ := a.next()
			fn(e)
		case x == nil || y.items[b.pos[b.depth]].less(x.items[a.pos[a.depth]]):
			e, _ := b.next()
			e.hi |= goneBit
			fn(e)
		default:
			a.next()
			b.next()
		}
	}
}
