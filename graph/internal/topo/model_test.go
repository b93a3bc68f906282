package topo

import (
	"fmt"
	"slices"
	"sort"

	"engram/graph/value"
)

// model is the topology as plain maps.
type model struct {
	nodes map[value.NodeID]mnode
	edges map[value.EdgeID]medge
	// orphans are edges whose records are still stored at a deleted node.
	orphans map[value.EdgeID]medge
	// dead are the labels of deleted nodes.
	dead map[value.NodeID][]value.LabelID
}

type mnode struct {
	labels  []value.LabelID
	hot     [3]value.Value
	created int64
}

type medge struct {
	src, dst value.NodeID
	typ      value.TypeID
	attrs    [3]value.Value
	learned  float32
	hasLearn bool
	created  int64
}

func newModel() *model {
	return &model{map[value.NodeID]mnode{}, map[value.EdgeID]medge{}, map[value.EdgeID]medge{}, map[value.NodeID][]value.LabelID{}}
}

func (m *model) clone() *model {
	c := newModel()
	for k, v := range m.nodes {
		c.nodes[k] = v
	}
	for k, v := range m.edges {
		c.edges[k] = v
	}
	for k, v := range m.orphans {
		c.orphans[k] = v
	}
	for k, v := range m.dead {
		c.dead[k] = v
	}
	return c
}

func (m *model) deleteNode(id value.NodeID) {
	m.dead[id] = m.nodes[id].labels
	delete(m.nodes, id)
	for k, e := range m.edges {
		if e.src == id || e.dst == id {
			m.orphans[k] = e
			delete(m.edges, k)
		}
	}
}

func (m *model) expand(id value.NodeID, dir value.Direction, types []value.TypeID) []value.Adjacent {
	var out []value.Adjacent
	if _, ok := m.nodes[id]; !ok {
		return nil
	}
	for k, e := range m.edges {
		if len(types) > 0 && !slices.Contains(types, e.typ) {
			continue
		}
		if dir != value.In && e.src == id {
			out = append(out, value.Adjacent{Edge: k, Node: e.dst, Type: e.typ, Out: true})
		}
		if dir != value.Out && e.dst == id && !(dir == value.Both && e.src == id) {
			out = append(out, value.Adjacent{Edge: k, Node: e.src, Type: e.typ})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Type != b.Type {
			return a.Type < b.Type
		}
		if a.Node != b.Node {
			return a.Node < b.Node
		}
		return a.Edge < b.Edge
	})
	return out
}

func sortedKeys[K value.NodeID | value.EdgeID, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// diff compares every read of v with the model and describes the first
// difference.
func (m *model) diff(v *Version, maxNode value.NodeID, maxEdge value.EdgeID) error {
	for _, f := range []func() error{
		func() error { return m.diffNodes(v, maxNode) },
		func() error { return m.diffLabels(v) },
		func() error { return m.diffEdges(v, maxEdge) },
		func() error { return m.diffExpand(v, maxNode) },
		func() error { return m.diffDoomed(v) },
		func() error { return m.diffPairs(v) },
	} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) diffNodes(v *Version, maxNode value.NodeID) error {
	for id := value.NodeID(0); id <= maxNode+1; id++ {
		n, ok := m.nodes[id]
		if v.NodeExists(id) != ok {
			return fmt.Errorf("node %d exists: got %v want %v", id, !ok, ok)
		}
		if got := v.Labels(id, nil); !slices.Equal(got, n.labels) {
			return fmt.Errorf("labels of %d: got %v want %v", id, got, n.labels)
		}
		if ms, _ := v.NodeCreated(id); ms != n.created {
			return fmt.Errorf("created of %d: got %d want %d", id, ms, n.created)
		}
		for c, want := range n.hot {
			got, state := v.Hot(id, Column(c))
			if err := sameHot(got, state, want, hotExact); err != nil {
				return fmt.Errorf("hot %d of %d: %w", c, id, err)
			}
		}
	}
	return nil
}

func hotExact(v value.Value) bool {
	return v.Kind() != value.KindList && len(v.AsString()) <= maxInternedSize
}

func sameHot(got value.Value, state State, want value.Value, exact func(value.Value) bool) error {
	wantState := Exact
	if want.IsNull() {
		wantState = Absent
	} else if !exact(want) {
		wantState, want = SeeRecord, value.Null
	}
	same := got.Kind() == want.Kind() && got.AsBool() == want.AsBool() && got.AsInt() == want.AsInt() &&
		floatBits(got.AsFloat()) == floatBits(want.AsFloat()) && got.AsString() == want.AsString() &&
		got.AsDateTime() == want.AsDateTime() && got.AsDate() == want.AsDate()
	if state != wantState || !same {
		return fmt.Errorf("got %v state %d, want %v state %d", got, state, want, wantState)
	}
	return nil
}

func (m *model) diffLabels(v *Version) error {
	for l := value.LabelID(0); l < 5; l++ {
		var want []value.NodeID
		for _, id := range sortedKeys(m.nodes) {
			if l == 0 || slices.Contains(m.nodes[id].labels, l) {
				want = append(want, id)
			}
		}
		if got := v.NodeCount(l); got != int64(len(want)) {
			return fmt.Errorf("count of label %d: got %d want %d", l, got, len(want))
		}
		var got []value.NodeID
		buf := make([]value.NodeID, 3)
		for after := value.NodeID(0); ; after = got[len(got)-1] {
			part := v.ScanNodes(l, after, buf)
			got = append(got, part...)
			if len(part) < len(buf) {
				break
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("scan of label %d: got %v want %v", l, got, want)
		}
	}
	return nil
}

func (m *model) diffEdges(v *Version, maxEdge value.EdgeID) error {
	for id := value.EdgeID(0); id <= maxEdge+1; id++ {
		e, ok := m.edges[id]
		src, dst, t, got := v.EdgeEnds(id)
		if got != ok || src != e.src || dst != e.dst || t != e.typ {
			return fmt.Errorf("ends of %d: got %d %d %d %v want %+v %v", id, src, dst, t, got, e, ok)
		}
		if ms, _ := v.EdgeCreated(id); ms != e.created {
			return fmt.Errorf("created of edge %d: got %d want %d", id, ms, e.created)
		}
		for a, want := range e.attrs {
			val, state := v.EdgeAttr(id, EdgeAttr(a))
			if err := sameHot(val, state, want, attrExact(EdgeAttr(a))); err != nil {
				return fmt.Errorf("attribute %d of edge %d: %w", a, id, err)
			}
		}
		if s, ok := v.EdgeSlot(id); ok {
			if w, has := v.LearnedSlot(s); w != e.learned || has != e.hasLearn {
				return fmt.Errorf("learned weight of edge %d: got %v %v want %v %v", id, w, has, e.learned, e.hasLearn)
			}
		}
	}
	for t := value.TypeID(0); t < 310; t++ {
		var want []value.EdgeID
		for _, id := range sortedKeys(m.edges) {
			if t == 0 || m.edges[id].typ == t {
				want = append(want, id)
			}
		}
		if got := v.EdgeCount(t); got != int64(len(want)) {
			return fmt.Errorf("count of type %d: got %d want %d", t, got, len(want))
		}
		if got := v.ScanEdges(t, 0, make([]value.EdgeID, len(want)+1)); !slices.Equal(got, want) {
			return fmt.Errorf("scan of type %d: got %v want %v", t, got, want)
		}
		if len(want) > 1 {
			if got := v.ScanEdges(t, want[0], make([]value.EdgeID, 1)); got[0] != want[1] {
				return fmt.Errorf("scan of type %d after %d: got %v want %v", t, want[0], got, want[1])
			}
		}
	}
	return nil
}

func attrExact(a EdgeAttr) func(value.Value) bool {
	return func(v value.Value) bool {
		switch a {
		case Weight:
			return v.Kind() == value.KindInt && v.AsInt() < 1<<24 || v.Kind() == value.KindFloat && exactWeight(v.AsFloat())
		case Layer:
			return v.Kind() == value.KindInt && v.AsInt() >= 0 && v.AsInt() < 256
		}
		return v.Kind() == value.KindBool
	}
}

func (m *model) diffExpand(v *Version, maxNode value.NodeID) error {
	for id := value.NodeID(0); id <= maxNode+1; id++ {
		for _, dir := range []value.Direction{value.Out, value.In, value.Both} {
			for _, types := range [][]value.TypeID{nil, {1}, {2, 1, 2}, {300, 3}, {7}} {
				want := m.expand(id, dir, types)
				got := v.Expand(id, dir, types, nil)
				if !slices.Equal(got, want) {
					return fmt.Errorf("expand %d %v %v: got %v want %v", id, dir, types, got, want)
				}
				if n := v.Degree(id, dir, types); n != int64(len(want)) {
					return fmt.Errorf("degree %d %v %v: got %d want %d", id, dir, types, n, len(want))
				}
				if err := diffSlots(v, id, dir, types, want); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func diffSlots(v *Version, id value.NodeID, dir value.Direction, types []value.TypeID, want []value.Adjacent) error {
	s, ok := v.NodeSlot(id)
	if !ok {
		return nil
	}
	var got []value.Adjacent
	for _, h := range v.ExpandSlots(s, dir, types, nil) {
		got = append(got, value.Adjacent{Edge: v.EdgeID(h.Edge), Node: v.NodeID(h.Node), Type: h.Type, Out: h.Out})
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("expand slots of %d %v %v: got %v want %v", id, dir, types, got, want)
	}
	nb := v.Neighbours(s, dir, types, nil)
	for i, a := range want {
		if len(nb) != len(want) || v.NodeID(nb[i]) != a.Node {
			return fmt.Errorf("neighbours of %d %v %v: got %v want %v", id, dir, types, nb, want)
		}
	}
	return nil
}

func (m *model) diffDoomed(v *Version) error {
	want := map[value.NodeID]map[value.EdgeID]bool{}
	for k, e := range m.orphans {
		for _, id := range []value.NodeID{e.src, e.dst} {
			if _, alive := m.nodes[id]; !alive {
				if want[id] == nil {
					want[id] = map[value.EdgeID]bool{}
				}
				want[id][k] = true
			}
		}
	}
	got := v.Doomed(1000, nil)
	if !slices.Equal(got, sortedKeys(want)) {
		return fmt.Errorf("doomed: got %v want %v", got, sortedKeys(want))
	}
	for _, id := range got {
		edges := v.DoomedEdges(id, 1000, nil)
		slices.Sort(edges)
		if !slices.Equal(edges, sortedKeys(want[id])) {
			return fmt.Errorf("edges of doomed %d: got %v want %v", id, edges, sortedKeys(want[id]))
		}
	}
	return nil
}

// hasLabel tells of a node, living or dead; 0, for any, is always among its labels.
func (m *model) hasLabel(id value.NodeID, l value.LabelID) bool {
	if n, alive := m.nodes[id]; alive {
		return l == 0 || slices.Contains(n.labels, l)
	}
	return l == 0 || slices.Contains(m.dead[id], l)
}

func (m *model) diffPairs(v *Version) error {
	for _, t := range []value.TypeID{0, 1, 2, 3, 254, 255, 300, 301} {
		for src := value.LabelID(0); src < 6; src++ {
			for dst := value.LabelID(0); dst < 6; dst++ {
				want := int64(0)
				for _, edges := range []map[value.EdgeID]medge{m.edges, m.orphans} {
					for _, e := range edges {
						if (t == 0 || e.typ == t) && m.hasLabel(e.src, src) && m.hasLabel(e.dst, dst) {
							want++
						}
					}
				}
				if got, ok := v.EdgesBetween(src, t, dst); !ok || got != want {
					return fmt.Errorf("edges from label %d of type %d to label %d: got %d %v want %d", src, t, dst, got, ok, want)
				}
			}
		}
	}
	return nil
}
