package access

import "engram/graph/value"

// LearningReader is what a Reader offers that keeps what was learned from use apart
// from what was stored.
type LearningReader interface {
	// AnyActivity reports whether any node was used.
	AnyActivity() bool
	// Activity returns how a node was used; the zero value when it was not.
	Activity(value.NodeID) value.Activity
	// LearnedWeight returns what was learned to add to an edge's asserted weight, 0
	// when nothing was.
	LearnedWeight(value.EdgeID) float64
}

// LearningLog is what a Reader offers that can tell what it learned.
type LearningLog interface {
	// LearningSince lists what was learned at a time, in milliseconds since 1970, or
	// later, the oldest first.
	LearningSince(at int64) ([]value.Learned, error)
}

// LearningWriter is a Writer that can take back what was learned, exactly. Both
// methods return how many events that were.
type LearningWriter interface {
	RevertLearning(since int64) (int, error)
	RevertEdge(value.EdgeID) (int, error)
}
