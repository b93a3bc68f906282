package graph

import (
	"crypto/sha256"
	"encoding/binary"

	"engram/graph/internal/key"
	"engram/graph/value"
)

// Kinds of keys in the index space. Numbers are part of the file format.
const (
	indexNodeID    byte = 1 + iota // string id of a node: unique, the value is the node
	indexNodeOther                 // id of another kind, then the node
	indexEdgeID                    // the same for edges
	indexEdgeOther
	indexDeclared // the id of an index, a value for each of its properties, the element
)

// Kinds of keys in the overflow space: then the id, then the property key.
const (
	overflowNode byte = 1
	overflowEdge byte = 2
)

// indexKeyMax bounds an index key; a longer one, of a long list, is cut and
// completed by a hash.
const indexKeyMax = 1024

// indexKey makes the index key of an id property's value, without the element
// behind it; unique tells whether the value names at most one element. ok is
// false for values that are not indexed.
func indexKey(edge bool, v value.Value) (k []byte, unique, ok bool) {
	kind := indexNodeOther
	if v.Kind() == value.KindString {
		kind, unique = indexNodeID, true
	}
	if edge {
		kind += indexEdgeID - indexNodeID
	}
	k, err := key.Append([]byte{kind}, v)
	if err != nil {
		return nil, false, false
	}
	if len(k) > indexKeyMax {
		sum := sha256.Sum256(k)
		k = append(k[:indexKeyMax/2], sum[:16]...)
	}
	return k, unique, true
}

func overflowKey(kind byte, id uint64, k value.KeyID) []byte {
	b := key.Uint(append(make([]byte, 0, 13), kind), id)
	return binary.BigEndian.AppendUint32(b, uint32(k))
}

func nodeOverflow(id value.NodeID, k value.KeyID) []byte {
	return overflowKey(overflowNode, uint64(id), k)
}

func edgeOverflow(id value.EdgeID, k value.KeyID) []byte {
	return overflowKey(overflowEdge, uint64(id), k)
}

// blockKey is the key of a block of edges.
func blockKey(block uint64) []byte { return key.Uint(make([]byte, 0, 8), block) }

// Keys in the meta space.
var (
	metaIdentity = []byte("graph/identity")
	metaNodeMark = []byte("graph/mark/node")
	metaEdgeMark = []byte("graph/mark/edge")
	metaGraves   = []byte("graph/grave/") // then the node
)

func graveKey(id value.NodeID) []byte {
	return key.Uint(append([]byte(nil), metaGraves...), uint64(id))
}
