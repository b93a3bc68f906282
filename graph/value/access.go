package value

// Direction says which way an edge is followed, seen from the node at hand.
type Direction uint8

// The directions.
const (
	Out Direction = iota
	In
	Both
)

// Adjacent is one edge seen from a node: the edge, its type and the node at the
// other end. A self loop is seen once in direction Both.
type Adjacent struct {
	Edge EdgeID
	Node NodeID // the other end
	Type TypeID
	Out  bool // the edge leaves the node it was seen from
}

// Weighted is one edge as activation spreads over it.
type Weighted struct {
	Adjacent
	// Weight is the one the edge asserts, as a float32; Has says whether it asserts a
	// number.
	Weight float32
	// Learned is what was learned to add to that.
	Learned float32
	Has     bool
}

// KeyProp is one property under its interned key.
type KeyProp struct {
	Key   KeyID
	Value Value
}

// TextHit is one result of a text search.
type TextHit struct {
	Node  NodeID
	Score float64
	Terms []string // the words of the query that matched, as typed, best first
}

// VectorHit is a node near to a direction, with the cosine of the angle between, -1
// to 1.
type VectorHit struct {
	Node  NodeID
	Score float64
}

// TermCount is a word and the number of nodes whose text has it.
type TermCount struct {
	Term  string
	Nodes int64
}

// Activity is how a node was used, as was learned.
type Activity struct {
	Uses int64
	// LastUsed is in milliseconds since 1970; 0 when it was not used.
	LastUsed int64
}

// Use is one time at which memories were used together: an entry of the learning
// queue.
type Use struct {
	At    int64 // milliseconds since 1970
	Nodes []UsedNode
}

// UsedNode is a memory that was used.
type UsedNode struct {
	Node     NodeID
	Strength float64 // how much it was of use, from 0 to 1
	// Seed says that the question itself named the memory: two of those tell nothing
	// about each other.
	Seed bool
}

// Learned is one event of learning.
type Learned struct {
	At   int64  // milliseconds since 1970
	Kind string // "used", "strengthened" or "linked"
	Node NodeID // of used
	Edge EdgeID // of strengthened and linked
	// Weight was added to what the edge had learned, of strengthened.
	Weight float64
}
