package commit

import (
	"context"
	"fmt"

	"engram/graph/internal/store"
)

// Ticket is the promise of an answer: what became of a transaction, told only when
// everything that it could have read is durable.
type Ticket struct {
	after   *Ticket       // the write-set to wait for instead, when this one wrote nothing
	writes  bool          // there is something that may become durable: its own, or what was handed over with its key before
	done    chan struct{} // closed once outcome and err are final
	seq     store.Seq
	outcome store.Outcome
	err     error
}

func newTicket(seq store.Seq) *Ticket {
	return &Ticket{done: make(chan struct{}), seq: seq, writes: true}
}

// resolved makes a ticket whose answer is known already.
func resolved(seq store.Seq, outcome store.Outcome, err error) *Ticket {
	t := newTicket(seq)
	t.writes = false
	t.resolve(outcome, err)
	return t
}

// following makes the ticket of a transaction that wrote nothing: its answer is
// known, but holds only if the write-set of after (nil: nothing pends) is durable.
func following(after *Ticket, seq store.Seq, outcome store.Outcome, err error) *Ticket {
	t := resolved(seq, outcome, err)
	t.after = after
	return t
}

func (t *Ticket) resolve(outcome store.Outcome, err error) {
	t.outcome, t.err = outcome, err
	close(t.done)
}

// Wait blocks until the outcome is known and returns the seq of the transaction
// (of a read-only one, the newest seq it could have read).
//
//   - Committed, nil: durable, and so is everything it read.
//   - Failed: nothing was written; the error wraps ErrFailed, ErrAborted,
//     ErrTooLarge, ErrPoisoned or ErrClosed.
//   - Conflict: nothing was written, another writer changed the store.
//   - Unknown with ErrOutcomeUnknown: see there.
//   - Unknown with ErrGoesOn and ctx's error: the caller stopped waiting; what it
//     wrote is on its way to the disk.
//   - Unknown with ctx's error alone: the caller stopped waiting; it wrote nothing.
func (t *Ticket) Wait(ctx context.Context) (store.Seq, store.Outcome, error) {
	waits := t
	if t.after != nil {
		waits = t.after
	}
	select {
	case <-waits.done: // known: tell it even when ctx is over too
	default:
		select {
		case <-waits.done:
		case <-ctx.Done():
			return t.seq, store.Unknown, t.givenUp(ctx.Err())
		}
	}
	if t.after != nil && t.after.outcome != store.Committed {
		return t.seq, store.Failed, fmt.Errorf("%w: %v", ErrAborted, t.after.err)
	}
	return t.seq, t.outcome, t.err
}

// givenUp is what a caller is told whose context ended before the outcome was known.
func (t *Ticket) givenUp(cause error) error {
	if !t.writes {
		return fmt.Errorf("gave up waiting until what was read is durable; nothing was written: %w", cause)
	}
	return fmt.Errorf("%w: %w; look for what transaction %d has written, or for its idempotency key, before it is executed again", ErrGoesOn, cause, t.seq)
}
