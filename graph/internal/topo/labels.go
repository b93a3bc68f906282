package topo

import (
	"unsafe"

	"github.com/RoaringBitmap/roaring/v2"
)

const chunkBits = 16

// labelSet is the set of slots that carry one label: a roaring bitmap for every
// 65,536 slots, so that adding one node copies at most 8 KiB. A published
// bitmap is never changed.
type labelSet struct {
	owner  *token
	n      int64
	chunks []labelChunk
}

type labelChunk struct {
	owner *token
	bits  *roaring.Bitmap
}

// ownLabel returns the set of a label, made writable for tok.
func (v *Version) ownLabel(label uint32, tok *token) *labelSet {
	s := v.labels.at(label)
	if s != nil && s.owner == tok {
		return s
	}
	next := &labelSet{owner: tok}
	if s != nil {
		next.n = s.n
		next.chunks = append(make([]labelChunk, 0, len(s.chunks)+1), s.chunks...)
	}
	v.labels.set(label, next, tok)
	tok.count(unsafe.Sizeof(*next) + uintptr(cap(next.chunks))*unsafe.Sizeof(labelChunk{}))
	return next
}

// chunk returns the bitmap that slot lives in, made writable for tok.
func (s *labelSet) chunk(slot Slot, tok *token) *roaring.Bitmap {
	c := int(slot >> chunkBits)
	for len(s.chunks) <= c {
		s.chunks = append(s.chunks, labelChunk{})
	}
	at := &s.chunks[c]
	if at.bits == nil {
		at.bits, at.owner = roaring.New(), tok
	} else if at.owner != tok {
		at.bits, at.owner = at.bits.Clone(), tok
	} else {
		return at.bits
	}
	tok.count(uintptr(at.bits.GetSizeInBytes()))
	return at.bits
}

func (s *labelSet) add(slot Slot, tok *token) {
	if s.chunk(slot, tok).CheckedAdd(slot) {
		s.n++
	}
}

func (s *labelSet) remove(slot Slot, tok *token) {
	if s.chunk(slot, tok).CheckedRemove(slot) {
		s.n--
	}
}

// scan calls fn for slots from from on, ascending, until it returns false.
func (s *labelSet) scan(from Slot, fn func(Slot) bool) {
	for c := int(from >> chunkBits); c < len(s.chunks); c++ {
		if s.chunks[c].bits == nil {
			continue
		}
		it := s.chunks[c].bits.Iterator()
		it.AdvanceIfNeeded(from)
		for it.HasNext() {
			if !fn(it.Next()) {
				return
			}
		}
	}
}
