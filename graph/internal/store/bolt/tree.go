package bolt

import (
	"bytes"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// tree is one bucket: its first page, or for a small one the page itself.
type tree struct {
	root   uint64
	inline treePage
}

// first is the page at which looking anything up begins.
func (t *tree) first(v view) (treePage, error) {
	if t.root == 0 {
		return t.inline, nil
	}
	return v.root(t.root)
}

// get returns the value of a key, not copied, or nil.
func (t *tree) get(v view, key []byte) ([]byte, error) {
	p, err := t.first(v)
	// What branches tell of a page: the key with which it begins and one behind it.
	var first, behind []byte
	for depth := 0; err == nil; depth++ {
		i, exact := p.searchKnown(key, first, behind)
		if p.leaf {
			if !exact {
				return nil, nil
			}
			return p.value(i), t.plain(v, p, i)
		}
		if depth > maxDepth {
			return nil, v.damage(t.root, "the tree is more than %d levels deep", maxDepth)
		}
		if !exact && i > 0 {
			i--
		}
		first = p.key(i)
		if i+1 < p.count {
			behind = p.key(i + 1)
		}
		p, err = v.below(p, i)
	}
	return nil, err
}

// plain refuses an element that is marked, as only buckets are.
func (t *tree) plain(v view, p treePage, i int) error {
	if p.flags(i) != 0 {
		return v.damage(t.root, "the key %x below it has the marks %#x", p.key(i), p.flags(i))
	}
	return nil
}

// cursor walks a tree. It is on an element, or behind the last one.
type cursor struct {
	v     view
	t     *tree
	stack []place // from the root to a leaf
	room  [5]place
}

// place is an element of a page; its index is that of the way down in a branch.
type place struct {
	page  treePage
	index int
}

func newCursor(v view, t *tree) *cursor {
	c := &cursor{v: v, t: t}
	c.stack = c.room[:0]
	return c
}

// seek goes to the first key that is not below key, nil for the first of all. One
// that is not in the leaf where it belongs is looked for in the next leaf.
func (c *cursor) seek(key []byte) error {
	p, err := c.t.first(c.v)
	if err != nil {
		return err
	}
	c.stack = c.stack[:0]
	if err := c.descend(p, func(p treePage) int { return p.toward(key) }); err != nil {
		return err
	}
	leaf := c.leaf()
	if leaf.index, _ = leaf.page.search(key); leaf.index < leaf.page.count {
		return nil
	}
	leaf.index--
	if err := c.next(); err != nil {
		return err
	}
	if k, _ := c.element(); k != nil && bytes.Compare(k, key) < 0 {
		return c.v.damage(c.t.root, "the key %x below it is out of order", k)
	}
	return nil
}

// descend goes down from p to a leaf, by choice.
func (c *cursor) descend(p treePage, choose func(treePage) int) (err error) {
	for !p.leaf {
		i := choose(p)
		c.stack = append(c.stack, place{p, i})
		if len(c.stack) > maxDepth {
			return c.v.damage(c.t.root, "the tree is more than %d levels deep", maxDepth)
		}
		if p, err = c.v.below(p, i); err != nil {
			return err
		}
	}
	c.stack = append(c.stack, place{p, 0})
	return nil
}

func (c *cursor) leaf() *place { return &c.stack[len(c.stack)-1] }

// element returns key and value where the cursor is, nil behind the last.
func (c *cursor) element() (key, value []byte) {
	at := c.leaf()
	if at.index >= at.page.count {
		return nil, nil
	}
	return at.page.key(at.index), at.page.value(at.index)
}

// next goes to the next element.
func (c *cursor) next() error {
	at := c.leaf()
	if at.index++; at.index < at.page.count {
		return nil
	}
	depth := len(c.stack) - 2
	for depth >= 0 && c.stack[depth].index+1 >= c.stack[depth].page.count {
		depth--
	}
	if depth < 0 {
		return nil // behind the last
	}
	return c.turn(depth, 1, func(treePage) int { return 0 })
}

// turn goes on below the neighbour of the way down at depth.
func (c *cursor) turn(depth, step int, choose func(treePage) int) error {
	branch := &c.stack[depth]
	branch.index += step
	p, err := c.v.below(branch.page, branch.index)
	if err != nil {
		return err
	}
	c.stack = c.stack[:depth+1]
	return c.descend(p, choose)
}

// previous goes to the element before; ok is false at the first one.
func (c *cursor) previous() (ok bool, err error) {
	at := c.leaf()
	if at.index > 0 {
		at.index--
		return true, nil
	}
	depth := len(c.stack) - 2
	for depth >= 0 && c.stack[depth].index == 0 {
		depth--
	}
	if depth < 0 {
		return false, nil
	}
	if err := c.turn(depth, -1, func(p treePage) int { return p.count - 1 }); err != nil {
		return false, err
	}
	at = c.leaf()
	at.index = at.page.count - 1
	return at.index >= 0, nil
}

// buckets reads the tree of buckets: the header's own and that of each space.
func (v view) buckets(tx *bbolt.Tx) (header tree, spaces [store.SpaceCount]tree, err error) {
	buckets := &tree{root: uint64(tx.Cursor().Bucket().Root())}
	find := func(name []byte) (t tree, err error) {
		p, err := buckets.first(v)
		for err == nil && !p.leaf {
			p, err = v.below(p, p.toward(name))
		}
		if err != nil {
			return t, err
		}
		i, exact := p.search(name)
		if !exact || p.flags(i) != bucketFlag || len(p.value(i)) < bucketHeader {
			return t, v.damage(buckets.root, "the bucket %s is not in it", name)
		}
		value := p.value(i)
		if t.root = binary.NativeEndian.Uint64(value); t.root == 0 {
			if len(value) < bucketHeader+pageHeaderSize {
				return t, v.damage(buckets.root, "the bucket %s has no page", name)
			}
			t.inline = parseTree(value[bucketHeader:])
		}
		return t, nil
	}
	if header, err = find(headerBucket); err != nil {
		return header, spaces, err
	}
	for i, name := range bucketNames {
		if spaces[i], err = find([]byte(name)); err != nil {
			return header, spaces, err
		}
	}
	return header, spaces, nil
}
