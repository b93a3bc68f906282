package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
)

// nodeSet is a set of nodes that is emptied in no time: a mark for each id that
// counts only when it is that of the current epoch. Ids beyond the array go to
// a map.
type nodeSet struct {
	marks []uint32
	epoch uint32
	far   map[value.NodeID]bool
	n     int64
}

// denseNodes bounds the array of marks to 256 MiB.
const denseNodes = 1 << 26

func (s *nodeSet) reset() {
	s.n = 0
	if s.epoch++; s.epoch == 0 {
		clear(s.marks)
		s.epoch = 1
	}
	clear(s.far)
}

// add reports whether id was not in the set before.
func (s *nodeSet) add(id value.NodeID) bool {
	if id >= denseNodes {
		if s.far[id] {
			return false
		}
		if s.far == nil {
			s.far = map[value.NodeID]bool{}
		}
		s.far[id] = true
		s.n++
		return true
	}
	if int(id) >= len(s.marks) {
		marks := make([]uint32, max(1024, int(id)+int(id)/4+1))
		copy(marks, s.marks)
		s.marks = marks
	}
	if s.marks[id] == s.epoch {
		return false
	}
	s.marks[id] = s.epoch
	s.n++
	return true
}

// reach yields each node that walks of min (0 or 1) to max edges lead to, once
// for each input row: a breadth-first search.
type reach struct {
	fan
	from, to int
	types    edgeTypes
	dir      access.Direction
	min, max int64
	props    edgeProps
	unique   []logical.Used
	within   walkChecks

	seen     nodeSet
	found    []value.NodeID // of the current row; also the queue of the search
	pos      int            // found[pos:] are not yet handed on
	level    int64
	at, last int // found[at:last] are still to expand on this level
	active   bool
	adj      []access.Adjacent
	nodes    []value.NodeID
}

func (o *reach) open(f *frame) error {
	o.found, o.pos, o.active = o.found[:0], 0, false
	o.types.resolve(f)
	return o.fan.open(f)
}

func (o *reach) next() (*batch.Batch, error) {
	o.start()
	o.nodes = o.nodes[:0]
	for !o.full() {
		if o.pos < len(o.found) {
			n := min(len(o.found)-o.pos, o.most-len(o.src))
			for range n {
				o.src = append(o.src, o.row)
			}
			o.nodes = append(o.nodes, o.found[o.pos:o.pos+n]...)
			o.pos += n
			continue
		}
		if o.active {
			if err := o.widen(); err != nil {
				return nil, err
			}
			continue
		}
		ok, err := o.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := o.beginRow(); err != nil {
			return nil, err
		}
	}
	if len(o.src) == 0 {
		return nil, nil
	}
	nodeColumn(o.col(o.to, len(o.nodes)), o.nodes)
	return o.finish(), nil
}

// beginRow starts the search of the current row.
func (o *reach) beginRow() error {
	o.found, o.pos, o.active = o.found[:0], 0, false
	node := o.nodeAt(o.from)
	if node == 0 {
		return nil
	}
	o.seen.reset()
	ok, err := o.within.node(o.f, o.row, node)
	if err != nil || !ok {
		return err
	}
	if o.min == 0 {
		o.seen.add(node)
		o.found = append(o.found, node)
	}
	ok, err = o.props.load(o.f, o.row)
	o.types.renew(o.f)
	if err != nil || !ok || o.types.none || o.max == 0 {
		return err
	}
	o.active, o.level = true, 1
	if err := o.expand(node); err != nil {
		return err
	}
	o.at = 0
	if o.min == 0 {
		o.at = 1 // the start has just been expanded
	}
	o.last = len(o.found)
	return nil
}

// widen searches one level further.
func (o *reach) widen() error {
	if o.at == o.last || o.max >= 0 && o.level >= o.max {
		o.active = false
		return nil
	}
	for ; o.at < o.last; o.at++ {
		if err := o.expand(o.found[o.at]); err != nil {
			return err
		}
	}
	o.last = len(o.found)
	o.level++
	return nil
}

// expand adds the neighbours of a node that have not been seen.
func (o *reach) expand(node value.NodeID) error {
	var err error
	if o.adj, err = o.f.r.Expand(node, o.dir, o.types.ids, o.adj[:0]); err != nil {
		return err
	}
	if err := o.f.step(len(o.adj) + 1); err != nil {
		return err
	}
	for i := range o.adj {
		a := &o.adj[i]
		if len(o.unique) > 0 && repeats(o.cur, o.row, o.unique, a.Edge) {
			continue
		}
		if len(o.props.ids) > 0 {
			if ok, err := o.props.match(o.f, a.Edge); err != nil {
				return err
			} else if !ok {
				continue
			}
		}
		if ok, err := o.within.follow(o.f, o.row, a.Edge, a.Node); err != nil {
			return err
		} else if !ok {
			continue
		}
		if o.seen.add(a.Node) {
			o.found = append(o.found, a.Node)
		}
	}
	return nil
}
