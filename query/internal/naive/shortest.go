package naive

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// laid is one way to lay a pattern that asks for the shortest.
type laid struct {
	ends  [2]value.Value
	edges []value.Value
	row   row
}

// shortest lays a pattern in every way, keeps of those between the same ends the
// ones that are asked for, and goes on with them.
func (s *search) shortest(p *bound.Pattern, then func() error) error {
	var all []laid
	slots := []int{p.Nodes[0].Slot, p.Rels[0].Slot, p.Nodes[1].Slot}
	if p.Path >= 0 {
		slots = append(slots, p.Path)
	}
	err := s.lay(p, func() error {
		ok, err := s.e.holds([]*bound.Pattern{p}, nil, s.row)
		if err != nil || !ok {
			return err
		}
		way := laid{ends: [2]value.Value{s.row[slots[0]], s.row[slots[2]]}, row: slices.Clone(s.row)}
		if v := s.row[slots[1]]; p.Rels[0].VarLength {
			way.edges = v.AsList()
		} else {
			way.edges = []value.Value{v}
		}
		if p.Count == 0 && len(way.edges) > 0 && way.ends[0].NodeID() == way.ends[1].NodeID() {
			return nil // shortestPath() looks for no way back
		}
		all = append(all, way)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b laid) int { return len(a.edges) - len(b.edges) })
	for i, way := range all {
		if !wanted(p, all[:i], way) {
			continue
		}
		if err := s.with(slots, way, then); err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a way is among those asked for, when those before are
// shorter or as short.
func wanted(p *bound.Pattern, before []laid, way laid) bool {
	paths, lengths := int64(0), map[int]bool{len(way.edges): true}
	for _, b := range before {
		if b.ends[0].NodeID() == way.ends[0].NodeID() && b.ends[1].NodeID() == way.ends[1].NodeID() {
			paths++
			lengths[len(b.edges)] = true
		}
	}
	if p.Shortest == syntax.AllShortestPaths {
		return int64(len(lengths)) <= max(p.Count, 1)
	}
	return paths < max(p.Count, 1)
}

// with goes on with the slots and edges of a way taken.
func (s *search) with(slots []int, way laid, then func() error) error {
	next := then
	for _, slot := range slots {
		inner := next
		next = func() error { return s.put(slot, way.row[slot], inner) }
	}
	for _, e := range way.edges {
		s.used[e.EdgeID()] = true
		defer delete(s.used, e.EdgeID())
	}
	return next()
}
