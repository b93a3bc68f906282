// Package lifecycle changes memories after they were stored: one takes another's
// place, two contradict each other, one is forgotten and restored, grows old into a
// tier, or is pruned. It decides what to write; its caller writes and counts it.
package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/fault"
)

// Graph is what the changes are made to. Every write is counted for the statement.
type Graph interface {
	access.Reader
	// Now is when the statement began.
	Now() value.DateTime
	// Create makes a node. Null property values are left out.
	Create(labels []string, props ...value.Prop) (value.NodeID, error)
	// Set sets a property of a node or an edge; null removes it.
	Set(element value.Value, key string, v value.Value) error
	// Link makes an edge. Null property values are left out.
	Link(from, to value.NodeID, relType string, props ...value.Prop) error
	// Unlink deletes an edge.
	Unlink(value.EdgeID) error
	// Delete deletes a node with its edges.
	Delete(value.NodeID) error
	// Use notes that a memory was of use, with a strength from 0 to 1, and reports
	// whether that is going to be learned.
	Use(id value.NodeID, strength float64) bool
	// Minded notes that a memory is on the mind of a conversation.
	Minded(id value.NodeID, strength float64, conversation string)
	// Closed notes what was closed, for Settle.
	Closed(Closing)
	// Under is the Reader itself, which may offer more than one has to.
	Under() access.Reader
	// Step counts n units of work and ends a statement that is over its budget.
	Step(n int) error
}

// under returns the Reader that a Graph stands on, for what it may offer besides.
func under(g access.Reader) access.Reader {
	if own, ok := g.(Graph); ok {
		return own.Under()
	}
	return g
}

// Node returns the memory that an argument means: a node, or the external id of
// one. ok is false for null. What names the argument in errors.
func Node(g access.Reader, v value.Value, what string) (id value.NodeID, ok bool, err error) {
	switch v.Kind() {
	case value.KindNull:
		return 0, false, nil
	case value.KindNode:
		if !g.NodeExists(v.NodeID()) {
			return 0, false, fault.AtRuntime(fault.EntityNotFound, "DeletedEntityAccess", "%s: the node has been deleted in this statement", what)
		}
		return v.NodeID(), true, nil
	case value.KindString:
		found, err := g.NodesByID(v, nil)
		if err != nil {
			return 0, false, err
		}
		if len(found) == 0 {
			return 0, false, fault.AtRuntime(fault.EntityNotFound, "NoSuchMemory", "%s: there is no node with the id %s", what, v)
		}
		return found[0], true, nil
	}
	return 0, false, fault.AtRuntime(fault.TypeError, "InvalidArgumentType", "%s needs a NODE or the STRING of its id, but got %s", what, v.Kind().Named())
}

// both resolves the two arguments of a clause that joins memories.
func both(g access.Reader, a, b value.Value, whatA, whatB string) (x, y value.NodeID, ok bool, err error) {
	x, okX, err := Node(g, a, whatA)
	if err != nil {
		return 0, 0, false, err
	}
	y, okY, err := Node(g, b, whatB)
	return x, y, okX && okY, err
}

// prop reads a property of a node; null when nothing has a property of that name.
func prop(g access.Reader, id value.NodeID, key string) (value.Value, error) {
	k, ok := g.Key(key)
	if !ok {
		return value.Null, nil
	}
	return g.NodeProp(id, k)
}

// set sets properties of a node, in the order given.
func set(g Graph, id value.NodeID, props ...value.Prop) error {
	for _, p := range props {
		if err := g.Set(value.NodeRef(id), p.Key, p.Value); err != nil {
			return err
		}
	}
	return nil
}

// edges appends the edges of a type that leave a node, or with In reach it.
func edges(g access.Reader, id value.NodeID, dir access.Direction, relType string) ([]access.Adjacent, error) {
	t, ok := g.RelType(relType)
	if !ok {
		return nil, nil
	}
	return g.Expand(id, dir, []value.TypeID{t}, nil)
}

// between returns the edges of a type from a to b.
func between(g access.Reader, a, b value.NodeID, relType string) ([]value.EdgeID, error) {
	all, err := edges(g, a, access.Out, relType)
	var out []value.EdgeID
	for _, e := range all {
		if e.Node == b {
			out = append(out, e.Edge)
		}
	}
	return out, err
}

// Joined reports whether an edge of a type leads from a to b.
func Joined(g access.Reader, a, b value.NodeID, relType string) (bool, error) {
	there, err := between(g, a, b, relType)
	return len(there) > 0, err
}

// name is how a message names a memory: by its external id.
func name(g access.Reader, id value.NodeID) string {
	s, err := g.ElementID(id)
	if err != nil {
		return "a memory"
	}
	return s
}

func labelled(g access.Reader, id value.NodeID, label string) bool {
	l, ok := g.Label(label)
	return ok && g.HasLabel(id, l)
}

func status(g access.Reader, id value.NodeID) (string, error) {
	v, err := prop(g, id, vocab.KeyStatus)
	if err != nil || v.Kind() != value.KindString {
		return vocab.StatusActive, err
	}
	return v.AsString(), nil
}

func refused(detail, format string, args ...any) *fault.Error {
	return fault.AtRuntime(fault.ArgumentError, detail, format, args...)
}
