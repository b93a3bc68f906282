package mcp

import (
	"context"

	"engram"
)

// Store is the graph that tools work on. Database makes one of a *engram.DB.
type Store interface {
	// Query runs one statement that only reads, in a transaction of its own.
	Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error)
	// View runs fn over one moment of the graph. A statement that writes is refused,
	// whatever it looks like.
	View(ctx context.Context, fn func(Querier) error) error
	// Update runs fn in one writing transaction, which is durable when Update
	// returns. A key that is not empty, at most 256 bytes, makes that happen once: when a
	// transaction with it was committed before, what fn does is dropped.
	Update(ctx context.Context, key string, fn func(Querier) error) error
}

// Querier runs statements of one transaction.
type Querier interface {
	Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error)
}

// Database makes a Store of a database. Closing it stays with the caller.
func Database(db *engram.DB) Store { return database{db} }

type database struct{ *engram.DB }

// reading holds statements to reading, whatever they look like.
func reading(ctx context.Context) context.Context {
	return engram.WithLimits(ctx, engram.Limits{ReadOnly: true, NoVerdicts: true})
}

func (d database) Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error) {
	return d.DB.Query(reading(ctx), statement, params)
}

func (d database) View(ctx context.Context, fn func(Querier) error) error {
	return d.DB.View(ctx, func(tx *engram.Tx) error { return fn(readingTx{tx}) })
}

func (d database) Update(ctx context.Context, key string, fn func(Querier) error) error {
	tx, err := d.Begin(ctx, true)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(writingTx{tx}); err != nil {
		return err
	}
	_, err = tx.CommitSeq(ctx, key)
	return err
}

// writingTx is a transaction that writes, and sees no verdicts.
type writingTx struct{ tx *engram.Tx }

func (w writingTx) Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error) {
	return w.tx.Query(engram.WithLimits(ctx, engram.Limits{NoVerdicts: true}), statement, params)
}

// readingTx is a transaction that reads.
type readingTx struct{ tx *engram.Tx }

func (r readingTx) Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error) {
	return r.tx.Query(reading(ctx), statement, params)
}
