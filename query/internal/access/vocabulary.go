package access

import (
	"engram/graph/value"
	"engram/graph/vocab"
)

// VocabularyReader is what a Reader offers that keeps a vocabulary of relation
// types.
type VocabularyReader interface {
	Vocabulary() *vocab.Vocabulary
}

// VocabularyWriter changes the vocabulary.
type VocabularyWriter interface {
	VocabularyReader
	DeclareRelation(vocab.Relation) error
	DropRelation(name string) error
	CloseVocabulary(closed bool) error
}

// LayerWriter changes what the vocabulary says of layers, the self and pillars.
type LayerWriter interface {
	Reader
	VocabularyReader
	DeclareLayer(vocab.Layer) error
	DropLayer(name string) error
	DeclareSelf(value.NodeID) error
	DeclarePillar(name string, id value.NodeID) error
}
