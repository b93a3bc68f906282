package engram

import (
	"context"

	"engram/graph"
)

// Loader writes many nodes and edges quickly, in large transactions, and keeps
// other writers out meanwhile. Into an empty database what it wrote becomes
// visible at Close. It is for one goroutine.
type Loader struct{ load *graph.Loader }

// LoadOptions say what is loaded. The zero value is a load that cannot be resumed.
type LoadOptions = graph.LoadOptions

// UnfinishedLoad tells about a load with a named source that was not ended by
// Close.
type UnfinishedLoad = graph.UnfinishedLoad

// Load begins a bulk load that cannot be resumed. It must be ended by Close or
// Abort.
func (db *DB) Load(ctx context.Context) (*Loader, error) { return db.LoadFrom(ctx, LoadOptions{}) }

// LoadFrom begins a bulk load, or resumes one of the same source: then Done tells
// what to leave out. It must be ended by Close or Abort.
func (db *DB) LoadFrom(ctx context.Context, o LoadOptions) (*Loader, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	l, err := db.graph.LoadFrom(ctx, o)
	if err != nil {
		return nil, convert(err, "")
	}
	return &Loader{l}, nil
}

// UnfinishedLoad returns what load is unfinished, nil if none is.
func (db *DB) UnfinishedLoad() (*UnfinishedLoad, error) {
	u, err := db.graph.UnfinishedLoad()
	return u, convert(err, "")
}

// GiveUpLoad forgets an unfinished load, if there is one: what it brought stays
// like everything else.
func (db *DB) GiveUpLoad(ctx context.Context) error {
	if err := needContext(ctx); err != nil {
		return err
	}
	return convert(db.graph.GiveUpLoad(ctx), "")
}

// Done tells how many nodes and edges of the source are in the database from
// before: leave out as many of the first ones.
func (l *Loader) Done() (nodes, edges int64) { return l.load.Done() }

// NodeAt returns the id of the source's node with a number, from 0, also of the
// load that this one resumes. Only a load with a source knows.
func (l *Loader) NodeAt(row int64) (NodeID, error) {
	id, err := l.load.NodeAt(row)
	return id, convert(err, "")
}

// Progress tells how many nodes and edges of the source are durable, and with
// which transaction. Only a load with a source knows.
func (l *Loader) Progress() (nodes, edges int64, seq uint64) { return l.load.Progress() }

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
