package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"engram"
)

// Tx is a transaction of several statements, as engram.Tx is.
type Tx struct {
	c  *Client
	id string
}

// Begin begins a transaction, which Commit or Rollback must end.
func (c *Client) Begin(ctx context.Context, write bool) (*Tx, error) {
	mode := "read"
	if write {
		mode = "write"
	}
	var out struct{ ID string }
	if err := c.get(ctx, http.MethodPost, c.path("/v1/transactions"), map[string]any{"mode": mode}, &out, nil); err != nil {
		return nil, err
	}
	return &Tx{c, out.ID}, nil
}

// Query runs a statement in the transaction.
func (tx *Tx) Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	rows, err := tx.Rows(ctx, text, params)
	return collect(rows, err)
}

// Rows runs a statement in the transaction, for a result that may be large. Its rows
// have to be read, or closed, before the next statement.
func (tx *Tx) Rows(ctx context.Context, text string, params map[string]any) (*Rows, error) {
	return tx.c.rows(ctx, text, params, how{transaction: tx.id})
}

// Commit ends the transaction and waits until it is durable.
func (tx *Tx) Commit(ctx context.Context) error {
	_, err := tx.CommitSeq(ctx, "")
	return err
}

// CommitSeq is Commit that returns the transaction's number; a transaction with the
// idempotency key that was committed before is not written again.
func (tx *Tx) CommitSeq(ctx context.Context, idempotencyKey string) (seq uint64, err error) {
	headers := map[string]string{}
	if idempotencyKey != "" {
		headers["Idempotency-Key"] = idempotencyKey
	}
	var out struct{ Seq uint64 }
	err = tx.c.get(ctx, http.MethodPost, "/v1/transactions/"+url.PathEscape(tx.id)+"/commit", nil, &out, headers)
	return out.Seq, err
}

// rollbackWait bounds how long Rollback waits for an answer: the server ends the
// transaction by itself soon anyway.
const rollbackWait = 5 * time.Second

// Rollback ends the transaction without a trace. It may be called after its end.
func (tx *Tx) Rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackWait)
	defer cancel()
	var out struct{}
	// It may have ended, or the server be gone.
	_ = tx.c.get(ctx, http.MethodDelete, "/v1/transactions/"+url.PathEscape(tx.id), nil, &out, nil)
}

// View runs fn over one moment of the database.
func (c *Client) View(ctx context.Context, fn func(*Tx) error) error {
	tx, err := c.Begin(ctx, false)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return fn(tx)
}

// Update runs fn in a writing transaction and commits it. When fn returns an error,
// nothing is written and Update returns that error.
func (c *Client) Update(ctx context.Context, fn func(*Tx) error) error {
	tx, err := c.Begin(ctx, true)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit(ctx)
}

// Session is one user's conversation with a database, as engram.Session is.
type Session struct {
	c  *Client
	mu sync.Mutex
	tx *Tx
}

// NewSession begins a session, which Close must end.
func NewSession(c *Client) *Session { return &Session{c: c} }

// Rows runs a statement, or BEGIN [READ], COMMIT or ROLLBACK.
func (s *Session) Rows(ctx context.Context, text string, params map[string]any) (*Rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := strings.Fields(strings.ToUpper(strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")))
	if n := len(words); n > 1 && words[n-1] == "TRANSACTION" {
		words = words[:n-1]
	}
	nothing := &Rows{done: true}
	switch cmd := strings.Join(words, " "); {
	case cmd == "BEGIN", cmd == "BEGIN READ", cmd == "BEGIN WRITE":
		if s.tx != nil {
			return nil, fault(engram.CodeInvalidArgument, "BEGIN inside a transaction: end it by COMMIT or ROLLBACK first")
		}
		tx, err := s.c.Begin(ctx, cmd != "BEGIN READ")
		s.tx = tx
		return nothing, err
	case cmd == "COMMIT", cmd == "ROLLBACK":
		tx := s.tx
		if tx == nil {
			return nil, fault(engram.CodeInvalidArgument, cmd+" without BEGIN: there is no transaction to end")
		}
		s.tx = nil
		if cmd == "COMMIT" {
			return nothing, tx.Commit(ctx)
		}
		tx.Rollback()
		return nothing, nil
	}
	if s.tx != nil {
		return s.tx.Rows(ctx, text, params)
	}
	return s.c.Rows(ctx, text, params)
}

// Query is Rows that reads all of them.
func (s *Session) Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	rows, err := s.Rows(ctx, text, params)
	return collect(rows, err)
}

// InTransaction reports whether the session is between BEGIN and its end.
func (s *Session) InTransaction() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tx != nil
}

// Close rolls back what is open. It may be called again.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tx != nil {
		s.tx.Rollback()
		s.tx = nil
	}
}
