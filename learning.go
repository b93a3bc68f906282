package engram

import (
	"context"
	"sync"
	"time"

	"engram/graph"
	"engram/graph/value"
	"engram/query"
)

// Bounds of the learning queue: how many uses it holds, and how many are written in
// one transaction.
const (
	learnQueue = 100_000
	learnBatch = 1000
)

// learner is the learning queue: what statements say was of use waits here and is
// written in batches, so that recalling never waits for writing. A use leaves the
// queue only when the transaction that holds it is durable, or may be.
type learner struct {
	graph *graph.DB
	every time.Duration // negative: only when asked to
	after func(time.Duration, func()) (stop func() bool)

	drain sync.Mutex // held while a batch is written

	mu      sync.Mutex
	queue   []value.Use
	dropped uint64
	stop    func() bool // of the timer; nil while none runs
	closed  bool
	err     error // of the last batch
}

func newLearner(g *graph.DB, o *Options) *learner {
	return &learner{graph: g, every: o.LearnEvery, after: o.LearnTimer}
}

// tell queues a use. It is counted before it is queued, so that a killed process
// leaves a count of what it lost.
func (l *learner) tell(u value.Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.queue) >= learnQueue {
		l.dropped++
		return
	}
	if err := l.graph.NoteTold(); err != nil {
		l.err = err
	}
	l.queue = append(l.queue, u)
	l.armLocked()
}

// armLocked starts the timer unless it runs.
func (l *learner) armLocked() {
	if l.stop != nil || l.closed || l.every < 0 || len(l.queue) == 0 {
		return
	}
	l.stop = l.after(l.every, l.fire)
}

// fire writes what waits; what could not be written waits for the next time.
func (l *learner) fire() {
	l.mu.Lock()
	l.stop = nil
	l.mu.Unlock()
	_ = l.write(context.Background()) // told by Stats
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armLocked()
}

// write writes what was queued when it began, a batch a transaction.
func (l *learner) write(ctx context.Context) error {
	l.drain.Lock()
	defer l.drain.Unlock()
	l.mu.Lock()
	left := len(l.queue)
	l.mu.Unlock()
	for left > 0 {
		l.mu.Lock()
		batch := l.queue[:min(learnBatch, left)]
		l.mu.Unlock()
		err := l.batch(ctx, batch)
		l.mu.Lock()
		if l.err = err; err == nil {
			l.queue = append([]value.Use(nil), l.queue[len(batch):]...)
			left -= len(batch)
		}
		l.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *learner) batch(ctx context.Context, uses []value.Use) (err error) {
	tx, err := l.graph.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	defer recovered(&err)
	if _, err := tx.Learn(uses); err != nil {
		return tx.Abandon(ctx, err)
	}
	if _, err = tx.Commit(ctx); graph.CodeOf(err) == graph.OutcomeUnknown {
		// Not again: uses that count twice would never be noticed, those that were
		// not written are counted as lost at the next opening.
		l.mu.Lock()
		defer l.mu.Unlock()
		l.queue = append([]value.Use(nil), l.queue[len(uses):]...)
	}
	return err
}

// close stops the timer and writes what waits, as long as ctx lives. What cannot be
// written is counted as lost at the next opening.
func (l *learner) close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.mu.Unlock()
	return l.write(ctx)
}

func (l *learner) stats(s *graph.LearningStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Pending, s.Dropped, s.Err = len(l.queue), l.dropped, l.err
}

// DrainLearning writes what the learning queue holds and waits until it is durable.
// It happens by itself every Options.LearnEvery and when the database is closed.
func (db *DB) DrainLearning(ctx context.Context) error { return convert(db.learner.write(ctx), "") }

// teller returns where a statement's uses go; nil when nothing is learned.
func (db *DB) teller() func(value.Use) {
	if db.opts.NoLearning || db.opts.ReadOnly {
		return nil
	}
	return db.learner.tell
}

// heldUses are uses of a transaction that may still fail.
type heldUses struct {
	tell func(value.Use)
	uses []value.Use
}

// holdUses keeps what a run tells until release; nothing when nothing is learned.
func holdUses(opts *query.RunOptions) *heldUses {
	h := &heldUses{}
	h.hold(opts)
	return h
}

// hold makes a run tell h.
func (h *heldUses) hold(opts *query.RunOptions) {
	if h.tell = opts.Learn; h.tell != nil {
		opts.Learn = func(u value.Use) { h.uses = append(h.uses, u) }
	}
}

// release tells what was held.
func (h *heldUses) release() {
	for _, u := range h.uses {
		h.tell(u)
	}
	h.uses = nil
}
