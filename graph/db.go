// Package graph is the database itself: nodes, edges, names and transactions
// over the key-value store, with the topology in memory. The query stages reach
// it through Tx.
//
//	db, err := graph.OpenMemory(nil)
//	tx, err := db.Begin(ctx)                     // takes the write slot
//	person, _ := tx.InternLabel("Person")
//	name, _ := tx.InternKey("name")
//	ada, err := tx.CreateNode([]value.LabelID{person},
//		[]value.KeyProp{{Key: name, Value: value.String("Ada")}})
//	_, err = tx.Commit(ctx)                      // waits until it is durable
//	read, err := db.Snapshot()
//	node, err := read.LoadNode(ada)
//	read.Rollback()
//
// DESIGN.md tells the flows, the invariants and the road not taken.
package graph

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"engram/graph/internal/commit"
	"engram/graph/internal/extid"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/internal/topo"
)

// DB is an open graph. It is safe for concurrent use. It owns the goroutine
// tidy, which Close stops, and the commit engine with its committer.
type DB struct {
	opts     Options
	engine   *commit.Engine[*state]
	seal     record.Sealer
	tag      extid.Tag
	created  int64        // ms since 1970
	readOnly bool         // set before anything runs
	release  func() error // of the directory, after the engine is closed

	// writer is held from Begin to the end of a writing transaction, around the
	// engine's own slot: newID may have to give that back and take it again
	// without letting another transaction in.
	writer chan struct{}

	text     *text.Index
	textOnce sync.Once // of reading: the index is filled by the first search
	textErr  error
	vectors  *vectors
	ids      ids // for the holder of writer

	latest   atomic.Pointer[durableState]
	watch    watch         // of those that wait for changes
	logged   atomic.Uint64 // bytes of log entries made since the topology's file
	topoFile topoFile
	idemKeys idemKeys
	trimmed  store.Seq // of tidy alone: the log begins here or later
	notes    []string  // of opening
	place    place

	waiting  atomic.Int64 // who would like to be writer
	sweeping sweepWork    // of tidy alone
	compact  topo.Compactor
	wake     chan struct{} // tells tidy that something was published
	stop     context.CancelFunc
	stopped  chan struct{} // closed when tidy has returned
	tidyErr  lastError
	uses     uses
}

// place is where a database lives; the zero place is memory.
type place struct {
	file    string // named in errors
	textDir string
	// vectorDir holds a directory for each model; "": vectors stay in memory.
	vectorDir string
	topoFile  string
	readOnly  bool
	notes     []string               // of opening the files
	acked     func(store.Seq) error  // told of each acknowledged seq, or nil
	told      func() (uint64, error) // how many uses the learning queue was told, or nil
	tell      func(uint64) error     // notes that, or nil
	usage     func() ([]byte, error) // what was kept of statements, or nil
	keepUsage func([]byte) error     // keeps that, or nil
	release   func() error           // called last, or nil
}

// start makes a database of an opened store whose state is loaded.
func start(driver store.Driver, loaded *loaded, ix *text.Index, opts Options, place place) (*DB, error) {
	db := &DB{
		opts: opts, seal: loaded.seal, tag: loaded.tag, created: loaded.created,
		text: ix, readOnly: place.readOnly, release: place.release,
		writer:  make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	db.ids.init(loaded.state.marks)
	db.notes, db.place = loaded.notes, place
	db.logged.Store(loaded.logged)
	if !place.readOnly {
		db.topoFile.path = place.topoFile
	}
	db.topoFile.opened(loaded)
	db.latest.Store(&durableState{loaded.head, loaded.state})
	engine, err := commit.New(driver, commit.Options[*state]{
		Initial: loaded.state, Publish: db.publish, Advanced: func(store.Seq) { db.watch.signal() }, BeforeAck: place.acked, Now: opts.Now, Envelope: envelope{loaded.seal},
		Waiting:  func() int { return int(db.waiting.Load()) },
		MaxBytes: opts.MaxBytes, MaxKeys: opts.MaxKeys, MaxLongAge: opts.MaxLongAge,
	})
	if err != nil {
		return nil, wrap(err)
	}
	db.engine = engine
	if err := db.uses.begin(db, place); err != nil {
		return nil, errors.Join(wrap(err), wrap(engine.Close(context.Background())))
	}
	db.vectors = newVectors(&opts, place)
	ctx, stop := context.WithCancel(context.Background())
	db.stop = stop
	if loaded.textLater {
		db.beginText()
	}
	db.beginVectors(ctx)
	if opts.manual {
		close(db.stopped)
		return db, nil
	}
	go db.tidy(ctx)
	db.nudge()
	return db, nil
}

// publish is called by the committer for each durable transaction, in order.
func (db *DB) publish(seq store.Seq, s *state) {
	db.ids.published(s.marks)
	if s.learned != nil {
		db.settled(*s.learned)
	}
	db.latest.Store(&durableState{seq, s})
	if !s.partial {
		// The text of a load into an empty graph comes at its end: the index must not
		// tell meanwhile that it has everything up to here.
		db.publishChanges(uint64(seq), s.changed)
	}
	db.nudge()
}

func (db *DB) nudge() {
	select {
	case db.wake <- struct{}{}:
	default:
	}
}

// Seq is the newest durable seq.
func (db *DB) Seq() uint64 { return uint64(db.engine.Seq()) }

// Poisoned tells why writing is refused until the database is reopened, nil
// while it is not.
func (db *DB) Poisoned() error { return wrap(db.engine.Poisoned()) }

// Close refuses new transactions, waits as long as ctx lives for the open ones
// and for what is being committed, and closes the store. If ctx ends first, all
// that was acknowledged is safe and Close can be called again.
func (db *DB) Close(ctx context.Context) error {
	db.watch.close()
	db.stop()
	<-db.stopped
	db.vectors.wait()
	db.text.EndFilling()
	if err := db.engine.Close(ctx); err != nil {
		return wrap(err)
	}
	// Whether it can be written or not: it is a copy.
	db.saveTopology(context.WithoutCancel(ctx), true)
	if err := db.text.Close(); err != nil {
		// The index is a copy that the next opening brings up to date.
		db.tidyErr.set(err)
	}
	if err := db.vectors.close(); err != nil {
		db.tidyErr.set(err)
	}
	if db.release != nil {
		release := db.release
		db.release = nil
		return wrap(release())
	}
	return nil
}
