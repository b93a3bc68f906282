package engram

import (
	"context"

	"engram/graph"
)

// Change tells what one transaction did to the graph. Properties that are neither
// searched as text nor in Options.HotColumns leave no trace in the log: a
// transaction that changes nothing but such is not told.
type Change = graph.Change

// ChangedNode is a new node of a Change.
type ChangedNode = graph.ChangedNode

// ChangedEdge is a new edge of a Change.
type ChangedEdge = graph.ChangedEdge

// Changes waits, as long as ctx lives, until there are transactions behind a seq that
// changed the graph, and returns the first ones of them, in order, with the seq to go
// on from. When too much has happened since the seq it fails with
// CodeSnapshotTooOld: then the graph has to be read anew, and Seq is where to go on.
func (db *DB) Changes(ctx context.Context, after uint64) (changes []Change, upTo uint64, err error) {
	if err := needContext(ctx); err != nil {
		return nil, after, err
	}
	changes, upTo, err = db.graph.Changes(ctx, after)
	return changes, upTo, convert(err, "")
}
