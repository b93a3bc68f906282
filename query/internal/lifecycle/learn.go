package lifecycle

import (
	"time"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Reinforce notes that a memory was of use, wholly or with a strength from 0 to 1.
// It is queued: the statement itself changes nothing but the working memory of the
// conversation, at its end.
func Reinforce(g Graph, m, by, conversation value.Value) (id value.NodeID, queued bool, err error) {
	id, ok, err := Node(g, m, "REINFORCE")
	if err != nil || !ok {
		return id, false, err
	}
	strength := by.AsFloat()
	if !by.IsNumber() || !(strength >= 0 && strength <= 1) {
		return id, false, refused("InvalidStrength", "BY of REINFORCE needs a number from 0 to 1, but got %s", by)
	}
	if conversation.Kind() != value.KindString {
		return id, false, refused("InvalidArgumentType", "OF CONVERSATION needs a text, but got %s", conversation)
	}
	if labelled(g, id, vocab.LabelTelemetry) || labelled(g, id, vocab.LabelVerdict) {
		return id, false, nil
	}
	g.Minded(id, strength, conversation.AsString())
	return id, g.Use(id, strength), nil
}

// RevertSince takes back what was learned at a moment or later and returns how many
// events that were.
func RevertSince(g Graph, since value.Value) (int64, error) {
	if since.IsNull() { // most often a parameter that was forgotten; it must not mean all
		return 0, refused("InvalidArgumentType", "REVERT LEARNING SINCE needs a DATETIME, but got null").
			WithHint("datetime('0001-01-01') takes back everything.")
	}
	at, err := Millis(since, "REVERT LEARNING SINCE")
	if err != nil {
		return 0, err
	}
	w, ok := under(g).(access.LearningWriter)
	if !ok {
		return 0, nil
	}
	n, err := w.RevertLearning(at)
	return int64(n), err
}

// RevertEdge takes back all that was learned about an edge, which must join a and b.
func RevertEdge(g Graph, a, edge, b value.Value) (int64, error) {
	if edge.IsNull() {
		return 0, nil
	}
	if a.Kind() != value.KindNode || b.Kind() != value.KindNode || edge.Kind() != value.KindEdge {
		return 0, refused("InvalidArgumentType", "REVERT LEARNING OF needs a relationship between two nodes, as in a-[r]-b")
	}
	src, dst, _, ok := g.EdgeEnds(edge.EdgeID())
	if x, y := a.NodeID(), b.NodeID(); ok && (x != src || y != dst) && (x != dst || y != src) {
		return 0, refused("NotJoined", "the relationship does not join %s and %s", name(g, x), name(g, y))
	}
	w, learns := under(g).(access.LearningWriter)
	if !ok || !learns {
		return 0, nil
	}
	n, err := w.RevertEdge(edge.EdgeID())
	return int64(n), err
}

// Millis is a moment in milliseconds since 1970; null is the beginning of time.
func Millis(v value.Value, what string) (int64, error) {
	switch v.Kind() {
	case value.KindNull:
		return -1 << 62, nil
	case value.KindDateTime:
		t := v.AsDateTime()
		return t.Seconds*1000 + int64(t.Nanos)/1e6, nil
	}
	return 0, refused("InvalidArgumentType", "%s needs a DATETIME, but got %s", what, v.Kind().Named())
}

// Moment is the date and time of milliseconds since 1970.
func Moment(ms int64) value.Value {
	t := time.UnixMilli(ms)
	return value.OfDateTime(value.DateTime{Seconds: t.Unix(), Nanos: int32(t.Nanosecond())})
}
