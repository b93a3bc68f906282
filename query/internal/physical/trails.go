package physical

import (
	"slices"

	"engram/graph/value"
)

// trailSearch finds the shortest trails between two nodes in the order of their
// lengths: walks that use no edge twice. It goes on with the trail that can arrive
// first: what it is long, and what its end is away from the goal at least. The
// search from the goal that tells the latter goes only as deep as is asked for.
type trailSearch struct {
	to     value.NodeID
	list   []trail
	byCost [][]int32 // trails to go on with, by what they are long on arrival at least
	groups int64     // how many lengths were found
	last   int64     // the length found last
}

// trail is a walk: an edge behind another walk.
type trail struct {
	node   value.NodeID
	edge   value.EdgeID
	before int32 // in list; of the first, which has no edge, -1
	length int32
}

const trailBytes = 32

// maxTrailLength bounds what a trail can be long.
const maxTrailLength = 1 << 30

// findTrails fills found for SHORTEST k, SHORTEST k GROUPS, lengths from two on
// and walks back to where they began.
func (o *shortestPath) findTrails(from, to value.NodeID) error {
	ok, err := o.props.load(o.f, o.row)
	if err != nil {
		return err
	}
	o.types.renew(o.f)
	if !ok || o.types.none {
		if from == to && o.min == 0 {
			o.found = append(o.found, nil)
		}
		return nil
	}
	s := &o.trails
	s.to, s.list, s.groups, s.last = to, s.list[:0], 0, -1
	for i := range s.byCost {
		s.byCost[i] = s.byCost[i][:0]
	}
	o.right.start(to, opposite(o.dir))
	if err := o.addTrail(trail{node: from, before: -1}); err != nil {
		return err
	}
	for cost := 0; cost < len(s.byCost); cost++ {
		for len(s.byCost[cost]) > 0 {
			last := len(s.byCost[cost]) - 1
			i := s.byCost[cost][last]
			s.byCost[cost] = s.byCost[cost][:last]
			if done, err := o.goOn(i, cost); err != nil || done {
				return err
			}
		}
	}
	return nil
}

// goOn takes the trail i, which was to arrive after cost edges, further. It returns
// true when all that was asked for is found.
func (o *shortestPath) goOn(i int32, cost int) (bool, error) {
	s := &o.trails
	t := s.list[i]
	for o.right.at(t.node) == nil { // is it further away than was known?
		if len(o.right.frontier) == 0 {
			return false, nil
		}
		if err := o.deepen(); err != nil {
			return false, err
		}
	}
	if now := o.arrival(t); now > cost {
		return false, o.queue(i, now)
	}
	if t.node == s.to && int64(t.length) >= o.min {
		if int64(t.length) != s.last {
			s.groups, s.last = s.groups+1, int64(t.length)
		}
		if o.all && s.groups > o.count {
			return true, nil
		}
		if err := o.keep(i); err != nil {
			return false, err
		}
		if !o.all && int64(len(o.found)) == o.count {
			return true, nil
		}
	}
	return false, o.extend(i)
}

// deepen looks one level further from the goal.
func (o *shortestPath) deepen() error {
	none := side{}
	all := o.all
	o.all = false
	err := o.grow(&o.right, &none)
	o.all = all
	return err
}

// arrival is what a trail is long on arrival at least, and no less than what is
// asked for: up to there all are alike, and the newest is followed first.
func (o *shortestPath) arrival(t trail) int {
	away := o.right.level + 1
	if v := o.right.at(t.node); v != nil {
		away = v.depth
	}
	return int(max(int64(t.length)+away, min(o.min, maxTrailLength)))
}

// extend adds the trails that are one edge longer than trail i.
func (o *shortestPath) extend(i int32) error {
	t := o.trails.list[i]
	if o.max >= 0 && int64(t.length) >= o.max || t.length >= maxTrailLength {
		return nil
	}
	var err error
	if o.adj, err = o.f.r.Expand(t.node, o.dir, o.types.ids, o.adj[:0]); err != nil {
		return err
	}
	for _, a := range o.adj {
		if err := o.f.step(1 + int(t.length)/16); err != nil {
			return err
		}
		if o.onTrail(i, a.Edge) {
			continue
		}
		if ok, err := o.allowed(a.Edge, a.Node); err != nil {
			return err
		} else if !ok {
			continue
		}
		if err := o.addTrail(trail{node: a.Node, edge: a.Edge, before: i, length: t.length + 1}); err != nil {
			return err
		}
	}
	return nil
}

func (o *shortestPath) addTrail(t trail) error {
	cost := o.arrival(t)
	if o.max >= 0 && int64(cost) > o.max {
		return nil
	}
	if err := o.hold(trailBytes); err != nil {
		return err
	}
	o.trails.list = append(o.trails.list, t)
	return o.queue(int32(len(o.trails.list)-1), cost)
}

func (o *shortestPath) queue(i int32, cost int) error {
	if o.max >= 0 && int64(cost) > o.max {
		return nil
	}
	s := &o.trails
	if grown := cost + 1 - len(s.byCost); grown > 0 {
		if err := o.hold(int64(24 * grown)); err != nil {
			return err
		}
		s.byCost = append(s.byCost, make([][]int32, grown)...)
	}
	s.byCost[cost] = append(s.byCost[cost], i)
	return nil
}

func (o *shortestPath) onTrail(i int32, e value.EdgeID) bool {
	for ; i > 0; i = o.trails.list[i].before {
		if o.trails.list[i].edge == e {
			return true
		}
	}
	return false
}

// keep adds trail i to what was found.
func (o *shortestPath) keep(i int32) error {
	var walk []value.EdgeID
	if err := o.hold(walkBytes + 8*int64(o.trails.list[i].length)); err != nil {
		return err
	}
	for ; i > 0; i = o.trails.list[i].before {
		walk = append(walk, o.trails.list[i].edge)
	}
	slices.Reverse(walk)
	o.found = append(o.found, walk)
	return nil
}
