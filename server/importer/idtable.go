package importer

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// digest stands for a text: 128 bits of its SHA-256, so that two texts of a file
// never share one, not even when somebody tries.
type digest [16]byte

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:16])
}

// idTable numbers texts from 0 in the order in which they come. It keeps their
// digests only: about 30 bytes for each, whatever their length. It is a hash table
// in parts, so that growing never doubles all of it at once.
type idTable struct {
	n     uint32
	parts [tableParts]tablePart
}

const tableParts = 256

type tablePart struct {
	used    int
	entries []tableEntry // open addressing; number 0 means empty
}

type tableEntry struct {
	digest digest
	number uint32 // plus 1
}

// add returns the number of a text, and whether it is new.
func (t *idTable) add(text string) (number uint32, added bool) {
	d := digestOf(text)
	p := &t.parts[d[0]]
	if p.used*10 >= len(p.entries)*8 {
		p.grow()
	}
	e := p.find(d)
	if e.number != 0 {
		return e.number - 1, false
	}
	t.n++
	*e = tableEntry{d, t.n}
	p.used++
	return t.n - 1, true
}

// get returns the number of a text.
func (t *idTable) get(text string) (number uint32, ok bool) {
	d := digestOf(text)
	p := &t.parts[d[0]]
	if len(p.entries) == 0 {
		return 0, false
	}
	e := p.find(d)
	return e.number - 1, e.number != 0
}

// find returns the entry of a digest, or the empty one where it belongs.
func (p *tablePart) find(d digest) *tableEntry {
	i := int(binary.LittleEndian.Uint64(d[1:]) % uint64(len(p.entries)))
	for {
		e := &p.entries[i]
		if e.number == 0 || e.digest == d {
			return e
		}
		if i++; i == len(p.entries) {
			i = 0
		}
	}
}

func (p *tablePart) grow() {
	old := p.entries
	p.entries = make([]tableEntry, max(16, len(old)*3/2))
	for _, e := range old {
		if e.number != 0 {
			*p.find(e.digest) = e
		}
	}
}

// link is an edge of a file: the numbers of its ends and of its type.
type link struct {
	src, dst uint32
	typ      uint16
}

func (l link) hash() uint64 {
	h := (uint64(l.src)<<32 | uint64(l.dst)) * 0x9E3779B97F4A7C15
	h = (h ^ h>>29 ^ uint64(l.typ)) * 0xBF58476D1CE4E5B9
	return h ^ h>>32
}

// repeats finds the edges that repeat an earlier one in two passes over a file:
// the first notes a hash of each, 8 bytes; the second keeps the edges whose hash
// came more than once, and compares them.
type repeats struct {
	parts [tableParts][]uint64
	twice map[uint64]bool
	seen  map[link]bool
}

// note is called for each edge of the first pass.
func (r *repeats) note(l link) {
	h := l.hash()
	r.parts[h%tableParts] = append(r.parts[h%tableParts], h)
}

// settle ends the first pass.
func (r *repeats) settle() {
	r.twice, r.seen = map[uint64]bool{}, map[link]bool{}
	for i := range r.parts {
		slices.Sort(r.parts[i])
		for j, h := range r.parts[i] {
			if j > 0 && h == r.parts[i][j-1] {
				r.twice[h] = true
			}
		}
		r.parts[i] = nil
	}
}

// repeated is called for each edge of the second pass.
func (r *repeats) repeated(l link) bool {
	if !r.twice[l.hash()] {
		return false
	}
	if r.seen[l] {
		return true
	}
	r.seen[l] = true
	return false
}
