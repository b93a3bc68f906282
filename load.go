package engram

import (
	"context"

	"engram/graph"
)

// Loader writes many nodes and edges quickly, in large transactions, and keeps
// other writers out meanwhile. Into an empty database what it wrote becomes
// visible at Close. It is for one goroutine.
type Loader struct{ load *graph.Loader }

// Load begins a bulk load. It must be ended by Close or Abort.
func (db *DB) Load(ctx context.Context) (*Loader, error) {
	l, err := db.graph.Load(ctx)
	if err != nil {
		return nil, convert(err, "")
	}
	return &Loader{l}, nil
}

// Node adds a node. Null properties are left out; a string id that is taken is
// an error, found at the latest when its batch is written.
func (l *Loader) Node(labels []string, props []Prop) (NodeID, error) {
	id, err := l.load.Node(labels, props)
	return id, convert(err, "")
}

// Edge adds an edge between nodes of this load or older ones.
func (l *Loader) Edge(src, dst NodeID, typ string, props []Prop) (EdgeID, error) {
	id, err := l.load.Edge(src, dst, typ, props)
	return id, convert(err, "")
}

// Close writes what is left and makes everything visible. After an error, what
// earlier batches wrote stays.
func (l *Loader) Close() (LoadReport, error) {
	r, err := l.load.Close()
	return r, convert(err, "")
}

// Abort ends the load without writing what is left. It may be called after
// Close.
func (l *Loader) Abort() { l.load.Abort() }
