package engram

import (
	"context"
	"sync"
	"time"

	"engram/graph"
	"engram/query"
)

// Tx is a transaction of several statements. A reading one shows one moment of
// the database. A writing one keeps other writers out; it ends by itself when it
// is idle or open for too long, and any error in it ends it without a trace. It
// is safe for concurrent use, one statement at a time.
type Tx struct {
	db    *DB
	began time.Time
	write bool
	// limit is when a writing transaction ends by itself, by the runtime's clock;
	// zero: never.
	limit time.Time

	mu    sync.Mutex // held while a statement runs
	graph *graph.Tx
	idle  *time.Timer
	err   error // why it has ended, nil while it is open
	used  heldUses
}

// Begin begins a transaction, which Commit or Rollback must end. A writing one
// waits for the write slot as long as ctx lives.
func (db *DB) Begin(ctx context.Context, write bool) (*Tx, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	tx := &Tx{db: db, write: write, began: db.opts.Now()}
	var err error
	if !write {
		if tx.graph, err = db.graph.LongSnapshot(); err != nil {
			return nil, convert(err, "")
		}
		return db.enter(tx)
	}
	// What the transaction reads is shown before it commits: so its base has to
	// be durable.
	if tx.graph, err = db.graph.BeginDurable(ctx); err != nil {
		return nil, convert(err, "")
	}
	tx.limit = time.Now().Add(db.opts.TxTotal)
	tx.mu.Lock() // a timer that fires at once waits until it is known
	defer tx.mu.Unlock()
	tx.idle = time.AfterFunc(min(db.opts.TxIdle, db.opts.TxTotal), tx.expire)
	return db.enter(tx)
}

// enter counts a transaction among the open ones.
func (db *DB) enter(tx *Tx) (*Tx, error) {
	if db.open.add(tx) {
		return tx, nil
	}
	tx.endLocked(errClosing())
	return nil, tx.err
}

// expire ends the transaction when it was idle for too long. It waits for a
// statement that has just begun, which stops the timer, and then does nothing.
func (tx *Tx) expire() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.err != nil || tx.idle == nil {
		return
	}
	tx.endLocked(newError(CodeTxExpired,
		"the transaction was rolled back: it was idle for %v or open for %v, and others wait to write", tx.db.opts.TxIdle, tx.db.opts.TxTotal))
}

// endLocked rolls back what is still open and keeps why.
func (tx *Tx) endLocked(why error) {
	tx.db.open.remove(tx)
	tx.graph.Rollback()
	if tx.idle != nil {
		tx.idle.Stop()
	}
	if tx.err == nil {
		tx.err = why
	}
}

// Query runs a statement in the transaction. After an error in a writing
// transaction nothing of it is kept: it has ended.
func (tx *Tx) Query(ctx context.Context, text string, params map[string]any) (*Result, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.queryLocked(ctx, text, params, tx.db.runOptions(tx.began))
}

func (tx *Tx) queryLocked(ctx context.Context, text string, params map[string]any, opts *query.RunOptions) (*Result, error) {
	if tx.err != nil {
		return nil, tx.err
	}
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	opts.Budget = narrow(ctx, opts.Budget)
	if tx.write {
		tx.used.hold(opts)
		idle := tx.idle
		idle.Stop()
		tx.idle = nil // a timer that fired already finds this
		defer func() {
			tx.idle = idle
			if tx.err == nil {
				idle.Reset(max(0, min(tx.db.opts.TxIdle, time.Until(tx.limit))))
			}
		}()
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, tx.limit,
			newError(CodeTxExpired, "the transaction was rolled back: it was open for %v", tx.db.opts.TxTotal))
		defer cancel()
	}
	res, err := tx.run(ctx, text, params, opts)
	if !tx.write && tx.db.open.isClosing() {
		tx.endLocked(errClosing())
	}
	if err == nil {
		return res, nil
	}
	if !tx.write {
		return nil, convert(err, text)
	}
	if cause := context.Cause(ctx); cause != nil && IsCode(cause, CodeTxExpired) {
		err = cause
	}
	// Its base is durable, so the error may be told at once.
	err = convert(err, text)
	tx.endLocked(newError(CodeTxDone, "the transaction has ended by an error: %v", err))
	return nil, err
}

func (tx *Tx) run(ctx context.Context, text string, params map[string]any, opts *query.RunOptions) (res *Result, err error) {
	defer recovered(&err)
	args, err := arguments(params)
	if err != nil {
		return nil, err
	}
	plan, err := tx.db.engine.Prepare(text, tx.graph)
	if err != nil {
		return nil, err
	}
	if err := tx.db.withhold(ctx, tx.graph, plan, text); err != nil {
		return nil, err
	}
	if readOnlyCtx(ctx) && (plan.Writes() || plan.Reinforces()) {
		return nil, errReadOnlyCtx()
	}
	if plan.Writes() && !tx.write {
		return nil, newError(CodeReadOnly, "the statement writes, but the transaction only reads")
	}
	// The snapshot of a reading transaction holds nobody up while a model is asked.
	notice, err := tx.db.outsideTx(ctx, plan.Outside(args), tx.write, opts)
	if err != nil {
		return nil, err
	}
	res, err = plan.Run(ctx, tx.graph, args, opts)
	tx.graph.Withhold()
	if err == nil {
		err = tx.graph.EndStatement()
	}
	if err == nil && notice != nil {
		res.Notices = append(res.Notices, *notice)
	}
	return res, err
}

// Commit ends the transaction and waits until it is durable.
func (tx *Tx) Commit(ctx context.Context) error {
	_, err := tx.CommitSeq(ctx, "")
	return err
}

// CommitSeq is Commit that returns the transaction's number. With an
// idempotency key, at most 256 bytes of the caller's choice, a transaction that
// was committed before with the same key is not written again: its number is
// returned. After an unknown outcome and reopening, the key tells what became of
// it; see DB.Committed.
func (tx *Tx) CommitSeq(ctx context.Context, idempotencyKey string) (seq uint64, err error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.err != nil {
		return 0, tx.err
	}
	if err := needContext(ctx); err != nil {
		return 0, err
	}
	defer tx.endLocked(newError(CodeTxDone, "the transaction has ended"))
	defer recovered(&err)
	if seq, err = tx.graph.CommitKey(ctx, idempotencyKey); err == nil {
		tx.used.release()
	}
	return seq, convert(err, "")
}

// Rollback ends the transaction without a trace. It may be called after its end.
func (tx *Tx) Rollback() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.endLocked(newError(CodeTxDone, "the transaction has ended"))
}

// View runs fn over one moment of the database.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	tx, err := db.Begin(ctx, false)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return fn(tx)
}

// Update runs fn in a writing transaction and commits it. When fn returns an
// error, nothing is written and Update returns that error.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	_, err := db.UpdateSeq(ctx, fn)
	return err
}

// UpdateSeq is Update that returns the transaction's number.
func (db *DB) UpdateSeq(ctx context.Context, fn func(*Tx) error) (uint64, error) {
	tx, err := db.Begin(ctx, true)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return 0, err
	}
	return tx.CommitSeq(ctx, "")
}

// Committed tells whether a transaction with the idempotency key was committed,
// and its number.
func (db *DB) Committed(idempotencyKey string) (seq uint64, ok bool, err error) {
	seq, ok, err = db.graph.Committed(idempotencyKey)
	return seq, ok, convert(err, "")
}
