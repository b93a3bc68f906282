package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Supersede lets a newer memory take the place of an older one: an edge SUPERSEDES
// from the newer, the older's validity closed, the newer's opened where it was open.
// It reports whether anything changed: the same again does not, unless the older
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
	there, err := between(g, current, old, vocab.Supersedes)
	if err != nil {
		return false, err
	}
	if len(there) > 0 { // a file from elsewhere may have the edge, and the older one open
		until, err := prop(g, old, vocab.KeyValidTo)
		if err != nil || !until.IsNull() {
			return false, err
		}
	}
	before, err := Replaces(g, old, current)
	if err != nil || len(there) > 0 {
		return err == nil, err
	}
	props = append(props, value.Prop{Key: vocab.KeyCreatedAt, Value: value.OfDateTime(g.Now())}, before)
	return true, g.Link(current, old, vocab.Supersedes, props...)
}

// KeyWasValidTo is on an edge SUPERSEDES the end that the older memory had before, a
// later one; it has it again when nothing supersedes it any more.
const KeyWasValidTo = "was_valid_to"

// Replaces does what an edge SUPERSEDES from one memory to another means, whatever
// makes the edge, which comes after: it refuses circles, and closes the older
// memory's validity. It returns what the edge has to keep for Reopen.
func Replaces(g Graph, old, current value.NodeID) (keep value.Prop, err error) {
	keep.Key = KeyWasValidTo
	if old == current {
		return keep, refused("SupersedesItself", "%s cannot supersede itself", name(g, old))
	}
	circle, err := supersedes(g, old, current)
	if err != nil {
		return keep, err
	}
	if circle {
		return keep, refused("SupersedesInCircle", "%s supersedes %s already, itself or by way of others, so it cannot be superseded by it", name(g, old), name(g, current)).
			WithHint("Store what holds now as a new memory, and let that supersede both.")
	}
	now, err := status(g, current)
	if err != nil {
		return keep, err
	}
	if now == vocab.StatusForgotten {
		return keep, refused("ForgottenMemory", "%s is forgotten, so it cannot take a place", name(g, current)).WithHint("RESTORE it first.")
	}
	keep.Value, err = closeValidity(g, old, current)
	return keep, err
}

// closeValidity ends the older memory's time where the newer one's begins, which is
// now unless that says since when. An end that came before stays. It returns the later
// end that there was, null where there was none.
func closeValidity(g Graph, old, current value.NodeID) (was value.Value, err error) {
	at := value.OfDateTime(g.Now())
	since, err := prop(g, current, vocab.KeyValidFrom)
	if err != nil {
		return value.Null, err
	}
	if since.IsNull() {
		if err := set(g, current, value.Prop{Key: vocab.KeyValidFrom, Value: at}); err != nil {
			return value.Null, err
		}
	} else if m, ok := moment(since); ok {
		at = m
	}
	if was, err = prop(g, old, vocab.KeyValidTo); err != nil {
		return value.Null, err
	}
	if until, ok := moment(was); ok && !before(at, until) {
		was = value.Null
	} else {
		if was, err = endBefore(g, old, was); err != nil {
			return value.Null, err
		}
		if err := set(g, old, value.Prop{Key: vocab.KeyValidTo, Value: at}); err != nil {
			return value.Null, err
		}
		g.Closed(Closing{Older: old, Newer: current, At: at})
	}
	now, err := status(g, old)
	if err != nil || now == vocab.StatusForgotten {
		return was, err
	}
	return was, set(g, old, value.Prop{Key: vocab.KeyStatus, Value: value.String(vocab.StatusSuperseded)})
}

// endBefore is the end that a memory had before anything superseded it, of which until
// is the one now.
func endBefore(g Graph, old value.NodeID, until value.Value) (value.Value, error) {
	above, err := edges(g, old, access.In, vocab.Supersedes)
	if err != nil || len(above) == 0 {
		return until, err
	}
	k, ok := g.Key(KeyWasValidTo)
	if !ok {
		return value.Null, nil
	}
	for _, e := range above {
		if was, err := g.EdgeProp(e.Edge, k); err != nil || !was.IsNull() {
			return was, err
		}
	}
	return value.Null, nil
}

// Closing is that a memory's time was ended where another's begins.
type Closing struct {
	Older, Newer value.NodeID
	At           value.Value
}

// Settle looks at the end of a statement once more at what it closed: the newer
// memory may have been told since when it holds by a later clause.
func Settle(g Graph, closed []Closing) error {
	for _, c := range closed {
		if !g.NodeExists(c.Older) || !g.NodeExists(c.Newer) {
			continue
		}
		since, err := prop(g, c.Newer, vocab.KeyValidFrom)
		if err != nil {
			return err
		}
		until, err := prop(g, c.Older, vocab.KeyValidTo)
		if err != nil {
			return err
		}
		at, ok := moment(since)
		switch {
		case since.IsNull():
			err = set(g, c.Newer, value.Prop{Key: vocab.KeyValidFrom, Value: c.At})
		case ok && same(until, c.At) && !same(at, c.At):
			err = set(g, c.Older, value.Prop{Key: vocab.KeyValidTo, Value: at})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Moved is that a memory was told since when it holds, and what it said of that before.
type Moved struct {
	Newer value.NodeID
	Was   value.Value
}

// Move lets what a memory supersedes, and what ended where it began, end where it begins
// now. Ends that are other moments stay.
func Move(g Graph, m Moved) error {
	was, ok := moment(m.Was)
	if !ok {
		return nil
	}
	since, err := prop(g, m.Newer, vocab.KeyValidFrom)
	if err != nil {
		return err
	}
	at, ok := moment(since)
	if !ok || same(at, was) {
		return nil
	}
	below, err := edges(g, m.Newer, access.Out, vocab.Supersedes)
	if err != nil {
		return err
	}
	if err := g.Step(len(below)); err != nil {
		return err
	}
	for _, e := range below {
		until, err := prop(g, e.Node, vocab.KeyValidTo)
		if err == nil && same(until, was) {
			err = set(g, e.Node, value.Prop{Key: vocab.KeyValidTo, Value: at})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// supersedes reports whether a supersedes b, itself or by way of others.
func supersedes(g Graph, a, b value.NodeID) (bool, error) {
	if t, ok := g.RelType(vocab.Supersedes); !ok || g.Degree(b, access.In, []value.TypeID{t}) == 0 {
		return false, nil // so that long histories are written in no time
	}
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
