package commit

import "errors"

// Why a transaction or a snapshot ended without what was asked. Compare with
// errors.Is; the wrapped texts say what happened and what to do.
var (
	// ErrAborted: nothing was written, because a transaction that this one was
	// executed on top of was lost. Executing it again is right.
	ErrAborted = errors.New("aborted: an earlier transaction that this one had read was lost; execute it again")
	// ErrFailed: nothing was written and the store stays usable.
	ErrFailed = errors.New("not committed, nothing was written")
	// ErrOutcomeUnknown: the transaction may or may not be there after reopening;
	// an idempotency key tells then.
	ErrOutcomeUnknown = errors.New("outcome unknown: reopen the database to learn whether the transaction is there")
	// ErrGoesOn: the caller stopped waiting when the transaction was on its way to
	// the disk already. It goes on, so it may still become durable; nothing is wrong
	// with the store.
	ErrGoesOn = errors.New("outcome unknown: the caller stopped waiting while the transaction was being written, and it may still become durable")
	// ErrPoisoned: a commit ended unknown, so writing is refused until reopening.
	ErrPoisoned = errors.New("writing is refused until the database is reopened")
	// ErrClosed: used after Close.
	ErrClosed = errors.New("the database is closed")
	// ErrTooLarge: a write-set over its limit; nothing was written.
	ErrTooLarge = errors.New("the transaction is too large")
	// ErrSnapshotTooOld: a long snapshot was given up to bound what it costs.
	ErrSnapshotTooOld = errors.New("the snapshot is too old")
	// ErrSlotDone: a slot used after Finish, FinishReadOnly or Abort.
	ErrSlotDone = errors.New("the write slot was given back already")
	// ErrSnapshotsOpen: Close gave up waiting for snapshots.
	ErrSnapshotsOpen = errors.New("not closed yet: transactions or statements are still running")
)
