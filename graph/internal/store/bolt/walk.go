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
func walkFile(f io.ReaderAt, m meta, report func(problem string)) {
	if !m.plausible() {
		report(fmt.Sprintf("the meta page tells of impossible pages: %+v", m))
		return
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
}

// page reads the page with all that belongs to it and marks it used.
func (w *walker) page(id uint64, what string) (kind uint16, count int, data []byte, ok bool) {
	if id < 2 || id >= w.meta.pages {
		w.report(fmt.Sprintf("page %d, a %s, is outside of the file's %d pages", id, what, w.meta.pages))
		return 0, 0, nil, false
	}
	header := make([]byte, pageHeaderSize)
	offset := int64(id) * int64(w.meta.pageSize)
	if _, err := w.f.ReadAt(header, offset); err != nil {
		w.report(fmt.Sprintf("page %d: %v", id, err))
		return 0, 0, nil, false
	}
	more := uint64(binary.NativeEndian.Uint32(header[12:]))
	if self := binary.NativeEndian.Uint64(header); self != id || more >= w.meta.pages-id {
		w.report(fmt.Sprintf("page %d, a %s, calls itself %d and %d pages long", id, what, self, more+1))
		return 0, 0, nil, false
	}
	for p := id; p <= id+more; p++ {
		if w.use[p] != unseen {
			w.report(fmt.Sprintf("page %d is used twice", p))
			return 0, 0, nil, false
		}
		w.use[p] = used
	}
	data = make([]byte, (more+1)*uint64(w.meta.pageSize))
	if _, err := w.f.ReadAt(data, offset); err != nil {
		w.report(fmt.Sprintf("page %d: %v", id, err))
		return 0, 0, nil, false
	}
	return binary.NativeEndian.Uint16(data[8:]), int(binary.NativeEndian.Uint16(data[10:])), data, true
}

// tree checks the tree below page id, whose keys must lie in [from, to).
func (w *walker) tree(id uint64, depth int, from, to []byte) {
	kind, count, data, ok := w.page(id, "tree page")
	switch {
	case !ok:
	case depth > maxDepth:
		w.report(fmt.Sprintf("page %d is %d levels deep", id, depth))
	case kind == leafPage:
		w.leaf(id, data, count, depth, from, to)
	case kind == branchPage:
		w.branch(id, data, count, depth, from, to)
	default:
		w.report(fmt.Sprintf("page %d is of kind %#x instead of a tree page", id, kind))
	}
}

func (w *walker) branch(id uint64, data []byte, count, depth int, from, to []byte) {
	type child struct {
		key  []byte
		page uint64
	}
	var children []child
	for i := range count {
		at := pageHeaderSize + i*elementSize
		if at+elementSize > len(data) {
			w.report(fmt.Sprintf("page %d holds %d elements", id, count))
			return
		}
		e := data[at:]
		key, ok := cut(data, at, binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:]))
		if !ok {
			w.report(fmt.Sprintf("page %d: the key of element %d is outside of the page", id, i))
			return
		}
		children = append(children, child{key, binary.NativeEndian.Uint64(e[8:])})
	}
	if count == 0 {
		w.report(fmt.Sprintf("page %d is a branch without children", id))
	}
	for i, c := range children {
		low, high := c.key, to
		if i+1 < len(children) {
			high = children[i+1].key
		}
		if i == 0 && from != nil && bytes.Compare(from, low) > 0 || high != nil && bytes.Compare(low, high) >= 0 {
			w.report(fmt.Sprintf("page %d: element %d is out of order", id, i))
		}
		w.tree(c.page, depth+1, low, high)
	}
}

// leaf checks a leaf page, which may be inline (then id is that of the page around).
func (w *walker) leaf(id uint64, data []byte, count, depth int, from, to []byte) {
	var last []byte
	for i := range count {
		at := pageHeaderSize + i*elementSize
		if at+elementSize > len(data) {
			w.report(fmt.Sprintf("page %d holds %d elements", id, count))
			return
		}
		e := data[at:]
		flags, pos := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
		keySize, valueSize := binary.NativeEndian.Uint32(e[8:]), binary.NativeEndian.Uint32(e[12:])
		key, ok := cut(data, at, pos, keySize)
		value, ok2 := cut(data, at+int(keySize), pos, valueSize)
		if !ok || !ok2 {
			w.report(fmt.Sprintf("page %d: element %d is outside of the page", id, i))
			return
		}
		if i > 0 && bytes.Compare(last, key) >= 0 || i == 0 && from != nil && bytes.Compare(from, key) > 0 || to != nil && bytes.Compare(key, to) >= 0 {
			w.report(fmt.Sprintf("page %d: element %d is out of order", id, i))
		}
		last = key
		if flags&^bucketFlag != 0 {
			w.report(fmt.Sprintf("page %d: element %d has the marks %#x", id, i, flags))
		}
		if flags&bucketFlag != 0 {
			w.bucket(id, i, value, depth)
		}
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
	if len(inline) < pageHeaderSize || binary.NativeEndian.Uint16(inline[8:]) != leafPage || depth > maxDepth {
		w.report(fmt.Sprintf("page %d: bucket %d has no inline page", id, element))
		return
	}
	w.leaf(id, inline, int(binary.NativeEndian.Uint16(inline[10:])), depth+1, nil, nil)
}

// cut returns size bytes at position pos after at.
func cut(data []byte, at int, pos, size uint32) ([]byte, bool) {
	start := uint64(at) + uint64(pos)
	if start+uint64(size) > uint64(len(data)) {
		return nil, false
	}
	return data[start : start+uint64(size)], true
}

func (w *walker) freelist(id uint64) {
	kind, count, data, ok := w.page(id, "list of free pages")
	if !ok {
		return
	}
	if kind != freelistPage {
		w.report(fmt.Sprintf("page %d is of kind %#x instead of a list of free pages", id, kind))
		return
	}
	ids := data[pageHeaderSize:]
	n := uint64(count)
	if count == manyFree {
		n, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		w.report(fmt.Sprintf("page %d lists %d free pages", id, n))
		return
	}
	for i := range n {
		page := binary.NativeEndian.Uint64(ids[8*i:])
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
