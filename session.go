package engram

import (
	"context"
	"strings"
	"sync"

	"engram/graph"
	"engram/query"
)

// Session is one user's conversation with a database: statements run in
// transactions of their own, or between BEGIN and COMMIT or ROLLBACK in one.
// A console or a connection has one. It is safe for concurrent use, one
// statement at a time.
type Session struct {
	db *DB
	mu sync.Mutex
	tx *Tx // nil outside BEGIN and COMMIT
}

// NewSession begins a session, which Close must end.
func NewSession(db *DB) *Session { return &Session{db: db} }

// Query runs a statement, or one of the commands
//
//	BEGIN         begins a writing transaction: it keeps other writers out
//	BEGIN READ    begins a reading one, which shows one moment
//	COMMIT        ends the transaction and keeps what it wrote
//	ROLLBACK      ends it without a trace
//
// After an error in a writing transaction nothing of it is kept; every statement
// is then refused until ROLLBACK.
func (s *Session) Query(ctx context.Context, text string, params map[string]any) (*Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch cmd := command(text); {
	case cmd != "":
		if err := s.command(ctx, cmd); err != nil {
			return nil, err
		}
		return &Result{}, nil
	case s.tx != nil:
		return s.tx.Query(ctx, text, params)
	}
	return s.db.Query(ctx, text, params)
}

// Rows is Query for a result that may be larger than memory; see DB.Rows.
func (s *Session) Rows(ctx context.Context, text string, params map[string]any) (*Rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch cmd := command(text); {
	case cmd != "":
		if err := s.command(ctx, cmd); err != nil {
			return nil, err
		}
		return s.db.emptyRows(), nil
	case s.tx != nil:
		return s.tx.Rows(ctx, text, params)
	}
	return s.db.Rows(ctx, text, params)
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

// command returns the command that a text is, in capitals and with single
// blanks, or nothing.
func command(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
	if len(text) > 64 {
		return ""
	}
	words := strings.Fields(strings.ToUpper(text))
	if n := len(words); n > 1 && words[n-1] == "TRANSACTION" {
		words = words[:n-1]
	}
	switch cmd := strings.Join(words, " "); cmd {
	case "BEGIN", "BEGIN READ", "BEGIN WRITE", "COMMIT", "ROLLBACK":
		return cmd
	}
	return ""
}

func (s *Session) command(ctx context.Context, cmd string) (err error) {
	tx := s.tx
	switch {
	case strings.HasPrefix(cmd, "BEGIN"):
		if tx != nil {
			return newError(CodeInvalidArgument, "BEGIN inside a transaction: end it by COMMIT or ROLLBACK first")
		}
		s.tx, err = s.db.Begin(ctx, cmd != "BEGIN READ")
		if err != nil {
			s.tx = nil
		}
		return err
	case tx == nil:
		return newError(CodeInvalidArgument, "%s without BEGIN: there is no transaction to end", cmd)
	case cmd == "COMMIT":
		s.tx = nil
		return tx.Commit(ctx)
	}
	s.tx = nil
	tx.Rollback()
	return nil
}

// batchTransactions gives CALL { } IN TRANSACTIONS its transactions.
type batchTransactions struct{ db *DB }

// View implements query.Transactions.
func (b batchTransactions) View(ctx context.Context, fn func(query.Reader) error) (err error) {
	tx, err := b.db.graph.Snapshot()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := b.db.withhold(ctx, tx, nil, ""); err != nil {
		return err
	}
	defer recovered(&err)
	return fn(tx)
}

// Update implements query.Transactions.
func (b batchTransactions) Update(ctx context.Context, fn func(query.Writer) error) error {
	tx, err := b.db.graph.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := b.db.withhold(ctx, tx, nil, ""); err != nil {
		return err
	}
	if err := b.statement(tx, fn); err != nil {
		return tx.Abandon(ctx, err)
	}
	_, err = tx.Commit(ctx)
	return err
}

func (b batchTransactions) statement(tx *graph.Tx, fn func(query.Writer) error) (err error) {
	defer recovered(&err)
	if err := fn(tx); err != nil {
		return err
	}
	tx.Withhold()
	return tx.EndStatement()
}
