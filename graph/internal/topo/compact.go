package topo

import (
	"maps"
	"slices"
	"sync"
)

// Merged is a segment packed anew, overlay and all, from one version.
type Merged struct {
	seg  uint32
	from segment // as it was read
	base [2]*csr
}

// A segment is due for merging when its overlay has more entries than this, and
// than this share of its packed part: a hub's segment is packed again only
// after growing by an eighth, so that the work for one edge stays constant.
const (
	mergeMin   = 512
	mergeShare = 8
)

// Due appends the numbers of segments worth merging.
func (v *Version) Due(buf []uint32) []uint32 {
	for i, s := v.segs.next(0); s != nil; i, s = v.segs.next(i + 1) {
		packed := 0
		for _, c := range s.base {
			if c != nil {
				packed += len(c.nbr)
			}
		}
		if over := s.over[0].n + s.over[1].n; over > mergeMin && over > packed/mergeShare {
			buf = append(buf, i)
		}
	}
	return buf
}

// Merge packs a segment. It only reads v, so it may run beside writers when v is
// published.
func (v *Version) Merge(seg uint32) *Merged {
	s := v.segs.at(seg)
	if s == nil {
		return nil
	}
	m := &Merged{seg: seg, from: *s}
	for d := range 2 {
		n := s.over[d].n
		if s.base[d] != nil {
			n += len(s.base[d].nbr)
		}
		b := newCSRBuilder(n)
		var c cursor
		for local := range uint32(segPer) {
			c.init(v, s, d, local, anyType)
			for h, ok := c.raw(); ok; h, ok = c.raw() {
				b.add(uint16(local), uint32(h.Type), h.Node, h.Edge)
			}
		}
		m.base[d] = b.finish()
	}
	return m
}

// Install puts a merged segment in place. What came to the segment since m was
// made stays in the overlay. It reports false, and changes nothing, when
// another merge came first.
func (e *Editor) Install(m *Merged) bool {
	if m == nil {
		return false
	}
	cur := e.v.segs.at(m.seg)
	if cur == nil || cur.base != m.from.base {
		return false
	}
	over := cur.over
	s := e.ownSegment(m.seg << segBits)
	s.base = m.base
	for d := range 2 {
		s.over[d] = tree{}
		s.touched[d] = [segPer / 64]uint64{}
		over[d].since(&m.from.over[d], func(x entry) {
			s.over[d].put(x, e.tok)
			local := x.local()
			s.touched[d][local>>6] |= 1 << (local & 63)
		})
	}
	return true
}

// Compactor carries merged segments from a background goroutine, which calls
// Work, to the writer, who calls Install. No reader and no writer waits for a
// merge.
type Compactor struct {
	mu   sync.Mutex
	done map[uint32]*Merged
}

// Work merges up to limit due segments of a published version and keeps the
// results. It returns how many it merged; 0 means there is nothing to do.
func (c *Compactor) Work(v *Version, limit int) int {
	n := 0
	for _, seg := range v.Due(nil) {
		if n == limit {
			break
		}
		if c.waiting(v, seg) {
			continue
		}
		m := v.Merge(seg)
		c.mu.Lock()
		if c.done == nil {
			c.done = map[uint32]*Merged{}
		}
		c.done[seg] = m
		c.mu.Unlock()
		n++
	}
	return n
}

// waiting reports whether a result for the segment is still to be installed.
func (c *Compactor) waiting(v *Version, seg uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.done[seg]
	return m != nil && m.from.base == v.segs.at(seg).base
}

// Install puts all waiting results in place and returns how many there were.
// Call it at the start of a write, whose version then carries them; if that
// write is dropped, the segments fall due again.
func (c *Compactor) Install(e *Editor) int {
	c.mu.Lock()
	done := c.done
	c.done = nil
	c.mu.Unlock()
	n := 0
	for _, seg := range slices.Sorted(maps.Keys(done)) {
		if e.Install(done[seg]) {
			n++
		}
	}
	return n
}
