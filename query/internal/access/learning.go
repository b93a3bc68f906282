package access

import "engram/graph/value"

// LearningReader is what a Reader offers that keeps what was learned from use apart
// from what was stored.
type LearningReader interface {
	// Activity returns how a node was used; the zero value when it was not.
	Activity(value.NodeID) value.Activity
	// LearnedWeight returns what was learned to add to an edge's asserted weight, 0
	// when nothing was.
	LearnedWeight(value.EdgeID) float64
}
