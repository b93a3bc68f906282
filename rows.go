package engram

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"engram/query"
)

// Rows is the answer of one statement, read row by row: what does not fit into
// some memory waits in a temporary file, so that neither memory nor a
// transaction is held while it is read. Close gives the file back. It is safe
// for concurrent use.
//
//	rows, err := db.Rows(ctx, "MATCH (n) RETURN n.title", nil)
//	if err != nil {
//		return err
//	}
//	defer rows.Close()
//	for rows.Next() {
//		fmt.Println(rows.Row()[0])
//	}
//	return rows.Err()
type Rows struct {
	result Result

	mu    sync.Mutex
	spool *query.Spool // nil when closed
	count int64
	row   []Value
	err   error
}

// Rows runs one statement in a transaction of its own, as Query does, for a
// result that may be larger than memory: the budget of memory counts what the
// statement has to hold, such as groups and what is sorted, but not its rows.
// They are bounded by Options.SpoolSize and Options.StatementRows. When it
// returns, the statement has run to its end.
func (db *DB) Rows(ctx context.Context, text string, params map[string]any) (*Rows, error) {
	rows, err := db.rows(time.Time{}, func(opts *query.RunOptions) (*Result, error) {
		return db.query(ctx, text, params, opts)
	})
	return rows, convert(err, text)
}

// Rows is Query for a result that may be larger than memory; see DB.Rows. It may
// be read after the transaction has ended.
func (tx *Tx) Rows(ctx context.Context, text string, params map[string]any) (*Rows, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.db.rows(tx.began, func(opts *query.RunOptions) (*Result, error) {
		return tx.queryLocked(ctx, text, params, opts)
	})
}

func (db *DB) rows(began time.Time, run func(*query.RunOptions) (*Result, error)) (*Rows, error) {
	spool := db.space.New(db.opts.SpoolSize)
	opts := db.runOptions(began)
	opts.Rows = spool
	res, err := run(opts)
	if err != nil {
		_ = spool.Close() // the statement's error is the one to tell
		return nil, err
	}
	return &Rows{result: *res, spool: spool, count: spool.Len()}, nil
}

// emptyRows is the answer of what returns nothing.
func (db *DB) emptyRows() *Rows { return &Rows{spool: db.space.New(0)} }

// Next moves to the next row. It returns false behind the last one and after an
// error, which Err tells; the file is given back then.
func (r *Rows) Next() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row = nil
	if r.spool == nil || r.err != nil {
		return false
	}
	row, err := r.spool.Next()
	if err == nil {
		r.row = row
		return true
	}
	r.closeLocked()
	if !errors.Is(err, io.EOF) {
		r.err = convert(err, "")
	}
	return false
}

// Row returns the row that Next moved to: one value for each column. It belongs
// to the caller. Nil before the first row and behind the last one.
func (r *Rows) Row() []Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.row
}

// Err returns what ended the reading before its end, or nil.
func (r *Rows) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// All yields the rows that are left, and as the last thing an error if there is
// one. It closes r, also when the loop is left early.
func (r *Rows) All() iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		defer func() { _ = r.Close() }()
		for r.Next() {
			if !yield(r.Row(), nil) {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// Columns are the names of the columns, in order.
func (r *Rows) Columns() []string { return r.result.Columns }

// Count is how many rows there are, those that were read included.
func (r *Rows) Count() int64 { return r.count }

// Result is the answer without its rows: counters, plan, notices and timings.
func (r *Rows) Result() *Result { return &r.result }

// Close gives the rows back. It may be called again, and at any time.
func (r *Rows) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row = nil
	return r.closeLocked()
}

func (r *Rows) closeLocked() error {
	if r.spool == nil {
		return nil
	}
	err := r.spool.Close()
	r.spool = nil
	return convert(err, "")
}
