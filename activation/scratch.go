package activation

import "sync"

// scratch is the memory of a spread, kept for the next one: it would be most of what
// a spread allocates.
type scratch struct {
	nodes     []state
	index     table
	activated []Activated
	factors   []uint64
	sorted    []uint64
	ids       []ID
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

func newResult() *Result {
	s := scratches.Get().(*scratch)
	s.nodes, s.activated = s.nodes[:0], s.activated[:0]
	s.index.clear()
	return &Result{scratch: s}
}

// Release gives the memory of the result back. It is not to be used afterwards,
// nor is Nodes. Not calling it costs time, nothing else.
func (r *Result) Release() {
	if r.scratch != nil {
		scratches.Put(r.scratch)
		r.scratch, r.Nodes = nil, nil
	}
}
