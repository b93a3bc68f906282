package model

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

var (
	_ access.VocabularyWriter = (*Graph)(nil)
	_ access.LayerWriter      = (*Graph)(nil)
)

// Vocabulary implements access.VocabularyReader.
func (g *Graph) Vocabulary() *vocab.Vocabulary { return g.vocab }

// DeclareRelation implements access.VocabularyWriter. Edges are not held to it.
func (g *Graph) DeclareRelation(r vocab.Relation) error { return g.say(g.vocab.With(r)) }

// DropRelation implements access.VocabularyWriter.
func (g *Graph) DropRelation(name string) error { return g.say(g.vocab.Without(name)) }

// CloseVocabulary implements access.VocabularyWriter.
func (g *Graph) CloseVocabulary(closed bool) error { return g.say(g.vocab.InMode(closed)) }

// DeclareLayer implements access.LayerWriter.
func (g *Graph) DeclareLayer(l vocab.Layer) error { return g.say(g.vocab.WithLayer(l)) }

// DropLayer implements access.LayerWriter.
func (g *Graph) DropLayer(name string) error { return g.say(g.vocab.WithoutLayer(name)) }

// DeclareSelf implements access.LayerWriter.
func (g *Graph) DeclareSelf(id value.NodeID) error { return g.say(g.vocab.WithSelf(id)) }

// DeclarePillar implements access.LayerWriter.
func (g *Graph) DeclarePillar(name string, id value.NodeID) error {
	return g.say(g.vocab.WithPillar(name, id))
}

func (g *Graph) say(v *vocab.Vocabulary) error {
	g.vocab = v
	return nil
}
