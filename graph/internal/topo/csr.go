package topo

import "slices"

const (
	segBits = 10
	segPer  = 1 << segBits
	segMask = segPer - 1
)

// segment is the adjacency of 1,024 nodes: packed both ways, plus what came
// since it was packed.
type segment struct {
	owner *token
	base  [2]*csr // by direction: Out, In; nil: empty
	over  [2]tree
	// touched has a bit for every node that over says something about, so that
	// reading the others never looks there.
	touched [2][segPer / 64]uint64
}

func (s *segment) isTouched(d int, local uint32) bool {
	return s.touched[d][local>>6]>>(local&63)&1 != 0
}

// csr is immutable packed adjacency in one direction. The edges of node i are
// positions off[i] to off[i+1], sorted by type, neighbour and edge. Types are
// 8-bit positions in dict, which ascends; a segment with more than 255 types
// escapes to wide.
type csr struct {
	off  [segPer + 1]uint32
	nbr  []uint32
	edge []uint32
	typ  []uint8
	dict []uint32
	wide []uint32
}

const maxDict = 255

func (c *csr) typeAt(k uint32) uint32 {
	if c.wide != nil {
		return c.wide[k]
	}
	return c.dict[c.typ[k]]
}

// run returns the positions of a node's edges.
func (c *csr) run(local uint32) (lo, hi uint32) {
	if c == nil {
		return 0, 0
	}
	return c.off[local], c.off[local+1]
}

// ofType narrows a run to one type.
func (c *csr) ofType(lo, hi, t uint32) (uint32, uint32) {
	if lo == hi {
		return lo, lo
	}
	if c.wide != nil {
		a := lo + lowerBound(c.wide[lo:hi], t)
		return a, a + lowerBound(c.wide[a:hi], t+1)
	}
	code, ok := slices.BinarySearch(c.dict, t)
	if !ok {
		return lo, lo
	}
	a := lo + lowerBound(c.typ[lo:hi], uint8(code))
	if code == len(c.dict)-1 {
		return a, hi
	}
	return a, a + lowerBound(c.typ[a:hi], uint8(code+1))
}

// lowerBound returns the first position in sorted s not less than x. Short runs,
// nearly all of them, are walked.
func lowerBound[T uint8 | uint32](s []T, x T) uint32 {
	lo, hi := 0, len(s)
	for hi-lo > 8 {
		m := int(uint(lo+hi) >> 1)
		if s[m] < x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for lo < hi && s[lo] < x {
		lo++
	}
	return uint32(lo)
}

// csrBuilder packs entries given in order of node, type, neighbour and edge.
type csrBuilder struct {
	c     csr
	types []uint32
}

func newCSRBuilder(edges int) *csrBuilder {
	b := &csrBuilder{types: make([]uint32, 0, edges)}
	b.c.nbr = make([]uint32, 0, edges)
	b.c.edge = make([]uint32, 0, edges)
	return b
}

func (b *csrBuilder) add(local uint16, typ, nbr, edge uint32) {
	b.c.off[local+1]++
	b.types = append(b.types, typ)
	b.c.nbr = append(b.c.nbr, nbr)
	b.c.edge = append(b.c.edge, edge)
}

// finish returns the packed segment, nil when it is empty.
func (b *csrBuilder) finish() *csr {
	if len(b.types) == 0 {
		return nil
	}
	for i := range segPer {
		b.c.off[i+1] += b.c.off[i]
	}
	b.c.setTypes(b.types)
	return &b.c
}

// setTypes stores the type of every position, as codes where they fit.
func (c *csr) setTypes(types []uint32) {
	last := uint32(0)
	for i, t := range types {
		if i > 0 && t == last {
			continue
		}
		last = t
		if at, ok := slices.BinarySearch(c.dict, t); !ok {
			if len(c.dict) == maxDict {
				c.dict, c.wide = nil, slices.Clip(types)
				return
			}
			c.dict = slices.Insert(c.dict, at, t)
		}
	}
	c.typ = make([]uint8, len(types))
	code := 0
	for i, t := range types {
		if c.dict[code] != t {
			code, _ = slices.BinarySearch(c.dict, t)
		}
		c.typ[i] = uint8(code)
	}
}
