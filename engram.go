package engram

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"engram/graph"
	"engram/graph/value"
	"engram/query"
)

// A transaction of the graph is what statements run on.
var (
	_ query.Writer       = (*graph.Tx)(nil)
	_ query.SchemaWriter = (*graph.Tx)(nil)
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	graph    *graph.DB
	engine   *query.Engine
	learner  *learner
	backfill *backfiller
	opts     Options
	space    *query.SpoolSpace
	data     *graph.Data // closed with the database; nil if it is somebody else's
	open     openTxs
	withheld atomic.Int64 // statements that asked for verdicts and were refused

	mu     sync.Mutex
	closed bool
}

// Open opens the namespace of a data directory, which belongs to this process
// until Close.
func Open(path string, o *Options) (*DB, error) {
	data, err := OpenData(path, o)
	if err != nil {
		return nil, err
	}
	opts := o.withDefaults()
	db, err := data.Open(opts.Namespace, opts.Create)
	if err != nil {
		_ = data.Close()
		return nil, err
	}
	db.data = data.data
	return db, nil
}

// OpenMemory makes an empty database that lives in memory only.
func OpenMemory(o *Options) (*DB, error) {
	opts := o.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	g, err := graph.OpenMemory(opts.graph())
	if err != nil {
		return nil, convert(err, "")
	}
	return newDB(g, opts), nil
}

func newDB(g *graph.DB, opts Options) *DB {
	db := &DB{
		graph: g, opts: opts, space: query.NewSpoolSpace(opts.SpoolDir),
		engine:  query.New(&query.Options{PlanCache: opts.PlanCache, Now: opts.Now}),
		learner: newLearner(g, &opts), backfill: newBackfiller(g, &opts),
	}
	// Statistics that cannot be read are begun anew: nothing else hangs on them.
	if kept, err := g.StatementUsage(); err == nil && len(kept) > 0 {
		_ = db.engine.LoadUsage(kept)
	}
	return db
}

// closeWait bounds how long Close waits for running statements and for writing
// transactions, which end by themselves.
const closeWait = 15 * time.Second

// Close closes the database. Reading transactions that are open end with CodeClosed;
// for running statements and writing transactions it waits up to 15 s. What was
// acknowledged is safe whether or not Close is called. It may be called again.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.open.endReading()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	db.backfill.close()
	if counted, err := db.engine.SaveUsage(); err == nil && counted != nil {
		_ = db.graph.KeepStatementUsage(counted) // lost, it is counted anew
	}
	_ = db.learner.close(ctx) // what is left is counted as lost by the next opening
	if err := db.graph.Close(ctx); err != nil {
		return convert(err, "")
	}
	db.closed = true
	if db.data != nil {
		return convert(db.data.Close(), "")
	}
	return nil
}

// Query runs one statement in a transaction of its own. Params are the values of
// $name in the statement: see ValueOf for what they may be. When it returns, what
// the statement wrote, and all that it read, is durable. The rows are in memory,
// within the statement's budget; Rows reads results that may be larger.
func (db *DB) Query(ctx context.Context, text string, params map[string]any) (*Result, error) {
	res, err := db.query(ctx, text, params, db.runOptions(time.Time{}))
	return res, convert(err, text)
}

func (db *DB) query(ctx context.Context, text string, params map[string]any, opts *query.RunOptions) (res *Result, err error) {
	return db.queryWith(ctx, text, params, opts, nil)
}

func (db *DB) queryWith(ctx context.Context, text string, params map[string]any, opts *query.RunOptions, once *onceOptions) (res *Result, err error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	opts.Budget = narrow(ctx, opts.Budget)
	args, err := arguments(params)
	if err != nil {
		return nil, err
	}
	read, err := db.graph.Snapshot()
	if err != nil {
		return nil, err
	}
	defer func() { read.Rollback() }()
	defer recovered(&err)
	plan, err := db.engine.Prepare(text, read)
	if err != nil {
		return nil, err
	}
	if err := db.withhold(ctx, read, plan, text); err != nil {
		return nil, err
	}
	if readOnlyCtx(ctx) && (plan.Writes() || plan.Reinforces() || plan.Outside(args).Backfill > 0) {
		return nil, errReadOnlyCtx()
	}
	if once != nil && (plan.InTransactions() || !plan.Writes()) {
		return nil, newError(CodeInvalidArgument, "an idempotency key goes with one transaction that writes: this statement %s",
			map[bool]string{true: "has several", false: "only reads"}[plan.InTransactions()])
	}
	if plan.Learning() && !db.opts.ReadOnly && !readOnlyCtx(ctx) {
		read.Rollback()
		if err := db.learner.write(ctx); err != nil {
			return nil, err
		}
		if read, err = db.graph.Snapshot(); err != nil {
			return nil, err
		}
	}
	if need := plan.Outside(args); need.Backfill > 0 || db.backfill.embedder != nil && (len(need.Texts) > 0 || need.Later) {
		read.Rollback()
		notice, err := db.outside(ctx, need, opts)
		if err != nil {
			return nil, err
		}
		if notice != nil {
			defer func() {
				if res != nil {
					res.Notices = append(res.Notices, *notice)
				}
			}()
		}
		if read, err = db.graph.Snapshot(); err != nil {
			return nil, err
		}
	}
	if plan.Whole() && !plan.Writes() { // it takes its time, and must not hold up the store
		read.Rollback()
		if read, err = db.graph.LongSnapshot(); err != nil {
			return nil, err
		}
	}
	if plan.InTransactions() {
		read.Rollback()
		return plan.RunBatches(ctx, batchTransactions{db}, args, opts)
	}
	if err := db.withhold(ctx, read, nil, ""); err != nil { // it may be another one by now
		return nil, err
	}
	if !plan.Writes() {
		return plan.Run(ctx, read, args, opts)
	}
	opts.Matches = plan.FindMatches(read, args)
	read.Rollback() // the plan is made: only the write itself needs the slot
	return db.write(ctx, plan, args, opts, once)
}

// write runs a statement that writes.
func (db *DB) write(ctx context.Context, plan *query.Plan, args map[string]value.Value, opts *query.RunOptions, once *onceOptions) (res *Result, err error) {
	used := holdUses(opts)
	tx, err := db.graph.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := db.withhold(ctx, tx, nil, ""); err != nil {
		return nil, err
	}
	res, err = plan.Run(ctx, tx, args, opts)
	tx.Withhold()
	if err == nil {
		err = tx.EndStatement()
	}
	if err != nil {
		return nil, tx.Abandon(ctx, err)
	}
	key, base := "", tx.Seq()
	if once != nil {
		key = once.key
	}
	seq, err := tx.CommitKey(ctx, key)
	if err != nil {
		return nil, err
	}
	if once != nil && seq <= base { // another one with the key was committed meanwhile
		once.repeated = true
		return res, nil
	}
	used.release()
	db.backfill.nudge()
	return res, nil
}

func (db *DB) runOptions(began time.Time) *query.RunOptions {
	off := db.opts.RecallOff
	if db.opts.NoLearning {
		off = append(slices.Clone(off), "learned")
	}
	return &query.RunOptions{
		Budget: query.Budget{
			Time: db.opts.StatementTimeout, Memory: db.opts.StatementMemory,
			Rows: db.opts.StatementRows, Steps: db.opts.StatementSteps,
		},
		Transaction: began,
		RecallLegs:  db.opts.RecallLegs, RecallOff: off, Learn: db.teller(), AssociateAll: db.opts.AssociateAll,
	}
}

// arguments converts parameters. Of several errors it returns that of the first
// name, so that it is the same every time.
func arguments(params map[string]any) (map[string]value.Value, error) {
	if len(params) == 0 {
		return nil, nil
	}
	out := make(map[string]value.Value, len(params))
	wrong := ""
	var bad error
	for name, p := range params {
		v, err := value.FromAny(p)
		if err != nil && (bad == nil || name < wrong) {
			wrong, bad = name, err
		}
		out[name] = v
	}
	if bad != nil {
		return nil, &Error{Code: CodeInvalidArgument, Message: "parameter $" + wrong + ": " + bad.Error(), Err: bad}
	}
	return out, nil
}

// Seq is the number of the newest durable transaction.
func (db *DB) Seq() uint64 { return db.graph.Seq() }

// Stats reads the counters.
func (db *DB) Stats(context.Context) (Stats, error) {
	s, err := db.graph.Stats()
	db.learner.stats(&s.Learning)
	db.backfill.stats(&s.Vectors)
	s.Withheld = db.withheld.Load()
	return s, convert(err, "")
}

// Yardstick writes what a database commits a second time with its store engine
// alone: what durable writing costs at least on the machine.
type Yardstick = graph.Yardstick

// NewYardstick begins to note what is committed, for Yardstick.Repeat. file is a
// copy of the namespace's graph.db, made while it was closed; it is written to.
func (db *DB) NewYardstick(file string) (*Yardstick, error) {
	y, err := db.graph.NewYardstick(file)
	return y, convert(err, "")
}

// Check reads everything and reports whatever does not fit together. The error
// is about not being able to look.
func (db *DB) Check(ctx context.Context) (*Report, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	r, err := db.graph.Check(ctx)
	return r, convert(err, "")
}

// Writes reports whether a statement may change the graph, what is learned from use,
// or the vectors of texts. Its error is about the text.
func Writes(text string) (bool, error) {
	plan, err := query.New(&query.Options{PlanCache: -1}).Prepare(text, nil)
	if err != nil {
		return false, convert(err, text)
	}
	return plan.Writes() || plan.Reinforces() || plan.Outside(nil).Backfill > 0, nil
}

// SplitStatements cuts a script at its semicolons. rest is what stands behind the
// last one.
func SplitStatements(script string) (statements []string, rest string) { return query.Split(script) }
