package graph

import (
	"context"
	"errors"
	"slices"
	"sync"

	"engram/graph/internal/logentry"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// Change tells what one transaction did to the graph, as its log entry has it.
// Properties that are neither searched as text nor kept beside the topology leave
// no trace in the log, so a change of such alone names no node.
type Change struct {
	Seq uint64
	// Bulk: it is a batch of a bulk load, which lists nothing.
	Bulk         bool
	NodesCreated []ChangedNode // those that are still there
	NodesChanged []string      // external ids, of those that are still there
	NodesDeleted int
	EdgesCreated []ChangedEdge // those that are still there
	EdgesDeleted int           // without those of deleted nodes
}

// ChangedNode is a new node with the labels it had then.
type ChangedNode struct {
	ID     string
	Labels []string
}

// ChangedEdge is a new edge, by external ids.
type ChangedEdge struct{ ID, Type, From, To string }

// watch wakes those that wait for changes.
type watch struct {
	mu     sync.Mutex
	more   chan struct{} // closed at the next publication; nil while nobody waits
	closed bool
}

// next returns a channel that is closed at the next publication.
func (w *watch) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more == nil {
		w.more = make(chan struct{})
		if w.closed {
			close(w.more)
		}
	}
	return w.more
}

func (w *watch) signal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.more != nil && !w.closed {
		close(w.more)
		w.more = nil
	}
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.more != nil {
		close(w.more)
	}
	w.closed = true
}

// changeChunk is how many entries of the log are read at a time.
const changeChunk = 256

// Changes waits, as long as ctx lives, until there are transactions behind a seq that
// changed the graph, and returns the first ones of them, with the seq to go on from.
// When the log does not reach back to the seq any more it fails with SnapshotTooOld.
func (db *DB) Changes(ctx context.Context, after uint64) (changes []Change, upTo uint64, err error) {
	upTo = after
	for {
		more := db.watch.next()
		if db.watchClosed() {
			return nil, upTo, fail(Closed, "the database is being closed")
		}
		for db.Seq() > upTo {
			changes, upTo, err = db.readChanges(upTo)
			if err != nil || len(changes) > 0 {
				return changes, upTo, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, upTo, &Error{Code: Canceled, Message: "gave up waiting for changes", Err: context.Cause(ctx)}
		case <-more:
		}
	}
}

func (db *DB) watchClosed() bool {
	db.watch.mu.Lock()
	defer db.watch.mu.Unlock()
	return db.watch.closed
}

var errChunk = errors.New("enough was read")

// readChanges reads a chunk of the log behind a seq.
func (db *DB) readChanges(after uint64) (changes []Change, upTo uint64, err error) {
	tx, err := db.Snapshot()
	if err != nil {
		return nil, after, err
	}
	defer tx.Rollback()
	read, next := 0, after
	err = readLog(tx.src, db.seal, store.Seq(after), func(seq store.Seq, e *logentry.Entry) error {
		if uint64(seq) > uint64(tx.seq) {
			return errChunk
		}
		if uint64(seq) != next+1 {
			return fail(SnapshotTooOld, "the log begins behind transaction %d: read the graph anew, and go on from there", after)
		}
		next = uint64(seq)
		c, err := tx.change(seq, e)
		if err != nil {
			return err
		}
		if c.any() {
			changes = append(changes, c)
		}
		if read++; read == changeChunk {
			return errChunk
		}
		return nil
	})
	if errors.Is(err, errChunk) {
		err = nil
	}
	if err == nil && next == after && uint64(tx.seq) > after {
		err = fail(SnapshotTooOld, "the log does not reach back to transaction %d: read the graph anew, and go on from there", after)
	}
	return changes, next, wrap(err)
}

func (c *Change) any() bool {
	return c.Bulk || c.NodesDeleted+c.EdgesDeleted+len(c.NodesCreated)+len(c.NodesChanged)+len(c.EdgesCreated) > 0
}

// change makes the change of a log entry, with what is there as of the snapshot.
func (tx *Tx) change(seq store.Seq, e *logentry.Entry) (Change, error) {
	out := Change{Seq: uint64(seq), Bulk: e.Bulk, NodesDeleted: len(e.NodesDeleted), EdgesDeleted: len(e.EdgesDeleted)}
	fresh := map[value.NodeID]bool{}
	for _, n := range e.NodesAdded {
		fresh[n.ID] = true
		id, err := tx.idIfThere(n.ID)
		if err != nil {
			return out, err
		}
		if id != "" {
			labels := make([]string, 0, len(n.Labels))
			for _, l := range n.Labels {
				labels = append(labels, tx.LabelName(l))
			}
			slices.Sort(labels)
			out.NodesCreated = append(out.NodesCreated, ChangedNode{ID: id, Labels: labels})
		}
	}
	var changed []value.NodeID
	for _, l := range e.Labels {
		changed = append(changed, l.ID)
	}
	for _, h := range e.Hot {
		changed = append(changed, h.ID)
	}
	changed = append(changed, e.TextChanged...)
	slices.Sort(changed)
	for _, n := range slices.Compact(changed) {
		if fresh[n] || slices.Contains(e.NodesDeleted, n) {
			continue
		}
		id, err := tx.idIfThere(n)
		if err != nil {
			return out, err
		}
		if id != "" {
			out.NodesChanged = append(out.NodesChanged, id)
		}
	}
	for _, a := range e.EdgesAdded {
		edge, err := tx.LoadEdge(a.ID)
		if err != nil {
			return out, err
		}
		if edge == nil {
			continue
		}
		out.EdgesCreated = append(out.EdgesCreated, ChangedEdge{ID: edge.ElementID, Type: edge.Type, From: edge.SrcElementID, To: edge.DstElementID})
	}
	return out, nil
}

// idIfThere returns the external id of a node, or nothing when it is gone.
func (tx *Tx) idIfThere(id value.NodeID) (string, error) {
	n, err := tx.LoadNode(id)
	if err != nil || n == nil {
		return "", err
	}
	return n.ElementID, nil
}
