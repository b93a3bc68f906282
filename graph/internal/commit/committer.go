package commit

import (
	"fmt"
	"time"

	"engram/graph/internal/store"
)

// run is the committer goroutine: owner New, stop signal e.stop.
func (e *Engine[V]) run() {
	defer close(e.stopped)
	last, size := time.Duration(0), 0 // of the group before
	for {
		if e.backlog() == 0 {
			select {
			case <-e.wake:
			case <-e.stop:
				return
			}
			continue
		}
		e.gather(size, min(2*last, e.opts.MaxGroupWait))
		group := e.takeGroup()
		start := e.opts.Now()
		e.commitGroup(group)
		last, size = e.opts.Now().Sub(start), len(group)
		e.cleanIfIdle()
	}
}

// backlog is how many write-sets pend.
func (e *Engine[V]) backlog() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pending)
}

// groupEnough is the size from which on a group waits for nobody: the sync is shared
// by many, and others can execute while it runs.
const groupEnough = 32

// gather waits, but not for long, while others are about to add to the group: they
// wait for the slot, or were in the group before, of size, and are likely to come
// again. One sync then serves more of them, and nobody is kept from executing.
func (e *Engine[V]) gather(size int, long time.Duration) {
	if e.opts.Waiting == nil || long <= 0 {
		return
	}
	coming := func() bool {
		n := e.backlog()
		return n < groupEnough && (n < size || e.opts.Waiting() > 0)
	}
	if !coming() {
		return
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	for coming() {
		select {
		case <-e.wake:
		case <-timer.C:
			return
		}
	}
}

// takeGroup picks everything pending up to the group limit, at least one. Only
// the committer takes from pending, so something pends. It stays in pending: others are executed on top of it.
func (e *Engine[V]) takeGroup() []*writeSet[V] {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, bytes := 0, 0
	for n < len(e.pending) && (n == 0 || bytes+e.pending[n].bytes <= e.opts.MaxGroupBytes) {
		bytes += e.pending[n].bytes
		n++
	}
	return append([]*writeSet[V](nil), e.pending[:n]...)
}

// commitGroup makes the group durable with one Apply and answers it. No lock is
// held while the driver works.
func (e *Engine[V]) commitGroup(group []*writeSet[V]) {
	base := e.durable // only this goroutine replaces it
	batches := make([]store.Batch, len(group))
	for i, ws := range group {
		batches[i] = store.Batch{Seq: ws.seq, Puts: ws.puts}
	}
	outcome, err := e.driver.Apply(base.seq, batches)
	if outcome != store.Committed {
		e.lose(group, outcome, err)
		return
	}
	if tap := e.tap.Load(); tap != nil {
		(*tap)(batches)
	}
	last := group[len(group)-1]
	reader, err := e.driver.Snapshot()
	if err == nil && reader.Seq() != last.seq {
		err = fmt.Errorf("%w: the store is at seq %d after committing seq %d", store.ErrDamaged, reader.Seq(), last.seq)
		_ = reader.Close()
	}
	if err != nil {
		e.committedUnreadable(group, err)
		return
	}
	if e.opts.Publish != nil {
		for _, ws := range group {
			e.opts.Publish(ws.seq, ws.version)
		}
	}
	e.advance(base, &durable[V]{seq: last.seq, version: last.version, reader: Prove(reader, e.opts.Envelope), refs: 1}, group)
	if e.opts.Advanced != nil {
		e.opts.Advanced(last.seq)
	}
	e.acknowledge(group, last.seq)
}

// advance makes next the durable state that snapshots get.
func (e *Engine[V]) advance(base, next *durable[V], group []*writeSet[V]) {
	var prior *priorValues
	var err error
	e.mu.Lock()
	for len(e.longs) > 0 && prior == nil && err == nil {
		// A long snapshot may be opened while the prior values are being read, but
		// only at base, for which they are right.
		e.mu.Unlock()
		prior, err = readPrior(base.reader, next.seq, group)
		e.mu.Lock()
	}
	switch {
	case err != nil:
		e.giveUpLocked(len(e.longs), fmt.Errorf("%w: reading what it needs kept: %w", ErrSnapshotTooOld, err))
	case prior != nil:
		e.undo.add(prior)
		e.boundLongsLocked()
		e.trimUndoLocked()
	}
	e.durable = next
	for _, ws := range group {
		e.bytes -= ws.bytes
	}
	e.pending = append([]*writeSet[V](nil), e.pending[len(group):]...)
	e.retired = append(e.retired, group...)
	e.stats.Commits += uint64(len(group))
	e.stats.Groups++
	e.signalLocked()
	e.mu.Unlock()
	e.unpin(base)
}

// acknowledge answers a durable group.
func (e *Engine[V]) acknowledge(group []*writeSet[V], seq store.Seq) {
	if e.opts.BeforeAck != nil {
		if err := e.opts.BeforeAck(seq); err != nil {
			e.mu.Lock()
			e.stats.AckErrors++
			e.stats.LastAckError = err
			e.mu.Unlock()
		}
	}
	for _, ws := range group {
		ws.ticket.resolve(store.Committed, nil)
	}
}

// Tap lets fn see what the driver has committed, group by group, in the
// committer's goroutine, which it holds up; it must not keep the batches. nil ends
// that.
func (e *Engine[V]) Tap(fn func([]store.Batch)) {
	if fn == nil {
		e.tap.Store(nil)
		return
	}
	e.tap.Store(&fn)
}

// lose answers a group that is not surely durable and aborts all executed on top
// of it. Only after Failed the store can be written to again.
func (e *Engine[V]) lose(group []*writeSet[V], outcome store.Outcome, cause error) {
	var answer, poison error
	switch outcome {
	case store.Failed:
		answer = fmt.Errorf("%w: %w", ErrFailed, cause)
	case store.Conflict:
		poison = fmt.Errorf("%w: another writer changed the store: %w", ErrPoisoned, cause)
		answer = poison
	default:
		outcome = store.Unknown
		poison = fmt.Errorf("%w: the commit of seq %d to %d ended with %w", ErrPoisoned, group[0].seq, group[len(group)-1].seq, cause)
		answer = fmt.Errorf("%w: %w", ErrOutcomeUnknown, cause)
	}
	above := e.dropPending(len(group), poison)
	for _, ws := range group {
		ws.ticket.resolve(outcome, answer)
	}
	for _, ws := range above {
		ws.ticket.resolve(store.Failed, fmt.Errorf("%w: %w", ErrAborted, cause))
	}
}

// committedUnreadable answers a group that is durable but cannot be read back: the
// store is given up like after an unknown outcome, though this one is known.
func (e *Engine[V]) committedUnreadable(group []*writeSet[V], cause error) {
	above := e.dropPending(len(group), fmt.Errorf("%w: seq %d is durable but cannot be read: %w", ErrPoisoned, group[len(group)-1].seq, cause))
	e.acknowledge(group, group[len(group)-1].seq)
	for _, ws := range above {
		ws.ticket.resolve(store.Failed, fmt.Errorf("%w: %w", ErrAborted, cause))
	}
}

// dropPending forgets everything that is not durable, so that the head is the
// durable state again, dooms the slot's holder and returns what was on top of the
// first n.
func (e *Engine[V]) dropPending(n int, poison error) (above []*writeSet[V]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	above = e.pending[n:]
	e.stats.Lost += uint64(len(e.pending))
	e.pending, e.bytes = nil, 0
	e.epoch.Add(1)
	if poison != nil {
		e.poison = poison
	}
	e.signalLocked()
	return above
}

// cleanIfIdle frees the memtable's durable part when no slot is held.
func (e *Engine[V]) cleanIfIdle() {
	select {
	case <-e.slot:
		e.mu.Lock()
		e.cleanLocked()
		e.mu.Unlock()
		e.slot <- struct{}{}
	default: // the next AcquireSlot does it
	}
}
