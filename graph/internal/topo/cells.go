package topo

import (
	"cmp"
	"slices"
	"unsafe"
)

// cell is the number of stored edges of one type from nodes with one set of labels
// to nodes with another. Sets are numbered by shared.
type cell struct {
	cellKey
	n int64
}

type cellKey struct{ typ, src, dst uint32 }

func (k cellKey) compare(o cellKey) int {
	return cmp.Or(cmp.Compare(k.typ, o.typ), cmp.Compare(k.src, o.src), cmp.Compare(k.dst, o.dst))
}

const (
	cellsPerPage = 64
	// maxCells bounds the cells for graphs in which nearly every node has labels of
	// its own: from then on new pairs are counted together, in otherCell of the type.
	maxCells = 1 << 16
	otherSet = 1<<32 - 1
)

func otherCell(typ uint32) cellKey { return cellKey{typ, otherSet, otherSet} }

// cellMap is a persistent sorted map of cells: a list of pages of up to 64. Changing
// one copies its page, and the list once an edit: 8 bytes for every 32 cells and
// more.
type cellMap struct {
	owner *token
	pages []*cellPage
	n     int
	full  bool // there was no room: an edge without a cell is in otherCell
}

type cellPage struct {
	owner *token
	cells []cell
}

// find returns where a key is or belongs.
func (m *cellMap) find(k cellKey) (page, at int, found bool) {
	page, exact := slices.BinarySearchFunc(m.pages, k, func(p *cellPage, k cellKey) int { return p.cells[0].compare(k) })
	if exact {
		return page, 0, true
	}
	if page == 0 {
		return 0, 0, false
	}
	at, found = slices.BinarySearchFunc(m.pages[page-1].cells, k, func(c cell, k cellKey) int { return c.compare(k) })
	return page - 1, at, found
}

// add changes the number of a cell. What would become less than nothing is
// nothing: these are estimates for the planner, and Verify compares them.
func (m *cellMap) add(k cellKey, delta int64, tok *token) {
	page, at, found := m.find(k)
	if !found && k != otherCell(k.typ) && (m.full || m.n >= maxCells) {
		m.full = true
		m.add(otherCell(k.typ), delta, tok)
		return
	}
	switch {
	case found:
		p := m.own(page, tok)
		if p.cells[at].n += delta; p.cells[at].n <= 0 {
			p.cells = slices.Delete(p.cells, at, at+1)
			m.n--
			if len(p.cells) == 0 {
				m.pages = slices.Delete(m.pages, page, page+1)
			}
		}
	case delta > 0:
		m.insert(page, at, cell{k, delta}, tok)
	}
}

func (m *cellMap) insert(page, at int, c cell, tok *token) {
	m.n++
	if len(m.pages) == 0 {
		m.ownList(tok)
		m.pages = append(m.pages, &cellPage{owner: tok, cells: []cell{c}})
		tok.count(unsafe.Sizeof(c))
		return
	}
	p := m.own(page, tok)
	p.cells = slices.Insert(p.cells, at, c)
	if len(p.cells) <= cellsPerPage {
		return
	}
	half := len(p.cells) / 2
	right := &cellPage{owner: tok, cells: slices.Clone(p.cells[half:])}
	p.cells = p.cells[:half:half]
	m.pages = slices.Insert(m.pages, page+1, right)
	tok.count(uintptr(len(right.cells)) * unsafe.Sizeof(c))
}

func (m *cellMap) ownList(tok *token) {
	if m.owner == tok {
		return
	}
	m.pages, m.owner = append(make([]*cellPage, 0, len(m.pages)+1), m.pages...), tok
	tok.count(uintptr(cap(m.pages)) * unsafe.Sizeof(m.pages[0]))
}

// own returns a page, made writable for tok.
func (m *cellMap) own(page int, tok *token) *cellPage {
	m.ownList(tok)
	p := m.pages[page]
	if p.owner != tok {
		p = &cellPage{owner: tok, cells: append(make([]cell, 0, len(p.cells)+1), p.cells...)}
		m.pages[page] = p
		tok.count(unsafe.Sizeof(*p) + uintptr(cap(p.cells))*unsafe.Sizeof(p.cells[0]))
	}
	return p
}

// each calls fn for the cells of a type, or of all for anyType, in order, until it
// returns false.
func (m *cellMap) each(typ uint32, fn func(cell) bool) {
	page, at, _ := m.find(cellKey{typ: typ})
	for ; page < len(m.pages); page, at = page+1, 0 {
		for _, c := range m.pages[page].cells[at:] {
			if typ != anyType && c.typ != typ || !fn(c) {
				return
			}
		}
	}
}

// cellSum gathers changes of cells, so that many edges cost few look-ups.
type cellSum struct {
	to   *cellMap
	tok  *token
	slot [256]cell
}

func (s *cellSum) add(k cellKey, delta int64) {
	at := &s.slot[(k.typ*31+k.src*7+k.dst)%uint32(len(s.slot))]
	if at.cellKey != k {
		s.flush(at)
		at.cellKey = k
	}
	at.n += delta
}

func (s *cellSum) flush(at *cell) {
	if at.n != 0 {
		s.to.add(at.cellKey, at.n, s.tok)
		at.n = 0
	}
}

func (s *cellSum) flushAll() {
	for i := range s.slot {
		s.flush(&s.slot[i])
	}
}

// push appends a cell whose key is greater than all others.
func (m *cellMap) push(c cell, tok *token) {
	last := len(m.pages) - 1
	if last < 0 || len(m.pages[last].cells) == cellsPerPage {
		m.ownList(tok)
		m.pages = append(m.pages, &cellPage{owner: tok})
		last++
	}
	p := m.pages[last]
	p.cells = append(p.cells, c)
	m.n++
}
