package graph

import (
	"context"

	"engram/graph/internal/catalog"
	"engram/graph/internal/commit"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/internal/topo"
	"engram/graph/internal/vector"
	"engram/graph/value"
	"engram/graph/vocab"
)

// source reads the store as of the transaction's base.
type source interface {
	Get(space store.Space, key []byte) ([]byte, error)
	GetMany(space store.Space, keys, out [][]byte) ([][]byte, error)
	Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) error
}

// Tx is a transaction. A reading one shows one snapshot; a writing one holds the
// write slot and shows what the newest finished transaction left, with its own
// writes laid over it. It implements the reader and the writer that the query
// stages ask for. It must be ended by Commit, Rollback or Abandon, and is not
// safe for concurrent use.
type Tx struct {
	db   *DB
	ctx  context.Context //nolint:containedctx // ids may have to be reserved in the middle
	src  source
	seq  store.Seq
	base *state
	snap *commit.Snapshot[*state] // nil for a writing transaction
	w    *writes                  // nil for a reading one

	topo   *topo.Version // with the own writes in it
	names  *catalog.Catalog
	keys   *keyTable
	schema *schemaTable
	vocab  *vocab.Vocabulary

	view    *text.View // of a reading transaction
	viewErr error
	near    *vector.View // of a reading transaction that looked at vectors

	nodes   [cacheSize]cachedRecord // payloads read last, by id
	blocks  [cacheSize]cachedRecord // of edge blocks, by number
	see     []int                   // scratch
	hops    []topo.Hop              // scratch
	weights []topo.EdgeWeight       // scratch
	err     error                   // why it cannot be used any more

	withheld []string        // labels whose nodes are as if they were not there
	hide     []value.LabelID // those of them that a node has
}

const cacheSize = 8

// cachedRecord is a verified payload as the base has it.
type cachedRecord struct {
	id      uint64 // +1, so that the zero value matches nothing
	payload []byte
}

// Snapshot begins a reading transaction for one statement. It keeps pages of the
// store from being used again: end it soon, and never hold it across anything
// that waits.
func (db *DB) Snapshot() (*Tx, error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return nil, wrap(err)
	}
	return db.readTx(snap), nil
}

// LongSnapshot begins a reading transaction that may stay open for a while: it
// holds nothing of the store, but is given up after Options.MaxLongAge.
func (db *DB) LongSnapshot() (*Tx, error) {
	snap, err := db.engine.LongSnapshot()
	if err != nil {
		return nil, wrap(err)
	}
	tx := db.readTx(snap)
	if !db.readOnly { // there they are made by the first search, and never go
		tx.near = db.vectors.viewNow(uint64(tx.seq)) // later it might be gone
	}
	return tx, nil
}

func (db *DB) readTx(snap *commit.Snapshot[*state]) *Tx {
	s := snap.Version()
	tx := &Tx{
		db: db, ctx: context.Background(), src: snap, snap: snap, seq: snap.Seq(), base: s,
		topo: s.topo, names: s.names, keys: s.keys, schema: s.schema, vocab: s.vocab,
	}
	if !db.readOnly {
		// Later it might be gone.
		tx.view, tx.viewErr = db.text.At(uint64(tx.seq))
	}
	return tx
}

// Begin takes the write slot and begins a writing transaction. It waits as long
// as ctx lives.
func (db *DB) Begin(ctx context.Context) (*Tx, error) {
	if db.readOnly {
		return nil, fail(ReadOnly, "the database is open for reading only")
	}
	if ctx.Err() != nil { // even when the slot is free: select would take either
		return nil, &Error{Code: Canceled, Message: "the context had ended before the transaction began", Err: context.Cause(ctx)}
	}
	if err := db.text.Throttle(ctx); err != nil {
		return nil, &Error{Code: Canceled, Message: "gave up waiting for the text index", Err: err}
	}
	if err := db.becomeWriter(ctx); err != nil {
		return nil, err
	}
	slot, err := db.engine.AcquireSlot(ctx)
	if err != nil {
		<-db.writer
		return nil, wrap(err)
	}
	s := slot.Version()
	tx := &Tx{
		db: db, ctx: ctx, src: slot, seq: slot.Seq(), base: s,
		names: s.names, keys: s.keys, schema: s.schema, vocab: s.vocab, w: newWrites(slot, s),
	}
	db.compact.Install(tx.w.ed)
	tx.topo = tx.w.ed.View()
	return tx, nil
}

// becomeWriter takes db.writer.
func (db *DB) becomeWriter(ctx context.Context) error {
	select {
	case db.writer <- struct{}{}:
		return nil
	default:
	}
	db.waiting.Add(1)
	defer db.waiting.Add(-1)
	select {
	case db.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &Error{Code: Canceled, Message: "gave up waiting for the write slot", Err: context.Cause(ctx)}
	}
}

// BeginDurable is Begin for a transaction whose reads are shown to somebody
// before it commits: it waits until its base is durable.
func (db *DB) BeginDurable(ctx context.Context) (*Tx, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	ticket := tx.w.slot.FinishReadOnly()
	tx.w.slot = nil
	// The database's lock is still held: nobody executes in between.
	if _, outcome, err := ticket.Wait(ctx); outcome != store.Committed {
		<-db.writer
		return nil, wrap(err)
	}
	slot, err := db.engine.AcquireSlot(ctx)
	if err != nil {
		<-db.writer
		return nil, wrap(err)
	}
	tx.w.slot, tx.src = slot, slot
	return tx, nil
}

// Seq is the seq of the transaction's base.
func (tx *Tx) Seq() uint64 { return uint64(tx.seq) }

// Writable reports whether the transaction may write.
func (tx *Tx) Writable() bool { return tx.w != nil }

// Topology returns the shape of the graph as the transaction sees it, own
// writes included, for traversals inside this module. It is valid until the
// next write.
func (tx *Tx) Topology() *topo.Version { return tx.topo }

// check reports why the transaction cannot be used.
func (tx *Tx) check() error { return tx.err }

// checkWrite reports why the transaction cannot write.
func (tx *Tx) checkWrite() error {
	if tx.err != nil {
		return tx.err
	}
	if tx.w == nil {
		return fail(ReadOnly, "a reading transaction cannot write")
	}
	return nil
}

// end gives back what the transaction holds, once.
func (tx *Tx) end() {
	if tx.err == nil {
		tx.err = errTxDone
	}
	if tx.snap != nil {
		tx.snap.Close()
		tx.snap = nil
	}
}

// Rollback ends the transaction without writing; nobody may be told what it
// read in a writing transaction. It may be called after the end.
func (tx *Tx) Rollback() {
	if tx.w != nil && tx.w.slot != nil {
		tx.w.slot.Abort()
		tx.w.slot = nil
		<-tx.db.writer
	}
	tx.end()
}

// Abandon ends a writing transaction because of cause, and returns cause once
// everything that it may have come from is durable. When that was lost, it
// returns the loss: cause may be about something that never was.
func (tx *Tx) Abandon(ctx context.Context, cause error) error {
	if tx.w == nil || tx.w.slot == nil {
		tx.Rollback()
		return cause
	}
	ticket := tx.w.slot.FinishReadOnly()
	tx.w.slot = nil
	<-tx.db.writer
	tx.end()
	if _, outcome, err := ticket.Wait(ctx); outcome != store.Committed {
		return wrap(err)
	}
	return cause
}

// open verifies an envelope read from the store.
func (tx *Tx) open(space store.Space, key, sealed []byte) ([]byte, error) {
	payload, err := tx.db.seal.Open(space, key, sealed)
	return payload, wrap(err)
}

// damaged makes the error for a record that cannot be understood.
func (tx *Tx) damaged(space store.Space, key []byte, err error) error {
	return wrap(tx.db.seal.Damaged(space, key, err.Error()))
}

// overflow fetches a value that is out of line.
func (tx *Tx) overflow(key []byte) (value.Value, error) {
	v, err := fetchOverflow(tx.src, tx.db.seal, key)
	return v, wrap(err)
}

// fetchOverflow fetches a value that is out of line.
func fetchOverflow(src source, seal record.Sealer, key []byte) (value.Value, error) {
	sealed, err := src.Get(store.Overflow, key)
	if err != nil {
		return value.Null, err
	}
	if sealed == nil {
		return value.Null, seal.Damaged(store.Overflow, key, "it is missing")
	}
	payload, err := seal.Open(store.Overflow, key, sealed)
	if err != nil {
		return value.Null, err
	}
	v, err := record.DecodeValue(payload)
	if err != nil {
		return value.Null, seal.Damaged(store.Overflow, key, err.Error())
	}
	return v, nil
}
