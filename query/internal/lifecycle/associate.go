package lifecycle

import (
	"cmp"
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// How a memory is associated with what is there. A floor of a third of the terms in
// common keeps chance out: two sentences of six terms share at least two.
const (
	MaxAssociated   = 3
	AssociateFloor  = 1.0 / 3
	candidatesAsked = 20
)

// OriginAssociation marks the edges that were made by association.
const OriginAssociation = "association"

// Match is a memory that another one is like.
type Match struct {
	Node  value.NodeID
	Score float64 // Overlap of the terms
}

// setApart are the classes of nodes that nothing is associated with: each says
// something that has to stand on its own.
var setApart = []string{vocab.LabelTelemetry, vocab.LabelVerdict, vocab.LabelSafety, vocab.LabelValue}

// Associable reports whether a node takes part in association: it is in none of the
// classes set apart, neither forgotten nor superseded, and has a text.
func Associable(g access.Reader, id value.NodeID) (bool, error) {
	if !g.NodeExists(id) {
		return false, nil
	}
	for _, l := range setApart {
		if labelled(g, id, l) {
			return false, nil
		}
	}
	if words, ok := under(g).(access.VocabularyReader); ok {
		if v := words.Vocabulary(); v.Self() == id || v.IsPillar(id) {
			return false, nil
		}
	}
	now, err := status(g, id)
	if err != nil || now != vocab.StatusActive {
		return false, err
	}
	text, err := content(g, id)
	return text != "", err
}

// Matches finds the memories that a text is most like, best first, ties by external
// id. It only reads, so it may run before the write slot is taken; Associate looks
// again at what it found.
func Matches(g access.Reader, text string) ([]Match, error) {
	hits, err := g.SearchText(text, candidatesAsked, nil)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	terms := Terms(g, text)
	var out []Match
	for _, h := range hits {
		ok, err := Associable(g, h.Node)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		other, err := content(g, h.Node)
		if err != nil {
			return nil, err
		}
		if s := Overlap(terms, Terms(g, other)); s >= AssociateFloor {
			out = append(out, Match{h.Node, s})
		}
	}
	ids := make(map[value.NodeID]string, len(out))
	for _, m := range out {
		if ids[m.Node], err = g.ElementID(m.Node); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(ids[a.Node], ids[b.Node]))
	})
	return out, nil
}

// Associate joins a memory by RELATED edges with the best of the matches, at most
// MaxAssociated, that are still there, still take part and are not joined with it
// already. The edges weigh as much as the two are alike.
func Associate(g Graph, id value.NodeID, matches []Match) (linked int, err error) {
	if ok, err := Associable(g, id); err != nil || !ok {
		return 0, err
	}
	near, err := g.Expand(id, access.Both, nil, nil)
	if err != nil {
		return 0, err
	}
	joined := map[value.NodeID]bool{id: true}
	for _, e := range near {
		joined[e.Node] = true
	}
	for _, m := range matches {
		if linked == MaxAssociated {
			break
		}
		if joined[m.Node] {
			continue
		}
		if ok, err := Associable(g, m.Node); err != nil {
			return linked, err
		} else if !ok {
			continue
		}
		if err := g.Link(id, m.Node, vocab.Related,
			value.Prop{Key: vocab.KeyWeight, Value: value.Float(m.Score)},
			value.Prop{Key: vocab.KeyOrigin, Value: value.String(OriginAssociation)}); err != nil {
			return linked, err
		}
		joined[m.Node] = true
		linked++
	}
	return linked, nil
}
