// Package result is what a statement answers with: columns, rows, what it
// changed and, when asked, how it was run. It is the leaf that the packages
// above the language share.
package result

import (
	"time"

	"engram/graph/value"
)

// Result is the complete answer of one statement. Nodes, edges and paths in its
// rows are loaded: they stay valid after the transaction that read them ends.
type Result struct {
	// Columns are the names of the columns, in order; empty for a statement that
	// returns nothing.
	Columns []string
	// Rows hold one value for each column.
	Rows [][]value.Value
	// Counters tell what the statement changed.
	Counters Counters
	// Plan is set by EXPLAIN and PROFILE, else nil.
	Plan *Plan
	// Notices are remarks that are no errors.
	Notices []Notice
	// Timings tell where the time went.
	Timings Timings
}

// Counters are the net changes of a statement: the difference between the graph
// before it and after it. What it both creates and deletes is not counted.
type Counters struct {
	NodesCreated int64
	NodesDeleted int64
	EdgesCreated int64
	EdgesDeleted int64
	// A property that is overwritten counts as one removed and one set.
	PropertiesSet     int64
	PropertiesRemoved int64
	// Labels are counted as distinct labels in the graph: those that no node
	// carried before, and those that no node carries any more.
	LabelsAdded   int64
	LabelsRemoved int64
	// Indexes don't count those that belong to constraints.
	IndexesAdded       int64
	IndexesRemoved     int64
	ConstraintsAdded   int64
	ConstraintsRemoved int64
	// VocabularyChanges counts changes of relation types and of their mode.
	VocabularyChanges int64
}

// Any reports whether the statement changed anything.
func (c Counters) Any() bool { return c != Counters{} }

// Plus adds up the changes of two transactions.
func (c Counters) Plus(d Counters) Counters {
	c.NodesCreated += d.NodesCreated
	c.NodesDeleted += d.NodesDeleted
	c.EdgesCreated += d.EdgesCreated
	c.EdgesDeleted += d.EdgesDeleted
	c.PropertiesSet += d.PropertiesSet
	c.PropertiesRemoved += d.PropertiesRemoved
	c.LabelsAdded += d.LabelsAdded
	c.LabelsRemoved += d.LabelsRemoved
	c.IndexesAdded += d.IndexesAdded
	c.IndexesRemoved += d.IndexesRemoved
	c.ConstraintsAdded += d.ConstraintsAdded
	c.ConstraintsRemoved += d.ConstraintsRemoved
	c.VocabularyChanges += d.VocabularyChanges
	return c
}

// Notice is a remark on a statement that ran, such as a label that no node has.
type Notice struct {
	Code    string // stable, such as UnknownLabel
	Message string // a sentence or two
	// Line and Column tell where in the statement, from 1 and in characters; 0
	// when it has no place there.
	Line, Column int
}

// Timings are durations by the executor's clock. Zero where not measured.
type Timings struct {
	Plan time.Duration // parsing, binding and planning; 0 when it was cached
	Run  time.Duration
}
