// Package batch holds rows in columns: the unit that operators hand on.
package batch

import "engram/graph/value"

// Batch is N rows by column. A nil column is dead: nobody reads that slot here.
// The producer owns the columns until its next call; a consumer that keeps rows
// copies them.
type Batch struct {
	Cols [][]value.Value
	N    int
}

// New makes a batch of width dead columns.
func New(width int) *Batch { return &Batch{Cols: make([][]value.Value, width)} }
