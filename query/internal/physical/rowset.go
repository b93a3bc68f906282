package physical

import "engram/graph/value"

// rowSet numbers different rows of a fixed number of values from 0, in the
// order they first appear. Values are the same as grouping has it: null equals
// null, NaN equals NaN, 1 equals 1.0.
type rowSet struct {
	width int
	rows  []value.Value    // width values a row
	heads map[uint64]int32 // by hash the newest row; never iterated
	next  []int32          // the next older row of the same hash, or -1
}

func (s *rowSet) reset(width int) {
	s.width = width
	clear(s.rows)
	s.rows, s.next = s.rows[:0], s.next[:0]
	if s.heads == nil {
		s.heads = map[uint64]int32{}
	}
	clear(s.heads)
}

func (s *rowSet) len() int { return len(s.next) }

// row returns the values of row i: read only.
func (s *rowSet) row(i int) []value.Value { return s.rows[i*s.width : (i+1)*s.width] }

// add returns the number of a row, adding it when it is new.
func (s *rowSet) add(row []value.Value) (n int, isNew bool) {
	var h uint64
	for _, v := range row {
		h = value.HashWith(h, v)
	}
	head, ok := s.heads[h]
	if !ok {
		head = -1
	}
	for i := head; i >= 0; i = s.next[i] {
		if equivalentRows(s.row(int(i)), row) {
			return int(i), false
		}
	}
	n = len(s.next)
	s.next = append(s.next, head)
	s.heads[h] = int32(n)
	s.rows = append(s.rows, row...)
	return n, true
}

func equivalentRows(a, b []value.Value) bool {
	for i := range a {
		if !value.Equivalent(a[i], b[i]) {
			return false
		}
	}
	return true
}

// rowSize estimates the bytes a set takes for a row.
func rowSize(row []value.Value) int64 {
	n := int64(32)
	for _, v := range row {
		n += int64(v.Size())
	}
	return n
}
