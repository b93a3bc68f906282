package physical

import (
	"engram/graph/value"
)

// loader replaces references to nodes and edges by their content, in rows that
// leave the executor. A deleted node or edge is replaced by an empty one.
type loader struct {
	x     *exec
	nodes map[value.NodeID]value.Value
	edges map[value.EdgeID]value.Value
	loads int
	held  int64 // bytes of what is kept
}

// keepLoaded is how many bytes of nodes and edges stay loaded between the rows of a
// result that leaves memory.
const keepLoaded = 8 << 20

// trim lets go of what is kept when it is much.
func (l *loader) trim() error {
	if l.held < keepLoaded {
		return nil
	}
	held := l.held
	l.nodes, l.edges, l.held = nil, nil, 0
	return l.x.grow(-held)
}

// took counts content that was loaded.
func (l *loader) took(v value.Value) error {
	n := int64(v.Size())
	l.held += n
	return l.x.grow(n)
}

// remember reports whether loaded content should be kept for the next reference
// to it: for a handful of references the map would cost more than it saves.
func (l *loader) remember() bool {
	l.loads++
	return l.loads > 8
}

func (l *loader) load(rows [][]value.Value) error {
	for _, row := range rows {
		for i, v := range row {
			if !hasRefs(v) {
				continue
			}
			loaded, err := l.value(v)
			if err != nil {
				return err
			}
			row[i] = loaded
		}
		if err := l.x.step(1); err != nil {
			return err
		}
	}
	return nil
}

// hasRefs reports whether v might hold a node or an edge.
func hasRefs(v value.Value) bool {
	switch v.Kind() {
	case value.KindNode, value.KindEdge, value.KindPath, value.KindList, value.KindMap:
		return true
	}
	return false
}

func (l *loader) value(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindNode:
		return l.node(v)
	case value.KindEdge:
		return l.edge(v)
	case value.KindPath:
		return l.path(v.AsPath())
	case value.KindList:
		out, err := l.list(v.AsList())
		return value.List(out), err
	case value.KindMap:
		entries := append([]value.Prop(nil), v.AsMap().Entries...)
		for i := range entries {
			var err error
			if entries[i].Value, err = l.value(entries[i].Value); err != nil {
				return v, err
			}
		}
		return value.Map(entries), nil
	}
	return v, nil
}

func (l *loader) list(elems []value.Value) ([]value.Value, error) {
	some := false
	for _, e := range elems {
		some = some || hasRefs(e)
	}
	if !some {
		return elems, nil
	}
	out := make([]value.Value, len(elems))
	for i, e := range elems {
		var err error
		if out[i], err = l.value(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *loader) node(v value.Value) (value.Value, error) {
	id := v.NodeID()
	if loaded, ok := l.nodes[id]; ok {
		return loaded, nil
	}
	n, err := l.x.r.LoadNode(id)
	if err != nil {
		return v, err
	}
	if n == nil {
		n = &value.Node{ID: id}
	}
	out := value.OfNode(n)
	if l.remember() {
		if l.nodes == nil {
			l.nodes = map[value.NodeID]value.Value{}
		}
		l.nodes[id] = out
	}
	return out, l.took(out)
}

func (l *loader) edge(v value.Value) (value.Value, error) {
	id := v.EdgeID()
	if loaded, ok := l.edges[id]; ok {
		return loaded, nil
	}
	e, err := l.x.r.LoadEdge(id)
	if err != nil {
		return v, err
	}
	if e == nil {
		e = &value.Edge{ID: id}
		if l.x.w != nil {
			gone := l.x.w.goneEdges[id]
			e.Src, e.Dst, e.Type = gone.src, gone.dst, l.x.r.RelTypeName(gone.typ)
		}
	}
	out := value.OfEdge(e)
	if l.remember() {
		if l.edges == nil {
			l.edges = map[value.EdgeID]value.Value{}
		}
		l.edges[id] = out
	}
	return out, l.took(out)
}

func (l *loader) path(p *value.Path) (value.Value, error) {
	nodes, err := l.list(p.Nodes)
	if err != nil {
		return value.Null, err
	}
	edges, err := l.list(p.Edges)
	if err != nil {
		return value.Null, err
	}
	return value.OfPath(&value.Path{Nodes: nodes, Edges: edges}), nil
}
