// Package extid derives the external ids of nodes and edges that have no string
// id of their own. An id is a ULID (github.com/ulid/spec): 48 bits of creation
// time in milliseconds, then 80 bits that hold the database's tag and the
// internal id. So no index is needed: decoding finds the record, and time and
// tag tell a foreign or invented id from a real one.
package extid

import (
	"encoding/binary"

	"github.com/oklog/ulid/v2"

	"engram/graph/value"
)

const (
	tagBits = 40
	idMax   = 1<<40 - 1
	timeMax = 1<<48 - 1
)

// Tag is a database's random tag, 40 bits, whose lowest bit is clear.
type Tag uint64

// TagOf makes a tag from random bits.
func TagOf(random uint64) Tag { return Tag(random & (1<<tagBits - 1) &^ 1) }

// Node returns the derived external id of a node created at ms since 1970.
func (t Tag) Node(id value.NodeID, ms int64) string { return t.encode(uint64(id), ms, 0) }

// Edge returns the derived external id of an edge.
func (t Tag) Edge(id value.EdgeID, ms int64) string { return t.encode(uint64(id), ms, 1) }

func (t Tag) encode(id uint64, ms int64, kind uint64) string {
	var u ulid.ULID
	tag := uint64(t) | kind
	binary.BigEndian.PutUint64(u[0:], uint64(ClampMS(ms))<<16|tag>>24)
	binary.BigEndian.PutUint64(u[8:], tag<<40|id&idMax)
	return u.String()
}

// ClampMS limits a clock's reading to what an id can hold.
func ClampMS(ms int64) int64 { return min(max(ms, 0), timeMax) }

// ParseNode returns the node that an external id of this database names and the
// creation time it claims, which the caller must compare with the record's. ok
// is false for every text that Node could not have made.
func (t Tag) ParseNode(s string) (id value.NodeID, ms int64, ok bool) {
	n, ms, ok := t.parse(s, 0)
	return value.NodeID(n), ms, ok
}

// ParseEdge is ParseNode for edges.
func (t Tag) ParseEdge(s string) (id value.EdgeID, ms int64, ok bool) {
	n, ms, ok := t.parse(s, 1)
	return value.EdgeID(n), ms, ok
}

func (t Tag) parse(s string, kind uint64) (id uint64, ms int64, ok bool) {
	if len(s) != ulid.EncodedSize {
		return 0, 0, false
	}
	u, err := ulid.ParseStrict(s)
	if err != nil || u.String() != s { // another spelling is another string
		return 0, 0, false
	}
	hi, lo := binary.BigEndian.Uint64(u[0:]), binary.BigEndian.Uint64(u[8:])
	tag := hi&0xFFFF<<24 | lo>>40
	id = lo & idMax
	if tag != uint64(t)|kind || id == 0 {
		return 0, 0, false
	}
	return id, int64(hi >> 16), true
}
