package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// The layout of bbolt's other pages: a header (page number u64, kind u16, elements
// u16, further pages that belong to it u32), then elements of 16 bytes. A branch
// element holds the position of its key relative to itself, the key's length (u32
// each) and the child's page (u64); a leaf element flags, position, lengths of key
// and value (u32 each). The value of a bucket is its root page and a sequence (u64
// each); root 0 means that a leaf page follows, inline.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	elementSize  = 16
	bucketFlag   = 0x01
	bucketHeader = 16
	manyFree     = 0xFFFF // the number of free pages does not fit u16: it comes first
	maxDepth     = 64
)

// walker checks the trees of one transaction with plain reads, so that a damaged
// page can neither panic nor fault, which bbolt's own check does.
type walker struct {
	f      io.ReaderAt
	meta   meta
	use    []uint8 // by page: one of the uses below
	report func(problem string)
}

const (
	unseen = iota
	used
	free
)

// walkFile reports everything that is wrong with the pages of the transaction that
// m tells.
func walkFile(f io.ReaderAt, m meta, report func(problem string)) *walker {
	if !m.plausible() {
		report(fmt.Sprintf("the meta page tells of impossible pages: %+v", m))
		return &walker{}
	}
	w := &walker{f: f, meta: m, use: make([]uint8, m.pages), report: report}
	w.use[0], w.use[1] = used, used
	w.tree(m.root, 0, nil, nil)
	if m.freelist != noFreelist {
		w.freelist(m.freelist)
		for id, use := range w.use {
			if use == unseen {
				report(fmt.Sprintf("page %d is neither used nor free", id))
			}
		}
	}
	return w
}

// unused are the pages that were not met in a tree.
func (w *walker) unused() (ids []uint64) {
	for id, use := range w.use {
		if use != used {
			ids = append(ids, uint64(id))
		}
	}
	return ids
}

// page reads the page with all that belongs to it and marks it used.
func (w *walker) page(id uint64) (data []byte, ok bool) {
	data, err := readPages(w.f, w.meta, id)
	if err != nil {
		w.report(err.Error())
		return nil, false
	}
	for p := id; p < id+uint64(len(data))/uint64(w.meta.pageSize); p++ {
		if w.use[p] != unseen {
			w.report(fmt.Sprintf("page %d is used twice", p))
			return nil, false
		}
		w.use[p] = used
	}
	return data, true
}

// tree checks the tree below page id, at whose beginning stands the key from, and
// whose keys are below to; nil stands for any. It returns how many levels there are.
func (w *walker) tree(id uint64, depth int, from, to []byte) (levels int) {
	data, ok := w.page(id)
	if !ok {
		return 0
	}
	kind, p := binary.NativeEndian.Uint16(data[8:]), parseTree(data)
	if kind != leafPage && kind != branchPage || depth > maxDepth {
		w.report(fmt.Sprintf("page %d is of kind %#x, %d levels deep, instead of a tree page", id, kind, depth))
		return 0
	}
	if fault := p.fault(int(w.meta.pageSize)); fault != "" {
		w.report(fmt.Sprintf("page %d: %s", id, fault))
		return 0
	}
	if from != nil && (p.count == 0 || !bytes.Equal(p.key(0), from)) {
		w.report(fmt.Sprintf("page %d does not begin with the key under which it is found", id))
	}
	if p.count > 0 && to != nil && bytes.Compare(p.key(p.count-1), to) >= 0 {
		w.report(fmt.Sprintf("page %d: its last element is out of order", id))
	}
	if !p.leaf {
		return w.branch(id, p, depth, to) + 1
	}
	for i := range p.count {
		w.element(id, p, i, depth)
	}
	return 1
}

func (w *walker) branch(id uint64, p treePage, depth int, to []byte) (levels int) {
	if p.count == 0 {
		w.report(fmt.Sprintf("page %d is a branch without children", id))
	}
	for i := range p.count {
		high := to
		if i+1 < p.count {
			high = p.key(i + 1)
		}
		n := w.tree(p.child(i), depth+1, p.key(i), high)
		if i > 0 && n > 0 && levels > 0 && n != levels {
			w.report(fmt.Sprintf("page %d: element %d leads to %d levels, others to %d", id, i, n, levels))
		}
		levels = max(levels, n)
	}
	return levels
}

// element checks the marks of an element of a leaf, and what is below a bucket.
func (w *walker) element(id uint64, p treePage, i, depth int) {
	switch flags := p.flags(i); {
	case flags&^bucketFlag != 0 || flags != 0 && depth > maxDepth:
		w.report(fmt.Sprintf("page %d: element %d has the marks %#x", id, i, flags))
	case flags != 0:
		w.bucket(id, i, p.value(i), depth)
	}
}

func (w *walker) bucket(id uint64, element int, value []byte, depth int) {
	if len(value) < bucketHeader {
		w.report(fmt.Sprintf("page %d: bucket %d is %d bytes long", id, element, len(value)))
		return
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		w.tree(root, depth+1, nil, nil)
		return
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeaderSize || binary.NativeEndian.Uint16(inline[8:]) != leafPage {
		w.report(fmt.Sprintf("page %d: bucket %d has no inline page", id, element))
		return
	}
	p := parseTree(inline)
	if fault := p.fault(0); fault != "" {
		w.report(fmt.Sprintf("page %d: bucket %d: %s", id, element, fault))
		return
	}
	for i := range p.count {
		w.element(id, p, i, maxDepth+1)
	}
}

// freelist checks the list of free pages.
func (w *walker) freelist(id uint64) {
	data, ok := w.page(id)
	if !ok {
		return
	}
	free, err := freePages(data)
	if err != nil {
		w.report(fmt.Sprintf("page %d: %v", id, err))
		return
	}
	w.free(free)
}

func (w *walker) free(ids []uint64) {
	for _, page := range ids {
		switch {
		case page < 2 || page >= w.meta.pages:
			w.report(fmt.Sprintf("free page %d is outside of the file's %d pages", page, w.meta.pages))
		case w.use[page] == used:
			w.report(fmt.Sprintf("page %d is used and free", page))
		case w.use[page] == free:
			w.report(fmt.Sprintf("page %d is free twice", page))
		default:
			w.use[page] = free
		}
	}
}
