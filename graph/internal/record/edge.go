package record

import (
	"encoding/binary"
	"fmt"
	"sort"

	"engram/graph/value"
)

// BlockSize is how many edge ids share one block: edge e is in block e/64.
const BlockSize = 64

// Edge is a stored edge.
type Edge struct {
	ID        value.EdgeID
	Type      value.TypeID
	Src, Dst  value.NodeID
	CreatedMS int64
	Props     []Prop // in ascending order of key
}

// EdgeLarge is a value of an edge to store out of line.
type EdgeLarge struct {
	Edge value.EdgeID
	Large
}

// BlockOf returns the number of the block that holds an edge.
func BlockOf(id value.EdgeID) uint64 { return uint64(id) / BlockSize }

// AppendBlock appends the payload of a block: its live edges in ascending order
// of id.
func AppendBlock(b []byte, edges []Edge) ([]byte, []EdgeLarge, error) {
	var large []EdgeLarge
	b = binary.AppendUvarint(b, uint64(len(edges)))
	last := int64(0)
	var props []byte
	for i := range edges {
		e := &edges[i]
		b = append(b, byte(e.ID%BlockSize))
		b = binary.AppendUvarint(b, uint64(e.Type))
		b = binary.AppendUvarint(b, uint64(e.Src))
		b = binary.AppendUvarint(b, uint64(e.Dst))
		b = binary.AppendVarint(b, e.CreatedMS-last)
		last = e.CreatedMS
		var more []Large
		var err error
		if props, more, err = appendProps(props[:0], e.Props); err != nil {
			return nil, nil, err
		}
		for _, l := range more {
			large = append(large, EdgeLarge{Edge: e.ID, Large: l})
		}
		b = binary.AppendUvarint(b, uint64(len(props)))
		b = append(b, props...)
	}
	return b, large, nil
}

// WalkBlock calls fn for the edges of a block in ascending order of id, with
// Props nil and the encoded properties apart, until fn returns false.
func WalkBlock(block uint64, b []byte, fn func(e Edge, props []byte) bool) error {
	c := cursor{b: b}
	n := c.count(6)
	if n > BlockSize {
		c.fail(fmt.Errorf("%d edges in a block of %d", n, BlockSize))
	}
	last, lastOff := int64(0), -1
	for i := 0; i < n && c.err == nil; i++ {
		off := int(c.byte())
		if off >= BlockSize || off <= lastOff {
			c.fail(fmt.Errorf("edge offset %d after %d", off, lastOff))
			break
		}
		lastOff = off
		e := Edge{ID: value.EdgeID(block*BlockSize + uint64(off))}
		e.Type = value.TypeID(c.uvarint())
		e.Src, e.Dst = value.NodeID(c.uvarint()), value.NodeID(c.uvarint())
		last += c.varint()
		e.CreatedMS = last
		props := c.bytes()
		if c.err == nil && !fn(e, props) {
			return nil
		}
	}
	if c.err == nil && len(c.b) > 0 {
		c.fail(fmt.Errorf("%d bytes behind the block", len(c.b)))
	}
	return c.err
}

// DecodeBlock decodes a whole block.
func DecodeBlock(block uint64, b []byte) ([]Edge, error) {
	var edges []Edge
	var bad error
	err := WalkBlock(block, b, func(e Edge, props []byte) bool {
		e.Props, bad = DecodeProps(props)
		edges = append(edges, e)
		return bad == nil
	})
	if bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	return edges, nil
}

// DecodeProps decodes the encoded properties that WalkBlock hands out.
func DecodeProps(b []byte) ([]Prop, error) {
	c := &cursor{b: b}
	props := c.props()
	if c.err == nil && len(c.b) > 0 {
		c.fail(fmt.Errorf("%d bytes behind the properties", len(c.b)))
	}
	return props, c.err
}

// EdgeInBlock finds one edge in a block, with its properties decoded; nil when
// it is not there.
func EdgeInBlock(id value.EdgeID, b []byte) (*Edge, error) {
	e, props, ok, err := findEdge(id, b)
	if !ok || err != nil {
		return nil, err
	}
	if e.Props, err = DecodeProps(props); err != nil {
		return nil, err
	}
	return &e, nil
}

// EdgePropInBlock finds one property of one edge in a block; there is false when
// the edge is not in it, ok is false when it has no such property.
func EdgePropInBlock(id value.EdgeID, b []byte, key value.KeyID) (p Prop, there, ok bool, err error) {
	_, props, there, err := findEdge(id, b)
	if !there || err != nil {
		return Prop{}, there, false, err
	}
	p, ok, err = FindProp(props, key)
	return p, true, ok, err
}

// findEdge finds one edge in a block.
func findEdge(id value.EdgeID, b []byte) (found Edge, props []byte, ok bool, err error) {
	err = WalkBlock(BlockOf(id), b, func(e Edge, encoded []byte) bool {
		if e.ID == id {
			found, props, ok = e, encoded, true
		}
		return e.ID < id
	})
	return found, props, ok, err
}

// PutEdge replaces or inserts an edge in a block's list.
func PutEdge(edges []Edge, e Edge) []Edge {
	i := sort.Search(len(edges), func(i int) bool { return edges[i].ID >= e.ID })
	if i < len(edges) && edges[i].ID == e.ID {
		edges[i] = e
		return edges
	}
	edges = append(edges, Edge{})
	copy(edges[i+1:], edges[i:])
	edges[i] = e
	return edges
}

// DropEdge takes an edge out of a block's list.
func DropEdge(edges []Edge, id value.EdgeID) []Edge {
	i := sort.Search(len(edges), func(i int) bool { return edges[i].ID >= id })
	if i < len(edges) && edges[i].ID == id {
		return append(edges[:i], edges[i+1:]...)
	}
	return edges
}
