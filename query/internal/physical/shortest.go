package physical

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
)

// shortestPath finds the shortest walk, or all of the shortest, between two
// nodes of each input row by breadth-first search from both ends at once.
type shortestPath struct {
	fan
	from, rel, to int
	types         edgeTypes
	dir           access.Direction
	min, max      int64
	props         edgeProps
	all           bool
	count         int64 // 0: it was written as a function
	single        bool  // the pattern is one plain edge, not a list
	unique        []logical.Used
	within        walkChecks

	left, right side
	meets       []value.NodeID
	adj         []access.Adjacent
	found       [][]value.EdgeID
	pos         int
	held        int64 // bytes taken for the current row
	trails      trailSearch
	lists       []value.Value
}

// side is the search from one end. What it found is in the order of finding; marks
// tell which of a node's ids is where.
type side struct {
	marks    nodeMarks
	found    []visit
	more     []moreHops // further ways on shortest walks, when all are wanted
	frontier []value.NodeID
	next     []value.NodeID
	level    int64
	dir      access.Direction
}

// visit is a node that was reached.
type visit struct {
	depth int64
	hop   hop
	more  int32 // the first in side.more, +1; 0: none
	last  int32 // the last, likewise
}

// hop is an edge by which a node was reached, and the node it came from.
type hop struct {
	edge value.EdgeID
	from value.NodeID
}

type moreHops struct {
	hop
	next int32 // +1; 0: none
}

func (s *side) start(n value.NodeID, dir access.Direction) {
	s.marks.reset()
	s.found, s.more = append(s.found[:0], visit{}), s.more[:0]
	s.marks.add(n, 0)
	s.frontier = append(s.frontier[:0], n)
	s.level, s.dir = 0, dir
}

// at returns the visit of a node, nil if it was not reached.
func (s *side) at(n value.NodeID) *visit {
	if i, ok := s.marks.get(n); ok {
		return &s.found[i]
	}
	return nil
}

// hops calls fn for every edge by which a node was reached, first come first.
func (s *side) hops(n value.NodeID, fn func(hop)) {
	v := s.at(n)
	fn(v.hop)
	for i := v.more; i > 0; i = s.more[i-1].next {
		fn(s.more[i-1].hop)
	}
}

// reached notes that a node of this level was reached by one more edge.
func (s *side) reached(v *visit, h hop) {
	s.more = append(s.more, moreHops{hop: h})
	at := int32(len(s.more))
	if v.last > 0 {
		s.more[v.last-1].next = at
	} else {
		v.more = at
	}
	v.last = at
}

func (o *shortestPath) open(f *frame) error {
	o.found, o.pos, o.held = o.found[:0], 0, 0
	o.types.resolve(f)
	return o.fan.open(f)
}

func (o *shortestPath) next() (*batch.Batch, error) {
	o.lists = o.lists[:0]
	if ok, err := o.fill(o); err != nil || !ok {
		return nil, err
	}
	if o.rel >= 0 {
		copy(o.col(o.rel, len(o.lists)), o.lists)
	}
	return o.finish(), nil
}

// hold takes memory for the walks of the current row.
func (o *shortestPath) hold(bytes int64) error {
	o.held += bytes
	return o.f.grow(bytes)
}

func (o *shortestPath) edges(walk []value.EdgeID) value.Value {
	if o.single {
		return value.EdgeRef(walk[0])
	}
	list := make([]value.Value, len(walk))
	for i, e := range walk {
		list[i] = value.EdgeRef(e)
	}
	return value.List(list)
}

func (o *shortestPath) pending() int { return len(o.found) - o.pos }

func (o *shortestPath) take(n int) {
	for range n {
		o.lists = append(o.lists, o.edges(o.found[o.pos]))
		o.pos++
	}
}

// find fills found for the current row.
func (o *shortestPath) find() error {
	o.found, o.pos = o.found[:0], 0
	if err := o.hold(-o.held); err != nil {
		return err
	}
	from, to := o.nodeAt(o.from), o.nodeAt(o.to)
	if from == 0 || to == 0 {
		return nil
	}
	for _, end := range []value.NodeID{from, to} {
		if ok, err := o.within.node(o.f, o.row, end); err != nil || !ok {
			return err
		}
	}
	if o.count > 1 || o.count > 0 && (from == to || o.min > 1) {
		return o.findTrails(from, to)
	}
	if from == to {
		if o.min == 0 {
			o.found = append(o.found, nil)
		}
		return nil
	}
	ok, err := o.props.load(o.f, o.row)
	o.types.renew(o.f)
	if err != nil || !ok || o.types.none {
		return err
	}
	o.left.start(from, o.dir)
	o.right.start(to, opposite(o.dir))
	for len(o.left.frontier) > 0 && len(o.right.frontier) > 0 {
		if o.max >= 0 && o.left.level+o.right.level >= o.max {
			return nil
		}
		s, other := &o.left, &o.right
		if len(o.right.frontier) < len(o.left.frontier) {
			s, other = other, s
		}
		if err := o.grow(s, other); err != nil {
			return err
		}
		if len(o.meets) > 0 {
			return o.join()
		}
	}
	return nil
}

// grow searches one level further from one side. Nodes that the other side has
// reached go to meets: all of them are then on shortest walks, since every
// level is complete.
func (o *shortestPath) grow(s, other *side) error {
	s.next, o.meets = s.next[:0], o.meets[:0]
	s.level++
	for _, n := range s.frontier {
		var err error
		if o.adj, err = o.f.r.Expand(n, s.dir, o.types.ids, o.adj[:0]); err != nil {
			return err
		}
		if err := o.f.step(len(o.adj) + 1); err != nil {
			return err
		}
		for _, a := range o.adj {
			v := s.at(a.Node)
			if v != nil && (!o.all || v.depth < s.level) {
				continue
			}
			if ok, err := o.allowed(a.Edge, a.Node); err != nil {
				return err
			} else if !ok {
				continue
			}
			if v != nil {
				s.reached(v, hop{a.Edge, n})
				continue
			}
			s.marks.add(a.Node, int32(len(s.found)))
			s.found = append(s.found, visit{depth: s.level, hop: hop{a.Edge, n}})
			s.next = append(s.next, a.Node)
			if other.at(a.Node) != nil {
				o.meets = append(o.meets, a.Node)
			}
		}
	}
	s.frontier, s.next = s.next, s.frontier
	return o.hold(int64(64*len(s.frontier) + 24*len(s.more))) // roughly
}

func (o *shortestPath) allowed(e value.EdgeID, n value.NodeID) (bool, error) {
	if len(o.unique) > 0 && repeats(o.cur, o.row, o.unique, e) {
		return false, nil
	}
	if len(o.props.ids) > 0 {
		if ok, err := o.props.match(o.f, e); !ok || err != nil {
			return false, err
		}
	}
	return o.within.follow(o.f, o.row, e, n)
}

// join puts the walks of both sides together where they meet.
func (o *shortestPath) join() error {
	if !o.all {
		o.meets = o.meets[:1]
	}
	for _, m := range o.meets {
		lefts, err := o.walks(&o.left, m)
		if err != nil {
			return err
		}
		rights, err := o.walks(&o.right, m)
		if err != nil {
			return err
		}
		for _, l := range lefts {
			for _, r := range rights {
				walk := slices.Clone(l)
				slices.Reverse(walk)
				o.found = append(o.found, append(walk, r...))
				if err := o.f.step(len(walk) + len(r)); err != nil {
					return err
				}
				if err := o.hold(int64(8 * (len(walk) + len(r)))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// walkBytes is what a walk takes besides its edges.
const walkBytes = 48

// walks lists the walks from a node back to where a side began, nearest edge
// first. It goes level by level, so that depth costs no stack.
func (o *shortestPath) walks(s *side, n value.NodeID) ([][]value.EdgeID, error) {
	type partial struct {
		at   value.NodeID
		walk []value.EdgeID
	}
	now := []partial{{at: n}}
	for depth := s.at(n).depth; depth > 0; depth-- {
		var next []partial
		for _, p := range now {
			before := len(next)
			s.hops(p.at, func(h hop) {
				next = append(next, partial{h.from, append(slices.Clone(p.walk), h.edge)})
			})
			if err := o.f.step(len(next) - before); err != nil {
				return nil, err
			}
			if err := o.hold(int64((len(next) - before) * (walkBytes + 8*len(p.walk)))); err != nil {
				return nil, err
			}
		}
		now = next
	}
	out := make([][]value.EdgeID, len(now))
	for i, p := range now {
		out[i] = p.walk
	}
	return out, nil
}
