package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/lifecycle"
)

// changes lets package lifecycle change the graph; it counts what is written.
type changes struct {
	access.Reader
	f *frame
}

// Now implements lifecycle.Graph.
func (c changes) Now() value.DateTime { return c.f.env.Statement }

// Set implements lifecycle.Graph.
func (c changes) Set(element value.Value, key string, v value.Value) error {
	return setProp(c.f, element, key, v)
}

// Create implements lifecycle.Graph.
func (c changes) Create(labels []string, props ...value.Prop) (value.NodeID, error) {
	var carried []value.LabelID
	for _, name := range labels {
		l, err := c.f.w.w.InternLabel(name)
		if err != nil {
			return 0, constraint(err)
		}
		carried = append(carried, l)
	}
	stored, err := c.props(props)
	if err != nil {
		return 0, err
	}
	return c.f.w.createNode(carried, stored)
}

// props interns the keys of properties that are not null.
func (c changes) props(props []value.Prop) ([]access.Prop, error) {
	var stored []access.Prop
	for _, p := range props {
		if p.Value.IsNull() {
			continue
		}
		if err := storable(p.Key, p.Value); err != nil {
			return nil, err
		}
		k, err := c.f.w.w.InternKey(p.Key)
		if err != nil {
			return nil, constraint(err)
		}
		stored = append(stored, access.Prop{Key: k, Value: p.Value})
	}
	return stored, nil
}

// Link implements lifecycle.Graph.
func (c changes) Link(from, to value.NodeID, relType string, props ...value.Prop) error {
	t, err := c.f.w.w.InternRelType(relType)
	if err != nil {
		return constraint(err)
	}
	stored, err := c.props(props)
	if err != nil {
		return err
	}
	_, err = c.f.w.createEdge(from, to, t, stored)
	return err
}

// Unlink implements lifecycle.Graph.
func (c changes) Unlink(id value.EdgeID) error { return c.f.w.deleteEdge(id) }

// Delete implements lifecycle.Graph.
func (c changes) Delete(id value.NodeID) error { return c.f.w.deleteNode(id, true) }

// Closed implements lifecycle.Graph.
func (c changes) Closed(x lifecycle.Closing) { c.f.closed = append(c.f.closed, x) }

// Step implements lifecycle.Graph.
func (c changes) Step(n int) error { return c.f.step(n) }
