package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Supersede lets a newer memory take the place of an older one: an edge SUPERSEDES
// from the newer, the older's validity closed, the newer's opened where it was open.
// It reports whether anything changed: the same again does not, unless the edge was made by hand and the older
// one is open still.
func Supersede(g Graph, older, newer, reason value.Value) (old value.NodeID, changed bool, err error) {
	old, current, ok, err := both(g, older, newer, "SUPERSEDE", "BY")
	if err != nil || !ok {
		return old, false, err
	}
	changed, err = supersede(g, old, current, value.Prop{Key: vocab.KeyReason, Value: reason})
	return old, changed, err
}

func supersede(g Graph, old, current value.NodeID, props ...value.Prop) (bool, error) {
	if old == current {
		return false, refused("SupersedesItself", "%s cannot supersede itself", name(g, old))
	}
	there, err := between(g, current, old, vocab.Supersedes)
	if err != nil {
		return false, err
	}
	if len(there) > 0 {
		// An edge that was made by hand leaves the older one open.
		until, err := prop(g, old, vocab.KeyValidTo)
		if err != nil || !until.IsNull() {
			return false, err
		}
	}
	circle, err := supersedes(g, old, current)
	if err != nil {
		return false, err
	}
	if circle {
		return false, refused("SupersedesInCircle", "%s supersedes %s already, itself or by way of others, so it cannot be superseded by it", name(g, old), name(g, current)).
			WithHint("Store what holds now as a new memory, and let that supersede both.")
	}
	now, err := status(g, current)
	if err != nil {
		return false, err
	}
	if now == vocab.StatusForgotten {
		return false, refused("ForgottenMemory", "%s is forgotten, so it cannot take a place", name(g, current)).WithHint("RESTORE it first.")
	}
	if err := closeValidity(g, old, current); err != nil {
		return false, err
	}
	if len(there) > 0 {
		return true, nil
	}
	props = append(props, value.Prop{Key: vocab.KeyCreatedAt, Value: value.OfDateTime(g.Now())})
	return true, g.Link(current, old, vocab.Supersedes, props...)
}

// closeValidity ends the older memory's time where it is open, and begins the newer
// one's there.
func closeValidity(g Graph, old, current value.NodeID) error {
	at := value.OfDateTime(g.Now())
	until, err := prop(g, old, vocab.KeyValidTo)
	if err != nil {
		return err
	}
	if until.IsNull() {
		if err := set(g, old, value.Prop{Key: vocab.KeyValidTo, Value: at}); err != nil {
			return err
		}
	}
	was, err := status(g, old)
	if err != nil {
		return err
	}
	if was != vocab.StatusForgotten {
		if err := set(g, old, value.Prop{Key: vocab.KeyStatus, Value: value.String(vocab.StatusSuperseded)}); err != nil {
			return err
		}
	}
	since, err := prop(g, current, vocab.KeyValidFrom)
	if err != nil || !since.IsNull() {
		return err
	}
	return set(g, current, value.Prop{Key: vocab.KeyValidFrom, Value: at})
}

// supersedes reports whether a supersedes b, itself or by way of others.
func supersedes(g Graph, a, b value.NodeID) (bool, error) {
	seen := map[value.NodeID]bool{a: true}
	for next := []value.NodeID{a}; len(next) > 0; {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		out, err := edges(g, id, access.Out, vocab.Supersedes)
		if err != nil {
			return false, err
		}
		if err := g.Step(len(out) + 1); err != nil {
			return false, err
		}
		for _, e := range out {
			if e.Node == b {
				return true, nil
			}
			if !seen[e.Node] {
				seen[e.Node] = true
				next = append(next, e.Node)
			}
		}
	}
	return false, nil
}
