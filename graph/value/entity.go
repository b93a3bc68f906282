package value

import "unsafe"

// Prop is one property of a node or edge, or one entry of a map.
type Prop struct {
	Key   string
	Value Value
}

// Node is a node as it was in one snapshot.
type Node struct {
	ID         NodeID
	ElementID  string   // external id: the string property id, else a ULID
	Labels     []string // in ascending order
	Properties []Prop   // in ascending order of key, as the user set them
}

// Edge is an edge as it was in one snapshot. It runs from Src to Dst.
type Edge struct {
	ID           EdgeID
	ElementID    string
	Type         string
	Src, Dst     NodeID
	SrcElementID string
	DstElementID string
	Properties   []Prop // in ascending order of key
}

// Path is an alternating walk: len(Nodes) == len(Edges)+1, and Edges[i] joins
// Nodes[i] and Nodes[i+1] in either direction. Its elements are of KindNode and
// KindEdge, all of them loaded or all of them references.
type Path struct {
	Nodes []Value
	Edges []Value
}

// NodeRef makes a reference to a node: an id whose content is not loaded. It
// never leaves the executor.
func NodeRef(id NodeID) Value { return Value{what: uint64(KindNode), num: uint64(id)} }

// EdgeRef makes a reference to an edge: an id whose content is not loaded.
func EdgeRef(id EdgeID) Value { return Value{what: uint64(KindEdge), num: uint64(id)} }

// OfNode makes a loaded node. The node must not change afterwards.
func OfNode(n *Node) Value {
	words, depth := weighProps(n.Properties)
	size := int(unsafe.Sizeof(*n)) + len(n.ElementID)
	for _, label := range n.Labels {
		size += int(unsafe.Sizeof(label)) + len(label)
	}
	return Value{
		what: describe(KindNode, saturated(words+uint64(wordsOf(size))), deeper(depth)),
		num:  uint64(n.ID), ptr: unsafe.Pointer(n),
	}
}

// OfEdge makes a loaded edge. The edge must not change afterwards.
func OfEdge(e *Edge) Value {
	words, depth := weighProps(e.Properties)
	size := int(unsafe.Sizeof(*e)) + len(e.ElementID) + len(e.SrcElementID) + len(e.DstElementID) + len(e.Type)
	return Value{
		what: describe(KindEdge, saturated(words+uint64(wordsOf(size))), deeper(depth)),
		num:  uint64(e.ID), ptr: unsafe.Pointer(e),
	}
}

// OfPath makes a path value. The path must not change afterwards.
func OfPath(p *Path) Value {
	nodes, depth := weigh(p.Nodes)
	edges, depth2 := weigh(p.Edges)
	return Value{
		what: describe(KindPath, saturated(nodes+edges+uint64(wordsOf(int(unsafe.Sizeof(*p))))), deeper(max(depth, depth2))), ptr: unsafe.Pointer(p),
	}
}

// NodeID returns the id of a node value, loaded or not; 0 for other kinds.
func (v Value) NodeID() NodeID {
	if v.Kind() != KindNode {
		return 0
	}
	return NodeID(v.num)
}

// EdgeID returns the id of an edge value, loaded or not; 0 for other kinds.
func (v Value) EdgeID() EdgeID {
	if v.Kind() != KindEdge {
		return 0
	}
	return EdgeID(v.num)
}

// AsNode returns the loaded node, or nil for a reference or another kind.
func (v Value) AsNode() *Node {
	if v.Kind() != KindNode {
		return nil
	}
	return (*Node)(v.ptr)
}

// AsEdge returns the loaded edge, or nil for a reference or another kind.
func (v Value) AsEdge() *Edge {
	if v.Kind() != KindEdge {
		return nil
	}
	return (*Edge)(v.ptr)
}

// AsPath returns the path, or nil for another kind.
func (v Value) AsPath() *Path {
	if v.Kind() != KindPath {
		return nil
	}
	return (*Path)(v.ptr)
}
