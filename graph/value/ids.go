package value

// NodeID identifies a node inside one namespace. Ids grow monotonically from 1
// and are never reused; 0 means "no node".
type NodeID uint64

// EdgeID identifies an edge inside one namespace. Ids grow monotonically from
// 1 and are never reused; 0 means "no edge".
type EdgeID uint64

// LabelID, TypeID and KeyID are interned names of labels, relation types and
// property keys. 0 means "no such name".
type (
	LabelID uint32
	TypeID  uint32
	KeyID   uint32
)
