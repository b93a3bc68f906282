package recall

import (
	"engram/activation"
	"engram/graph/value"
)

// Trace is what is noted of a recall for its receipt.
type Trace struct {
	// Seeds are where activation began, in the order of the hits, then as given.
	Seeds []Seed
	// Limits are the bounds that spreading met.
	Limits []activation.Limit
	// Dropped are the candidates that were looked at and left out, in the order in
	// which that was seen.
	Dropped []Dropped

	seen map[value.NodeID]bool
}

// Dropped is a candidate that was left out.
type Dropped struct {
	Node value.NodeID
	Why  Exclusion
}

// drop notes that a candidate is left out.
func (r *run) drop(id value.NodeID, x Exclusion) {
	t := r.o.Trace
	if t == nil || t.seen[id] {
		return
	}
	if t.seen == nil {
		t.seen = map[value.NodeID]bool{}
	}
	t.seen[id] = true
	t.Dropped = append(t.Dropped, Dropped{id, x})
}
