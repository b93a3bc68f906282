package graph

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"engram/graph/internal/store"
	"engram/graph/value"
)

// metaLoad is the key of the record of an unfinished load.
var metaLoad = []byte("graph/load")

// loadRecordVersion is the version of that record.
//
//	1  first
const loadRecordVersion = 1

// Bounds of a load record: a source's name in bytes, and runs of ids.
const (
	maxLoadSource = 256
	maxLoadRuns   = 10_000
)

// loadRecord tells how far an unfinished load got. It is written with every batch
// and removed with the last one.
type loadRecord struct {
	source       string
	fresh        bool // into an empty graph
	nodes, edges int64
	marks        marks // when it was written: if they still hold, no id was given since
	next         marks // the ids that come next
	runs         []loadRun
}

// loadRun says that the load's nodes from one on have consecutive ids.
type loadRun struct {
	row int64 // of the first one, from 0
	id  value.NodeID
}

func (r *loadRecord) encode() []byte {
	b := binary.AppendUvarint([]byte{loadRecordVersion}, uint64(len(r.source)))
	b = append(b, r.source...)
	flags := byte(0)
	if r.fresh {
		flags = 1
	}
	b = append(b, flags)
	for _, n := range []uint64{
		uint64(r.nodes), uint64(r.edges), r.marks.node, r.marks.edge, r.next.node, r.next.edge, uint64(len(r.runs)),
	} {
		b = binary.AppendUvarint(b, n)
	}
	for _, run := range r.runs {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(run.row)), uint64(run.id))
	}
	return b
}

var errLoadRecord = errors.New("the record of the load is not what was written")

// decodeLoadRecord refuses whatever encode does not write.
func decodeLoadRecord(b []byte) (*loadRecord, error) {
	if len(b) == 0 || b[0] != loadRecordVersion {
		return nil, fmt.Errorf("the record of the load has another version than %d: %w", loadRecordVersion, store.ErrNewer)
	}
	b = b[1:]
	bad := false
	uvarint := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<62 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	r := &loadRecord{}
	n := uvarint()
	if bad || n > maxLoadSource || uint64(len(b)) < n+1 || b[n] > 1 {
		return nil, errLoadRecord
	}
	r.source, r.fresh, b = string(b[:n]), b[n] == 1, b[n+1:]
	r.nodes, r.edges = int64(uvarint()), int64(uvarint())
	r.marks = marks{uvarint(), uvarint()}
	r.next = marks{uvarint(), uvarint()}
	runs := uvarint()
	if bad || runs > maxLoadRuns {
		return nil, errLoadRecord
	}
	for range runs {
		run := loadRun{int64(uvarint()), value.NodeID(uvarint())}
		if len(r.runs) > 0 && run.row < r.runs[len(r.runs)-1].row {
			bad = true
		}
		r.runs = append(r.runs, run)
	}
	if bad || len(b) > 0 {
		return nil, errLoadRecord
	}
	return r, nil
}

// node is the id of the load's node with a number, from 0.
func (r *loadRecord) node(row int64) (value.NodeID, bool) {
	i := sort.Search(len(r.runs), func(i int) bool { return r.runs[i].row > row }) - 1
	if i < 0 {
		return 0, false
	}
	return r.runs[i].id + value.NodeID(row-r.runs[i].row), true
}

// readLoad returns the record of an unfinished load, or nil.
func (db *DB) readLoad(src source) (*loadRecord, error) {
	sealed, err := src.Get(store.Meta, metaLoad)
	if sealed == nil || err != nil {
		return nil, wrap(err)
	}
	payload, err := db.seal.Open(store.Meta, metaLoad, sealed)
	if err != nil {
		return nil, wrap(err)
	}
	r, err := decodeLoadRecord(payload)
	if errors.Is(err, errLoadRecord) {
		err = db.seal.Damaged(store.Meta, metaLoad, err.Error())
	}
	return r, wrap(err)
}

func (db *DB) loadPut(r *loadRecord) store.Put {
	if r == nil {
		return store.Put{Space: store.Meta, Key: metaLoad}
	}
	return store.Put{Space: store.Meta, Key: metaLoad, Value: db.seal.Seal(store.Meta, metaLoad, r.encode())}
}

// UnfinishedLoad tells about a load that was begun from a source and not ended by
// Close.
type UnfinishedLoad struct {
	Source       string
	Nodes, Edges int64 // that are in the graph
}

// UnfinishedLoad returns what load is unfinished, nil if none.
func (db *DB) UnfinishedLoad() (*UnfinishedLoad, error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return nil, wrap(err)
	}
	defer snap.Close()
	r, err := db.readLoad(snap)
	if r == nil || err != nil {
		return nil, err
	}
	return &UnfinishedLoad{r.source, r.nodes, r.edges}, nil
}

// GiveUpLoad forgets an unfinished load, if there is one: what it brought stays
// like everything else.
func (db *DB) GiveUpLoad(ctx context.Context) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	r, err := db.readLoad(tx.w.slot)
	if r == nil || err != nil {
		return err
	}
	next := *tx.base
	next.changed = nil
	puts, err := db.logPuts([]store.Put{db.loadPut(nil)}, tx.w.slot.Seq()+1, nil)
	if err != nil {
		return err
	}
	_, outcome, err := tx.w.slot.Finish(puts, &next, "").Wait(ctx)
	if outcome != store.Committed {
		return wrap(err)
	}
	return nil
}

func errUnfinishedLoad(r *loadRecord) error {
	return fail(LoadUnfinished, "an import of another source is unfinished: %d nodes and %d edges of it are in the graph; "+
		"import the same files again to finish it, or give it up (import --restart), which leaves what it brought", r.nodes, r.edges)
}

// resume takes up where an earlier load of the source ended; rec is nil if there
// was none.
func (l *Loader) resume(rec *loadRecord, source string) error {
	ids := &l.db.ids
	switch {
	case source == "":
		return nil
	case rec == nil:
		next := marks{ids.node.next, ids.edge.next}
		l.rec = &loadRecord{source: source, fresh: l.fresh, marks: l.marks, next: next, runs: []loadRun{{0, value.NodeID(next.node)}}}
		return nil
	}
	l.rec, l.fresh = rec, rec.fresh
	l.doneNodes, l.doneEdges = rec.nodes, rec.edges
	if rec.marks == l.marks {
		// Nobody has taken ids since, and what came after the last batch is gone: the
		// load gets the ids that it would have got without the interruption.
		ids.node.next, ids.edge.next = rec.next.node, rec.next.edge
		return nil
	}
	again := *rec
	again.runs = slices.DeleteFunc(slices.Clone(rec.runs), func(r loadRun) bool { return r.row == rec.nodes })
	again.runs = append(again.runs, loadRun{rec.nodes, value.NodeID(ids.node.next)})
	if len(again.runs) > maxLoadRuns {
		return fail(LimitExceeded, "the load was resumed %d times beside other writers; give it up", maxLoadRuns)
	}
	l.rec = &again
	return nil
}

// progress appends the record of the batch at hand to its puts.
func (l *Loader) progress(puts []store.Put, last bool) ([]store.Put, *loadRecord) {
	if l.rec == nil {
		return puts, nil
	}
	if last && !l.fresh {
		return append(puts, l.db.loadPut(nil)), nil
	}
	rec := *l.rec
	rec.nodes, rec.edges = l.doneNodes+l.report.Nodes, l.doneEdges+l.report.Edges-int64(len(l.edges))
	rec.marks, rec.next = l.marks, marks{l.db.ids.node.next, l.db.ids.edge.next}
	if len(l.edges) > 0 { // they come with the next batch
		rec.next.edge = uint64(l.edges[0].ID)
	}
	return append(puts, l.db.loadPut(&rec)), &rec
}

// Done tells how many nodes and edges of the source are in the graph from before:
// leave out as many of the first ones.
func (l *Loader) Done() (nodes, edges int64) { return l.doneNodes, l.doneEdges }

// NodeAt returns the id of the source's node with a number, from 0, be it from
// this load or from the one that it resumes. The source must have a name and the
// node must have been added.
func (l *Loader) NodeAt(row int64) (value.NodeID, error) {
	if l.err != nil {
		return 0, l.err
	}
	if l.rec != nil && row >= 0 && row < l.doneNodes+l.report.Nodes {
		if id, ok := l.rec.node(row); ok {
			return id, nil
		}
	}
	return 0, fail(InvalidArgument, "the load has no node with the number %d", row)
}

// Progress tells how many nodes and edges of the source are durable, and at which
// seq. Only a load with a source knows.
func (l *Loader) Progress() (nodes, edges int64, seq uint64) {
	if l.rec == nil {
		return 0, 0, 0
	}
	return l.rec.nodes, l.rec.edges, l.report.Seq
}
