package lifecycle

import (
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

const keyForgottenAt = "forgotten_at"

// Forget takes a memory out of recall. It is kept, with why and since when.
func Forget(g Graph, m, reason value.Value) (id value.NodeID, changed bool, err error) {
	id, ok, err := Node(g, m, "FORGET")
	if err != nil || !ok {
		return id, false, err
	}
	now, err := status(g, id)
	if err != nil || now == vocab.StatusForgotten {
		return id, false, err
	}
	return id, true, set(g, id,
		value.Prop{Key: vocab.KeyStatus, Value: value.String(vocab.StatusForgotten)},
		value.Prop{Key: keyForgottenAt, Value: value.OfDateTime(g.Now())},
		value.Prop{Key: vocab.KeyReason, Value: reason})
}

// Restore brings a forgotten memory back, as what it was: superseded if another
// stands in its place. Of a memory that is not forgotten nothing changes.
func Restore(g Graph, m value.Value) (id value.NodeID, changed bool, err error) {
	id, ok, err := Node(g, m, "RESTORE")
	if err != nil || !ok {
		return id, false, err
	}
	now, err := status(g, id)
	if err != nil || now != vocab.StatusForgotten {
		return id, false, err
	}
	by, err := edges(g, id, access.In, vocab.Supersedes)
	if err != nil {
		return id, false, err
	}
	back := vocab.StatusActive
	if len(by) > 0 {
		back = vocab.StatusSuperseded
	}
	return id, true, set(g, id,
		value.Prop{Key: vocab.KeyStatus, Value: value.String(back)},
		value.Prop{Key: keyForgottenAt, Value: value.Null},
		value.Prop{Key: vocab.KeyReason, Value: value.Null})
}
