package graph

import (
	"slices"
	"sync"
	"time"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// Yardstick writes what a database commits a second time, with its store engine
// (bbolt) alone and into a file of its own: what durable writing of the same
// changes costs at least on the machine. It is for benchmarks.
type Yardstick struct {
	db   *DB
	bare *bolt.Bare
	mu   sync.Mutex
	todo []store.Batch
}

// NewYardstick begins to note what is committed. file is a copy of the database's
// file graph.db, made while it was closed and nothing has been committed since; it
// is written to. There is one yardstick at a time; it must be closed.
func (db *DB) NewYardstick(file string) (*Yardstick, error) {
	bare, err := bolt.OpenBare(file)
	if err != nil {
		return nil, wrap(err)
	}
	y := &Yardstick{db: db, bare: bare}
	db.engine.Tap(func(batches []store.Batch) {
		y.mu.Lock()
		defer y.mu.Unlock()
		for _, b := range batches {
			y.todo = append(y.todo, store.Batch{Seq: b.Seq, Puts: slices.Clone(b.Puts)})
		}
	})
	return y, nil
}

// Repeat writes the transactions that were committed since the last call, each by
// itself and durable, and tells how many there were and how long it took.
func (y *Yardstick) Repeat() (transactions int, took time.Duration, err error) {
	y.mu.Lock()
	todo := y.todo
	y.todo = nil
	y.mu.Unlock()
	start := time.Now()
	for _, b := range todo {
		if err := y.bare.Write(b); err != nil {
			return 0, 0, wrap(err)
		}
	}
	return len(todo), time.Since(start), nil
}

// Close ends it.
func (y *Yardstick) Close() error {
	y.db.engine.Tap(nil)
	return wrap(y.bare.Close())
}
