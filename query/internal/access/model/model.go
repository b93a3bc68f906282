// Package model is a graph of maps and slices for tests: the plainest thing
// that satisfies access.Writer. It is slow and has no transactions; Clone
// stands in for one.
package model

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Graph is the model. The zero Graph is not usable; see New.
type Graph struct {
	names    names
	nodes    map[value.NodeID]*node
	edges    map[value.EdgeID]*edge
	gone     map[value.EdgeID]*edge // deleted edges, for what EdgeEnds still tells
	lastNode value.NodeID
	lastEdge value.EdgeID
	schema   *schema.Set
	lastDef  uint64
	vocab    *vocab.Vocabulary
}

type node struct {
	labels map[value.LabelID]bool
	props  map[value.KeyID]value.Value
	out    []value.EdgeID // ascending
	in     []value.EdgeID
}

type edge struct {
	src, dst value.NodeID
	typ      value.TypeID
	props    map[value.KeyID]value.Value
}

var _ access.Writer = (*Graph)(nil)

// New makes an empty graph.
func New() *Graph {
	return &Graph{
		nodes: map[value.NodeID]*node{}, edges: map[value.EdgeID]*edge{}, gone: map[value.EdgeID]*edge{},
		vocab: &vocab.Vocabulary{},
	}
}

// Clone copies the graph, so that a failed statement can be undone.
func (g *Graph) Clone() *Graph {
	c := &Graph{
		names: g.names.clone(), nodes: make(map[value.NodeID]*node, len(g.nodes)),
		edges:    make(map[value.EdgeID]*edge, len(g.edges)),
		gone:     maps.Clone(g.gone),
		lastNode: g.lastNode, lastEdge: g.lastEdge, schema: g.schema, lastDef: g.lastDef,
		vocab: g.vocab,
	}
	for id, n := range g.nodes {
		c.nodes[id] = &node{
			labels: maps.Clone(n.labels), props: maps.Clone(n.props),
			out: slices.Clone(n.out), in: slices.Clone(n.in),
		}
	}
	for id, e := range g.edges {
		c.edges[id] = &edge{src: e.src, dst: e.dst, typ: e.typ, props: maps.Clone(e.props)}
	}
	return c
}

// ScanNodes implements access.Reader.
func (g *Graph) ScanNodes(label value.LabelID, after value.NodeID, buf []value.NodeID) ([]value.NodeID, error) {
	n := 0
	for id := after + 1; id <= g.lastNode && n < len(buf); id++ {
		if nd := g.nodes[id]; nd != nil && (label == 0 || nd.labels[label]) {
			buf[n] = id
			n++
		}
	}
	return buf[:n], nil
}

// NodeExists implements access.Reader.
func (g *Graph) NodeExists(id value.NodeID) bool { return g.nodes[id] != nil }

// HasLabel implements access.Reader.
func (g *Graph) HasLabel(id value.NodeID, l value.LabelID) bool {
	n := g.nodes[id]
	return n != nil && n.labels[l]
}

// Labels implements access.Reader.
func (g *Graph) Labels(id value.NodeID, buf []value.LabelID) []value.LabelID {
	n := g.nodes[id]
	if n == nil {
		return buf
	}
	start := len(buf)
	for l := range n.labels {
		buf = append(buf, l)
	}
	slices.Sort(buf[start:])
	return buf
}

// NodeProp implements access.Reader.
func (g *Graph) NodeProp(id value.NodeID, key value.KeyID) (value.Value, error) {
	n := g.nodes[id]
	if n == nil {
		return value.Null, nil
	}
	v, ok := n.props[key]
	if !ok && g.names.keys.name(uint32(key)) == "id" {
		return value.String(elementID('N', uint64(id))), nil
	}
	return v, nil
}

// GatherNodeProp implements access.Reader.
func (g *Graph) GatherNodeProp(ids []value.NodeID, key value.KeyID, out []value.Value) error {
	for i, id := range ids {
		out[i], _ = g.NodeProp(id, key)
	}
	return nil
}

// LoadNode implements access.Reader.
func (g *Graph) LoadNode(id value.NodeID) (*value.Node, error) {
	n := g.nodes[id]
	if n == nil {
		return nil, nil
	}
	out := &value.Node{ID: id, ElementID: g.nodeElementID(id), Properties: g.loadProps(n.props)}
	for l := range n.labels {
		out.Labels = append(out.Labels, g.LabelName(l))
	}
	sort.Strings(out.Labels)
	return out, nil
}

func (g *Graph) loadProps(props map[value.KeyID]value.Value) []value.Prop {
	var out []value.Prop
	for k, v := range props {
		out = append(out, value.Prop{Key: g.KeyName(k), Value: v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// Expand implements access.Reader.
func (g *Graph) Expand(id value.NodeID, dir access.Direction, types []value.TypeID, buf []access.Adjacent) ([]access.Adjacent, error) {
	n := g.nodes[id]
	if n == nil {
		return buf, nil
	}
	start := len(buf)
	if dir != access.In {
		for _, e := range n.out {
			if ed := g.edges[e]; matches(types, ed.typ) {
				buf = append(buf, access.Adjacent{Edge: e, Node: ed.dst, Type: ed.typ, Out: true})
			}
		}
	}
	if dir != access.Out {
		for _, e := range n.in {
			ed := g.edges[e]
			if dir == access.Both && ed.src == ed.dst {
				continue // seen among the outgoing ones
			}
			if matches(types, ed.typ) {
				buf = append(buf, access.Adjacent{Edge: e, Node: ed.src, Type: ed.typ})
			}
		}
	}
	found := buf[start:]
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		if a.Type != b.Type {
			return a.Type < b.Type
		}
		if a.Node != b.Node {
			return a.Node < b.Node
		}
		return a.Edge < b.Edge
	})
	return buf, nil
}

func matches(types []value.TypeID, t value.TypeID) bool {
	return len(types) == 0 || slices.Contains(types, t)
}

// Degree implements access.Reader.
func (g *Graph) Degree(id value.NodeID, dir access.Direction, types []value.TypeID) int64 {
	adj, _ := g.Expand(id, dir, types, nil)
	return int64(len(adj))
}

// EdgeEnds implements access.Reader.
func (g *Graph) EdgeEnds(id value.EdgeID) (src, dst value.NodeID, t value.TypeID, ok bool) {
	e, ok := g.edges[id]
	if !ok {
		if e = g.gone[id]; e == nil {
			return 0, 0, 0, false
		}
	}
	return e.src, e.dst, e.typ, ok
}

// ScanEdges implements access.Reader.
func (g *Graph) ScanEdges(t value.TypeID, after value.EdgeID, buf []value.EdgeID) ([]value.EdgeID, error) {
	n := 0
	for id := after + 1; id <= g.lastEdge && n < len(buf); id++ {
		if e := g.edges[id]; e != nil && (t == 0 || e.typ == t) {
			buf[n] = id
			n++
		}
	}
	return buf[:n], nil
}

// EdgeProp implements access.Reader.
func (g *Graph) EdgeProp(id value.EdgeID, key value.KeyID) (value.Value, error) {
	e := g.edges[id]
	if e == nil {
		return value.Null, nil
	}
	v, ok := e.props[key]
	if !ok && g.names.keys.name(uint32(key)) == "id" {
		return value.String(elementID('E', uint64(id))), nil
	}
	return v, nil
}

// LoadEdge implements access.Reader.
func (g *Graph) LoadEdge(id value.EdgeID) (*value.Edge, error) {
	e := g.edges[id]
	if e == nil {
		return nil, nil
	}
	return &value.Edge{
		ID: id, ElementID: elementOr(g, e.props, 'E', uint64(id)), Type: g.RelTypeName(e.typ),
		Src: e.src, Dst: e.dst, SrcElementID: g.nodeElementID(e.src), DstElementID: g.nodeElementID(e.dst),
		Properties: g.loadProps(e.props),
	}, nil
}

func (g *Graph) nodeElementID(id value.NodeID) string {
	var props map[value.KeyID]value.Value
	if n := g.nodes[id]; n != nil {
		props = n.props
	}
	return elementOr(g, props, 'N', uint64(id))
}

func elementOr(g *Graph, props map[value.KeyID]value.Value, kind byte, id uint64) string {
	if k, ok := g.Key("id"); ok && props[k].Kind() == value.KindString {
		return props[k].AsString()
	}
	return elementID(kind, id)
}

// elementID has the length and alphabet of a ULID but tells which entity it is.
func elementID(kind byte, id uint64) string { return fmt.Sprintf("01%c%023d", kind, id) }

// NodesByID implements access.Reader.
func (g *Graph) NodesByID(v value.Value, buf []value.NodeID) ([]value.NodeID, error) {
	key, _ := g.Key("id")
	for id := value.NodeID(1); id <= g.lastNode; id++ {
		n := g.nodes[id]
		if n == nil {
			continue
		}
		stored, has := n.props[key]
		switch {
		case has && value.Equal(stored, v) == value.True:
			buf = append(buf, id)
		case !has && v.Kind() == value.KindString && v.AsString() == elementID('N', uint64(id)):
			buf = append(buf, id)
		}
	}
	return buf, nil
}

// NodeCount implements access.Statistics.
func (g *Graph) NodeCount(label value.LabelID) int64 {
	if label == 0 {
		return int64(len(g.nodes))
	}
	var n int64
	for _, nd := range g.nodes {
		if nd.labels[label] {
			n++
		}
	}
	return n
}

// EdgesBetween implements access.PairCounter.
func (g *Graph) EdgesBetween(src value.LabelID, t value.TypeID, dst value.LabelID) (n int64, ok bool) {
	for _, e := range g.edges {
		if (t == 0 || e.typ == t) && (src == 0 || g.nodes[e.src].labels[src]) && (dst == 0 || g.nodes[e.dst].labels[dst]) {
			n++
		}
	}
	return n, true
}

// EdgeCount implements access.Statistics.
func (g *Graph) EdgeCount(t value.TypeID) int64 {
	if t == 0 {
		return int64(len(g.edges))
	}
	var n int64
	for _, e := range g.edges {
		if e.typ == t {
			n++
		}
	}
	return n
}
