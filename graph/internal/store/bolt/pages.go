package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"go.etcd.io/bbolt"
)

// pages remembers which pages of a file have been verified since it was opened.
// bbolt's pages have no checksum, but nearly every number in them is redundant (see
// treePage.fault), and what is not, the pages that branches lead to, is held against
// the keys found there and the file's list of free pages: an old version of a page,
// which looks like the page itself, is free.
type pages struct {
	path string
	size int
	// from tells of each page that there was at opening which page led to it when it
	// was looked at, 0 for one that was not. What leads to it anew is compared anew,
	// with the page's first key only.
	from []atomic.Uint32
	// free tells, by a bit each, the pages that were free at opening; nil as soon as
	// any may have been used again. By then all branches have been verified.
	free atomic.Pointer[[]uint64]
}

// top stands for the page that leads to the root of a tree.
const top = 1

func newPages(path string, m meta, free []uint64) *pages {
	p := &pages{path: path, size: int(m.pageSize), from: make([]atomic.Uint32, m.pages)}
	bits := make([]uint64, m.pages/64+1)
	for _, id := range free {
		bits[id/64] |= 1 << (id % 64)
	}
	p.free.Store(&bits)
	return p
}

// linked tells which page was found to lead to one. Pages beyond those that there
// were at opening were written since and need no look.
func (p *pages) linked(id, from uint64) (link uint32, same bool) {
	if id >= uint64(len(p.from)) {
		return 0, true
	}
	link = p.from[id].Load()
	return link, link == uint32(from)
}

func (p *pages) link(id, from uint64) { p.from[id].Store(uint32(from)) }

func (p *pages) wasFree(id uint64) bool {
	free := p.free.Load()
	return free != nil && id/64 < uint64(len(*free)) && (*free)[id/64]&(1<<(id%64)) != 0
}

// view is the pages as one transaction sees them. It reads what bbolt mapped, so
// that its methods may panic or fault; callers recover.
type view struct {
	*pages
	mem []byte // the mapped file, up to the transaction's last page
}

func newView(p *pages, tx *bbolt.Tx) view {
	data := tx.DB().Info().Data
	// The mapping is not Go's: nothing moves or frees it while tx is open.
	start := *(*unsafe.Pointer)(unsafe.Pointer(&data))
	return view{p, unsafe.Slice((*byte)(start), tx.Size())}
}

func (v view) damage(id uint64, format string, args ...any) error {
	return damage(v.path, fmt.Sprintf("page %d: ", id)+fmt.Sprintf(format, args...))
}

// raw is a tree page, of which only the header has been looked at.
func (v view) raw(id uint64) (treePage, error) {
	count := uint64(len(v.mem) / v.size)
	if id < 2 || id >= count {
		return treePage{}, v.damage(id, "it is outside of the file's %d pages", count)
	}
	header := v.mem[id*uint64(v.size):]
	self, kind, more := binary.NativeEndian.Uint64(header), binary.NativeEndian.Uint16(header[8:]), uint64(binary.NativeEndian.Uint32(header[12:]))
	if self != id || kind != leafPage && kind != branchPage || more >= count-id {
		return treePage{}, v.damage(id, "it calls itself %d, of kind %#x and %d pages long", self, kind, more+1)
	}
	return parseTree(header[:(more+1)*uint64(v.size)]), nil
}

// root is the first page of a tree.
func (v view) root(id uint64) (treePage, error) {
	p, err := v.raw(id)
	if err != nil {
		return p, err
	}
	link, same := v.linked(id, top)
	if same {
		return p, nil
	}
	if link == 0 {
		err = v.verify(id, p)
	}
	if err == nil {
		v.link(id, top)
	}
	return p, err
}

// below is the page that element i of a branch leads to.
func (v view) below(branch treePage, i int) (treePage, error) {
	id := branch.child(i)
	p, err := v.raw(id)
	if err != nil {
		return p, err
	}
	from := binary.NativeEndian.Uint64(branch.data)
	link, same := v.linked(id, from)
	if same {
		return p, nil
	}
	if link == 0 {
		if err = v.sibling(branch, i, p); err == nil {
			err = v.verify(id, p)
		}
		if err != nil {
			return p, err
		}
	}
	if p.count == 0 || !bytes.Equal(p.key(0), branch.key(i)) {
		return p, v.damage(id, "it does not begin with the key under which it is found")
	}
	v.link(id, from)
	return p, nil
}

// sibling compares how many levels there are below two pages of a branch: all leaves
// are equally deep. So nothing leads past a branch to a page below it, whose first
// key is the same.
func (v view) sibling(branch treePage, i int, p treePage) error {
	other := 0
	if i == 0 {
		other = 1
	}
	if other >= branch.count {
		return nil
	}
	s, err := v.raw(branch.child(other))
	for depth := 0; err == nil && !s.leaf && !p.leaf && depth < maxDepth; depth++ {
		if s, err = v.leftmost(s); err == nil {
			p, err = v.leftmost(p)
		}
	}
	if err == nil && s.leaf != p.leaf {
		err = v.damage(branch.child(i), "it is not as deep in the tree as the page beside it")
	}
	return err
}

// leftmost is the first page below a branch, not verified.
func (v view) leftmost(branch treePage) (treePage, error) {
	if branch.count == 0 {
		return branch, v.damage(binary.NativeEndian.Uint64(branch.data), "it is a branch without children")
	}
	return v.raw(branch.child(0))
}

// verify looks at all of a page, once.
func (v view) verify(id uint64, p treePage) error {
	if fault := p.fault(v.size); fault != "" {
		return v.damage(id, "%s", fault)
	}
	if !p.leaf {
		if p.count == 0 {
			return v.damage(id, "it is a branch without children")
		}
		children := make([]uint64, p.count)
		for i := range children {
			if children[i] = p.child(i); v.wasFree(children[i]) {
				return v.damage(id, "it leads to page %d, which is free", children[i])
			}
		}
		slices.Sort(children)
		for i := range children[1:] {
			if children[i] == children[i+1] { // a link tells only of the page that leads on
				return v.damage(id, "it leads to page %d twice", children[i])
			}
		}
	}
	return nil
}
