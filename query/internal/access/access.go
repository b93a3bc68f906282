// Package access is what the query stages ask of a graph: the narrow view of
// one transaction that binding, planning and execution read and write through.
// A transaction of package graph satisfies it; tests use a map-based model.
//
// Ids handed out are those of package value. Methods that fill a buffer return
// the filled part; the caller owns it. Nothing here is safe for concurrent use.
package access

import (
	"strings"

	"engram/graph/value"
)

// The types shared with package graph, whose transactions satisfy these
// interfaces without importing them.
type (
	Direction = value.Direction
	Adjacent  = value.Adjacent
	Prop      = value.KeyProp
	TextHit   = value.TextHit
)

// The directions.
const (
	Out  = value.Out
	In   = value.In
	Both = value.Both
)

// Names resolves interned names. Unknown names have no id: nothing can match
// them, and reading through them yields null.
type Names interface {
	Label(name string) (value.LabelID, bool)
	LabelName(value.LabelID) string
	RelType(name string) (value.TypeID, bool)
	RelTypeName(value.TypeID) string
	Key(name string) (value.KeyID, bool)
	KeyName(value.KeyID) string
	// SchemaVersion changes whenever a name or an index is added or dropped.
	SchemaVersion() uint64
}

// Statistics feed the planner. They are exact for the transaction's snapshot.
type Statistics interface {
	NodeCount(label value.LabelID) int64 // label 0: all nodes
	EdgeCount(t value.TypeID) int64      // type 0: all edges
}

// PairCounter is what a Reader may offer besides: edges counted by the labels of
// their ends.
type PairCounter interface {
	// EdgesBetween returns about how many edges of type t (0: any) begin at a node
	// with label src and end at one with label dst (0: any). ok is false when that is
	// not known.
	EdgesBetween(src value.LabelID, t value.TypeID, dst value.LabelID) (n int64, ok bool)
}

// Reader reads one snapshot, plus the transaction's own writes.
type Reader interface {
	Names
	Statistics

	// ScanNodes fills buf with ids greater than after, in ascending order, of
	// nodes that carry label (0: any). A short fill means the end.
	ScanNodes(label value.LabelID, after value.NodeID, buf []value.NodeID) ([]value.NodeID, error)
	NodeExists(value.NodeID) bool
	HasLabel(value.NodeID, value.LabelID) bool
	// Labels appends the node's labels in ascending order of id.
	Labels(id value.NodeID, buf []value.LabelID) []value.LabelID
	// NodeProp returns Null when the node has no such property. For key "id" of
	// a node without a stored id it returns the generated external id.
	NodeProp(value.NodeID, value.KeyID) (value.Value, error)
	// GatherNodeProp is NodeProp for many: out[i] belongs to ids[i].
	GatherNodeProp(ids []value.NodeID, key value.KeyID, out []value.Value) error
	// ElementID returns a node's external id.
	ElementID(value.NodeID) (string, error)
	// LoadNode copies the whole node out; nil when there is none.
	LoadNode(value.NodeID) (*value.Node, error)

	// Expand appends the edges of a node in direction dir whose type is one of
	// types (empty: any), ordered by type, neighbour and edge id.
	Expand(id value.NodeID, dir Direction, types []value.TypeID, buf []Adjacent) ([]Adjacent, error)
	Degree(id value.NodeID, dir Direction, types []value.TypeID) int64
	// EdgeEnds of an edge that this transaction has deleted reports false, but
	// still says what it was: type() of a deleted edge has an answer.
	EdgeEnds(value.EdgeID) (src, dst value.NodeID, t value.TypeID, ok bool)
	// ScanEdges is ScanNodes for edges of a type (0: any).
	ScanEdges(t value.TypeID, after value.EdgeID, buf []value.EdgeID) ([]value.EdgeID, error)
	EdgeProp(value.EdgeID, value.KeyID) (value.Value, error)
	LoadEdge(value.EdgeID) (*value.Edge, error)

	// NodesByID finds nodes whose property id equals v, in ascending order. A
	// string names at most one; other kinds may name several.
	NodesByID(v value.Value, buf []value.NodeID) ([]value.NodeID, error)
	// SearchText ranks nodes by BM25 for the words of text, best first, ties by
	// external id. keep, when not nil, drops nodes before ranking.
	SearchText(text string, limit int, keep func(value.NodeID) bool) ([]TextHit, error)
	// HasText reports whether a node has text that SearchText could find.
	HasText(value.NodeID) (bool, error)
}

// Writer changes the graph. A write is visible to the reads that follow it.
type Writer interface {
	Reader

	InternLabel(name string) (value.LabelID, error)
	InternRelType(name string) (value.TypeID, error)
	InternKey(name string) (value.KeyID, error)

	// CreateNode stores a node. Null property values are left out. A string id
	// that is taken already is an error.
	CreateNode(labels []value.LabelID, props []Prop) (value.NodeID, error)
	CreateEdge(src, dst value.NodeID, t value.TypeID, props []Prop) (value.EdgeID, error)
	// SetNodeProp sets one property; Null removes it. It reports what was there.
	SetNodeProp(value.NodeID, value.KeyID, value.Value) (old value.Value, err error)
	SetEdgeProp(value.EdgeID, value.KeyID, value.Value) (old value.Value, err error)
	// NodeKeys and EdgeKeys append the keys of the stored properties.
	NodeKeys(id value.NodeID, buf []value.KeyID) ([]value.KeyID, error)
	EdgeKeys(id value.EdgeID, buf []value.KeyID) ([]value.KeyID, error)
	AddLabel(value.NodeID, value.LabelID) (added bool, err error)
	RemoveLabel(value.NodeID, value.LabelID) (removed bool, err error)
	// DeleteNode removes a node and with detach its edges too; it reports how
	// many edges went. Without detach the node may still have edges: the commit
	// then fails unless the statement deletes them as well.
	DeleteNode(id value.NodeID, detach bool) (edges int64, err error)
	DeleteEdge(value.EdgeID) (deleted bool, err error)
}

// HotScanner is what a Reader may offer besides: it keeps some properties in
// memory and compares them while it scans.
type HotScanner interface {
	// ScanNodesWithin is ScanNodes for the nodes whose property is a number within
	// bounds. ok is false when there is no quicker way than to look at every node.
	// The scan goes on after the id last, unless done: a short fill does not mean
	// the end.
	ScanNodesWithin(label value.LabelID, after value.NodeID, key value.KeyID, in value.Bounds, buf []value.NodeID) (
		found []value.NodeID, last value.NodeID, done, ok bool, err error)
}

// LabelReader is what a Reader may offer besides: labels in bulk.
type LabelReader interface {
	// FirstLabels fills out with the first of each node's labels in the order of
	// Labels; 0 for a node without one and for one that is not there.
	FirstLabels(ids []value.NodeID, out []value.LabelID)
}

// TextAnalyser is what a Reader may offer besides: how SearchText sees words.
type TextAnalyser interface {
	// SearchTerms returns what SearchText looks for in a text; nothing when that
	// could be in no document, as of words like "the" and "of".
	SearchTerms(text string) []string
	// TermFrequency returns each word of a text that is searched for, as it is
	// typed and once, in order, with the number of nodes that have it. spend is told
	// of what that takes, nodes looked at and bytes; its error ends it.
	TermFrequency(text string, spend func(nodes, bytes int) error) ([]value.TermCount, error)
}

// HasTerms reports whether a text has anything to search for. Of a long one the
// beginning mostly tells.
func HasTerms(a TextAnalyser, text string) bool {
	const enough = 1024
	if len(text) > 2*enough {
		if end := strings.LastIndexByte(text[:enough], ' '); end > 0 && len(a.SearchTerms(text[:end])) > 0 {
			return true
		}
	}
	return len(a.SearchTerms(text)) > 0
}

// TextRanker is what a Reader may offer besides: text search for a caller that ranks
// the hits by more than text.
type TextRanker interface {
	// RankText is SearchText without words; where the least score has more nodes than
	// there is room for, none of them is a hit, as long as apart others are; and the
	// order of equal scores is of no meaning.
	RankText(text string, limit, apart int, keep func(value.NodeID) bool) ([]TextHit, error)
	// MatchedWords returns, for each of some nodes, the words of text that it has, as
	// typed, best first.
	MatchedWords(text string, nodes []value.NodeID) ([][]string, error)
	// TextFieldHas reports whether a word of a text is in a text field of any node.
	TextFieldHas(field, words string) (bool, error)
}

// EdgeCounter is what a Reader may offer besides whose statistics count edges that its
// other methods leave out.
type EdgeCounter interface {
	// CountEdges returns how many edges of a type (0: any) there are to be read.
	CountEdges(t value.TypeID) (int64, error)
}

// WeightReader is what a Reader may offer besides: edges with their weights.
type WeightReader interface {
	// ExpandWeighted appends the edges of a node in both directions whose type is one
	// of types (empty: any), in no order that means anything.
	ExpandWeighted(id value.NodeID, types []value.TypeID, buf []value.Weighted) ([]value.Weighted, error)
}

// VectorReader is what a Reader may offer besides: what texts mean.
type VectorReader interface {
	// EmbedText returns the vector of a text; nil when the text says nothing to the
	// model, or when only an endpoint could tell.
	EmbedText(text string) []float32
	// RankVectors returns the nodes whose texts are nearest to a vector, best first,
	// ties by external id, none that is no nearer than the average.
	RankVectors(near []float32, limit int, keep func(value.NodeID) bool) ([]value.VectorHit, error)
	// Similarities returns the cosine, -1 to 1, of each of some nodes to a vector; 0
	// for a node without one.
	Similarities(near []float32, nodes []value.NodeID) ([]float64, error)
	// NodeVector returns the vector of a node's text; nil when it has none.
	NodeVector(value.NodeID) ([]float32, error)
}
