package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
)

// Contradict notes that two memories cannot both hold: an edge CONTRADICTS, which
// stays until one of them wins. It reports whether that is new; the other way
// round it is not.
func Contradict(g Graph, one, other, reason value.Value) (a value.NodeID, changed bool, err error) {
	a, b, ok, err := both(g, one, other, "CONTRADICT", "WITH")
	if err != nil || !ok {
		return a, false, err
	}
	if a == b {
		return a, false, refused("ContradictsItself", "%s cannot contradict itself", name(g, a))
	}
	open, err := contradictions(g, a, b)
	if err != nil || len(open) > 0 {
		return a, false, err
	}
	return a, true, g.Link(a, b, vocab.Contradicts,
		value.Prop{Key: vocab.KeyReason, Value: reason},
		value.Prop{Key: vocab.KeyCreatedAt, Value: value.OfDateTime(g.Now())})
}

// contradictions returns the edges CONTRADICTS between two nodes, both ways.
func contradictions(g Graph, a, b value.NodeID) ([]value.EdgeID, error) {
	there, err := between(g, a, b, vocab.Contradicts)
	if err != nil {
		return nil, err
	}
	back, err := between(g, b, a, vocab.Contradicts)
	return append(there, back...), err
}

// Resolve settles a contradiction: the winner supersedes the loser, for the reason
// that the contradiction had, and nothing holds either back any more.
func Resolve(g Graph, winner, loser value.Value) (won value.NodeID, changed bool, err error) {
	won, lost, ok, err := both(g, winner, loser, "RESOLVE", "OVER")
	if err != nil || !ok {
		return won, false, err
	}
	open, err := contradictions(g, won, lost)
	if err != nil {
		return won, false, err
	}
	if len(open) == 0 {
		return won, false, refused("NoContradiction", "%s and %s do not contradict each other, so there is nothing to resolve", name(g, won), name(g, lost)).
			WithHint("Note it first by CONTRADICT a WITH b, or use SUPERSEDE.")
	}
	reason := value.Null
	if k, known := g.Key(vocab.KeyReason); known {
		if reason, err = g.EdgeProp(open[0], k); err != nil {
			return won, false, err
		}
	}
	for _, e := range open {
		if err := g.Unlink(e); err != nil {
			return won, false, err
		}
	}
	_, err = supersede(g, lost, won,
		value.Prop{Key: vocab.KeyReason, Value: reason}, value.Prop{Key: "resolved", Value: value.Bool(true)})
	return won, true, err
}
