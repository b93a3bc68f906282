package model

import (
	"fmt"
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
)

// CreateNode implements access.Writer.
func (g *Graph) CreateNode(labels []value.LabelID, props []access.Prop) (value.NodeID, error) {
	stored := storedProps(props)
	if key, ok := g.Key("id"); ok {
		if err := g.checkID(0, stored[key]); err != nil {
			return 0, err
		}
	}
	n := &node{labels: map[value.LabelID]bool{}, props: stored}
	for _, l := range labels {
		n.labels[l] = true
	}
	g.lastNode++
	g.nodes[g.lastNode] = n
	return g.lastNode, nil
}

func storedProps(props []access.Prop) map[value.KeyID]value.Value {
	out := map[value.KeyID]value.Value{}
	for _, p := range props {
		if p.Value.IsNull() {
			delete(out, p.Key)
			continue
		}
		out[p.Key] = p.Value
	}
	return out
}

// checkID refuses a string id that another node has.
func (g *Graph) checkID(self value.NodeID, v value.Value) error {
	if v.Kind() != value.KindString {
		return nil
	}
	found, _ := g.NodesByID(v, nil)
	for _, id := range found {
		if id != self {
			return fmt.Errorf("a node with id %q exists already", v.AsString())
		}
	}
	return nil
}

// CreateEdge implements access.Writer.
func (g *Graph) CreateEdge(src, dst value.NodeID, t value.TypeID, props []access.Prop) (value.EdgeID, error) {
	s, d := g.nodes[src], g.nodes[dst]
	if s == nil || d == nil {
		return 0, fmt.Errorf("an edge needs both of its nodes, and node %d or %d is gone", src, dst)
	}
	g.lastEdge++
	g.edges[g.lastEdge] = &edge{src: src, dst: dst, typ: t, props: storedProps(props)}
	s.out = append(s.out, g.lastEdge)
	d.in = append(d.in, g.lastEdge)
	return g.lastEdge, nil
}

// SetNodeProp implements access.Writer.
func (g *Graph) SetNodeProp(id value.NodeID, key value.KeyID, v value.Value) (value.Value, error) {
	n := g.nodes[id]
	if n == nil {
		return value.Null, fmt.Errorf("node %d is gone", id)
	}
	if g.KeyName(key) == "id" {
		if err := g.checkID(id, v); err != nil {
			return value.Null, err
		}
	}
	return setProp(n.props, key, v), nil
}

func setProp(props map[value.KeyID]value.Value, key value.KeyID, v value.Value) value.Value {
	old := props[key]
	if v.IsNull() {
		delete(props, key)
	} else {
		props[key] = v
	}
	return old
}

// SetEdgeProp implements access.Writer.
func (g *Graph) SetEdgeProp(id value.EdgeID, key value.KeyID, v value.Value) (value.Value, error) {
	e := g.edges[id]
	if e == nil {
		return value.Null, fmt.Errorf("edge %d is gone", id)
	}
	return setProp(e.props, key, v), nil
}

// NodeKeys implements access.Writer.
func (g *Graph) NodeKeys(id value.NodeID, buf []value.KeyID) ([]value.KeyID, error) {
	if n := g.nodes[id]; n != nil {
		buf = appendKeys(n.props, buf)
	}
	return buf, nil
}

// EdgeKeys implements access.Writer.
func (g *Graph) EdgeKeys(id value.EdgeID, buf []value.KeyID) ([]value.KeyID, error) {
	if e := g.edges[id]; e != nil {
		buf = appendKeys(e.props, buf)
	}
	return buf, nil
}

func appendKeys(props map[value.KeyID]value.Value, buf []value.KeyID) []value.KeyID {
	start := len(buf)
	for k := range props {
		buf = append(buf, k)
	}
	slices.Sort(buf[start:])
	return buf
}

// AddLabel implements access.Writer.
func (g *Graph) AddLabel(id value.NodeID, l value.LabelID) (bool, error) {
	n := g.nodes[id]
	if n == nil {
		return false, fmt.Errorf("node %d is gone", id)
	}
	had := n.labels[l]
	n.labels[l] = true
	return !had, nil
}

// RemoveLabel implements access.Writer.
func (g *Graph) RemoveLabel(id value.NodeID, l value.LabelID) (bool, error) {
	n := g.nodes[id]
	if n == nil {
		return false, fmt.Errorf("node %d is gone", id)
	}
	had := n.labels[l]
	delete(n.labels, l)
	return had, nil
}

// DeleteNode implements access.Writer.
func (g *Graph) DeleteNode(id value.NodeID, detach bool) (int64, error) {
	n := g.nodes[id]
	if n == nil {
		return 0, nil
	}
	var gone int64
	if detach {
		for _, e := range slices.Concat(n.out, n.in) {
			if deleted, _ := g.DeleteEdge(e); deleted {
				gone++
			}
		}
	}
	delete(g.nodes, id)
	return gone, nil
}

// DeleteEdge implements access.Writer.
func (g *Graph) DeleteEdge(id value.EdgeID) (bool, error) {
	e := g.edges[id]
	if e == nil {
		return false, nil
	}
	if s := g.nodes[e.src]; s != nil {
		s.out = without(s.out, id)
	}
	if d := g.nodes[e.dst]; d != nil {
		d.in = without(d.in, id)
	}
	delete(g.edges, id)
	g.gone[id] = e
	return true, nil
}

func without(ids []value.EdgeID, id value.EdgeID) []value.EdgeID {
	i := slices.Index(ids, id)
	if i < 0 {
		return ids
	}
	return slices.Delete(slices.Clone(ids), i, i+1)
}
