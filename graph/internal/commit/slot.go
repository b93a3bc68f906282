package commit

import (
	"context"
	"fmt"

	"engram/graph/internal/store"
)

// MaxIdempotencyKey is the longest idempotency key in bytes.
const MaxIdempotencyKey = 256

// Slot is the right to execute one writing transaction. It reads what the newest
// finished transaction left, durable or not. It belongs to one goroutine and must
// be ended by exactly one of Finish, FinishReadOnly and Abort.
type Slot[V any] struct {
	engine  *Engine[V]
	base    *durable[V]
	epoch   uint64
	seq     store.Seq
	version V
	after   *Ticket // of the newest finished write-set, nil if that is durable
	done    bool
}

// AcquireSlot waits for the write slot, and for the backlog to shrink when more
// than MaxPendingBytes pend, as long as ctx lives.
func (e *Engine[V]) AcquireSlot(ctx context.Context) (*Slot[V], error) {
	if err := e.refusal(); err != nil {
		return nil, err
	}
	select {
	case <-e.slot:
	default:
		select {
		case <-e.slot:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the write slot: %w", ctx.Err())
		}
	}
	s, err := e.openSlot(ctx)
	if err != nil {
		e.slot <- struct{}{}
		return nil, err
	}
	return s, nil
}

// refusal tells why no slot is to be had.
func (e *Engine[V]) refusal() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refusalLocked()
}

func (e *Engine[V]) refusalLocked() error {
	if e.closing {
		return ErrClosed
	}
	return e.poison
}

func (e *Engine[V]) openSlot(ctx context.Context) (*Slot[V], error) {
	err := e.waitUntil(ctx, func() bool { return e.bytes <= e.opts.MaxPendingBytes || e.refusalLocked() != nil })
	if err != nil {
		return nil, fmt.Errorf("waiting for the disk to catch up: %w", ctx.Err())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refusalLocked(); err != nil {
		return nil, err
	}
	s := &Slot[V]{engine: e, base: e.pinLocked(), epoch: e.epoch.Load()}
	s.seq, s.version = s.base.seq, s.base.version
	if head := e.headLocked(); head != nil {
		s.seq, s.version, s.after = head.seq, head.version, head.ticket
	}
	e.open++
	e.cleanLocked()
	return s, nil
}

// cleanLocked drops from the memtable what is durable. The caller holds the slot
// token as well, and no slot reads from an older reader.
func (e *Engine[V]) cleanLocked() {
	if epoch := e.epoch.Load(); e.mem.epoch != epoch {
		e.mem.clear() // nothing pends: whoever finishes has opened a slot in this epoch
		e.mem.epoch = epoch
	} else {
		for _, ws := range e.retired {
			e.mem.remove(ws.seq, ws.puts)
		}
	}
	e.retired = nil
}

// Seq is the seq of the newest finished transaction, which this one reads. What
// Finish writes becomes Seq()+1.
func (s *Slot[V]) Seq() store.Seq { return s.seq }

// Version is the version of that seq.
func (s *Slot[V]) Version() V { return s.version }

// Err tells whether going on is in vain: ErrAborted once something that this slot
// read was lost, ErrSlotDone after its end. Reads return it, too.
func (s *Slot[V]) Err() error {
	if s.done {
		return ErrSlotDone
	}
	if s.epoch != s.engine.epoch.Load() {
		return ErrAborted
	}
	return nil
}

// Get reads one key, nil if absent. The bytes are the caller's.
func (s *Slot[V]) Get(space store.Space, key []byte) ([]byte, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if v, ok := s.engine.mem.get(space, key); ok {
		return clone(v), nil
	}
	return s.base.reader.Get(space, key)
}

// GetMany appends the value of each key to out, nil for an absent one.
func (s *Slot[V]) GetMany(space store.Space, keys, out [][]byte) ([][]byte, error) {
	if err := s.Err(); err != nil {
		return out, err
	}
	first := len(out)
	out, err := s.base.reader.GetMany(space, keys, out)
	if err != nil {
		return out, err
	}
	for i, key := range keys {
		if v, ok := s.engine.mem.get(space, key); ok {
			out[first+i] = clone(v)
		}
	}
	return out, nil
}

// Scan calls fn for the keys in [from, to) in ascending order until it returns
// false; nil bounds are open. The bytes are valid during the call only. fn must not
// end the slot.
func (s *Slot[V]) Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) error {
	if err := s.Err(); err != nil {
		return err
	}
	return scanOver(s.base.reader, space, from, to, s.engine.mem.changes(space, from, to), fn)
}

// Repeated looks an idempotency key up: found with the seq it committed at, if the
// transaction is to be answered by FinishReadOnly instead of being executed again.
func (s *Slot[V]) Repeated(key string) (seq store.Seq, found bool, err error) {
	if key == "" {
		return 0, false, nil
	}
	value, err := s.Get(store.Idempotency, []byte(key))
	if err != nil || value == nil {
		return 0, false, err
	}
	seq, err = s.engine.openSeq(key, value)
	return seq, err == nil, err
}

// Finish hands the write-set over, makes next the version of seq Seq()+1 and frees
// the slot. Each key may appear once; puts and what they point to belong to the
// engine from now on. idemKey, if not empty, is stored with the seq in the same
// batch; if it is there already, nothing is written and the answer is the first
// seq. A write-set without puts and key still takes a seq of its own.
//
// The answer must wait for the ticket. Errors come with the ticket, too.
func (s *Slot[V]) Finish(puts []store.Put, next V, idemKey string) *Ticket {
	if s.done {
		return resolved(s.seq, store.Failed, ErrSlotDone)
	}
	seq := s.seq + 1
	if idemKey != "" {
		first, found, err := s.Repeated(idemKey)
		switch {
		case err != nil:
			return s.finishWith(s.seq, store.Failed, fmt.Errorf("%w: looking up the idempotency key: %w", ErrFailed, err))
		case found:
			t := s.finishWith(first, store.Committed, nil)
			t.writes = true // the first one may still be on its way
			return t
		case len(idemKey) > MaxIdempotencyKey:
			return s.finishWith(s.seq, store.Failed, fmt.Errorf("%w: %w: an idempotency key of %d bytes; at most %d are allowed", ErrFailed, store.ErrInvalid, len(idemKey), MaxIdempotencyKey))
		}
		puts = append(puts, store.Put{Space: store.Idempotency, Key: []byte(idemKey), Value: s.engine.sealSeq(idemKey, seq)})
	}
	bytes, err := s.engine.measure(puts)
	if err != nil {
		return s.finishWith(s.seq, store.Failed, err)
	}
	return s.enqueue(&writeSet[V]{seq: seq, puts: puts, version: next, bytes: bytes, ticket: newTicket(seq)})
}

// measure refuses what is over the limits or breaks the store's contract, before
// others are executed on top of it.
func (e *Engine[V]) measure(puts []store.Put) (bytes int, err error) {
	for _, p := range puts {
		bytes += len(p.Key) + len(p.Value)
	}
	if len(puts) > e.opts.MaxKeys || bytes > e.opts.MaxBytes {
		return 0, fmt.Errorf("%w: it changes %d keys with %d bytes; at most %d keys and %d bytes are allowed; split it or load in bulk",
			ErrTooLarge, len(puts), bytes, e.opts.MaxKeys, e.opts.MaxBytes)
	}
	if err := store.CheckBatches(0, []store.Batch{{Seq: 1, Puts: puts}}); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return bytes, nil
}

// enqueue makes ws the head, unless the slot is doomed, and frees the slot.
func (s *Slot[V]) enqueue(ws *writeSet[V]) *Ticket {
	e := s.engine
	e.mu.Lock()
	if s.epoch != e.epoch.Load() {
		e.stats.Lost++
		e.mu.Unlock()
		return s.finishWith(s.seq, store.Failed, ErrAborted)
	}
	e.mem.add(ws.seq, ws.puts)
	e.pending = append(e.pending, ws)
	e.bytes += ws.bytes
	e.mu.Unlock()
	s.release()
	select {
	case e.wake <- struct{}{}:
	default: // the committer is told already
	}
	return ws.ticket
}

// FinishReadOnly frees the slot without writing. The ticket says when the answer,
// which may be an error, may be given: once all that the slot could have read is
// durable; if that is lost, the answer must not be given and the ticket says
// ErrAborted.
func (s *Slot[V]) FinishReadOnly() *Ticket {
	return s.finishWith(s.seq, store.Committed, nil)
}

// finishWith frees the slot with an answer that needs no write.
func (s *Slot[V]) finishWith(seq store.Seq, outcome store.Outcome, err error) *Ticket {
	switch e := s.Err(); {
	case s.done:
		return resolved(seq, store.Failed, e)
	case e != nil:
		outcome, err = store.Failed, e
	}
	s.release()
	return following(s.after, seq, outcome, err)
}

// Abort frees the slot of a transaction that nobody will be told about. It may be
// called after the slot's end.
func (s *Slot[V]) Abort() {
	if !s.done {
		s.release()
	}
}

func (s *Slot[V]) release() {
	e := s.engine
	s.done = true
	e.unpin(s.base)
	e.mu.Lock()
	e.leaveLocked()
	e.mu.Unlock()
	e.slot <- struct{}{}
}
