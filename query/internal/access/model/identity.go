package model

import "engram/graph/value"

// ElementID implements access.Reader.
func (g *Graph) ElementID(id value.NodeID) (string, error) { return g.nodeElementID(id), nil }

// HasText implements access.Reader: every string property but id is text here.
func (g *Graph) HasText(id value.NodeID) (bool, error) {
	n, ok := g.nodes[id]
	if !ok {
		return false, nil
	}
	for _, k := range appendKeys(n.props, nil) {
		if v := n.props[k]; v.Kind() == value.KindString && v.AsString() != "" && g.KeyName(k) != "id" {
			return true, nil
		}
	}
	return false, nil
}
