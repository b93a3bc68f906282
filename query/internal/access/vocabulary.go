package access

import "engram/graph/vocab"

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
