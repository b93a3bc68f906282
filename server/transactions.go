package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"engram"
	"engram/server/token"
)

func (s *Server) txRoutes() []*route {
	return []*route{
		{
			method: http.MethodPost, pattern: "/v1/transactions", scope: token.Read, body: jsonBody, handle: s.begin,
			summary: "Begin a transaction of several statements",
			detail: "The answer's id goes with POST /v1/query as transaction, of the same token only. A writing one keeps other writers out: it is rolled back when it is idle for 2 s or open for 10 s, " +
				"and by any error. A reading one shows one moment, and ends when it is idle for 30 s or open for 5 minutes.",
			request: beginRequest{}, response: beginResponse{}, problems: coded(engram.CodeSnapshotTooOld),
		},
		{
			method: http.MethodPost, pattern: "/v1/transactions/{id}/commit", scope: token.Read, global: true, writes: true, keyed: true, handle: s.commit,
			summary: "Commit a transaction", detail: "When the answer is there, it is durable.",
			response: commitResponse{}, problems: append(coded(engram.CodeTxDone, engram.CodeTxExpired, engram.CodeFull, engram.CodeFailed), codeNoTransaction, codeTxBusy),
		},
		{
			method: http.MethodDelete, pattern: "/v1/transactions/{id}", scope: token.Read, global: true, handle: s.rollback,
			summary: "Roll a transaction back", response: rollbackResponse{}, problems: []string{codeNoTransaction, codeTxBusy},
		},
	}
}

// beginRequest begins a transaction.
type beginRequest struct {
	Mode string `json:"mode" doc:"read or write; without it read." enum:"read,write"`
}

// beginResponse tells about a transaction.
type beginResponse struct {
	ID      string `json:"id"`
	Mode    string `json:"mode" enum:"read,write"`
	IdleMS  int64  `json:"idle_ms" doc:"How long it may be without a statement."`
	TotalMS int64  `json:"total_ms" doc:"How long it may be open."`
}

// commitResponse tells that a transaction is durable.
type commitResponse struct {
	Seq      uint64 `json:"seq" doc:"The number of the transaction."`
	Repeated bool   `json:"repeated,omitempty" doc:"The Idempotency-Key was committed before: nothing was written now."`
}

type rollbackResponse struct {
	RolledBack bool `json:"rolled_back"`
}

// How long reading transactions may be idle and open. Writing ones are bounded by
// their database.
const (
	readIdle  = 30 * time.Second
	readTotal = 5 * time.Minute
	writeIdle = 2 * time.Second
	writeOpen = 10 * time.Second
)

// openTx is a transaction that a client has open.
type openTx struct {
	id        string
	who       token.Identity
	namespace string
	write     bool
	tx        *engram.Tx
	db        *engram.DB
	done      func() // gives the namespace back

	mu    sync.Mutex // held while a statement runs or it is ended
	began time.Time
	used  time.Time
	ended bool
}

// release is called behind a statement.
func (t *openTx) release(now time.Time) {
	t.used = now
	t.mu.Unlock()
}

// transactions are those that clients have open.
type transactions struct {
	config *Config
	mu     sync.Mutex
	all    map[string]*openTx
	closed bool
}

func newTransactions(c *Config) *transactions {
	return &transactions{config: c, all: map[string]*openTx{}}
}

// add notes one more of a token, if there is room.
func (t *transactions) add(o *openTx) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	open := 0
	for _, other := range t.all {
		if other.who.Same(o.who) {
			open++
		}
	}
	if open >= t.config.MaxTransactions || t.closed {
		p := newProblem(http.StatusTooManyRequests, codeRate, "the token has too many transactions open: end one first")
		p.retryAfter = 1
		return p
	}
	t.all[o.id] = o
	return nil
}

// get returns a transaction of the token, for one statement: the caller releases it.
// Another token's is told like one that is not there.
func (t *transactions) get(who token.Identity, id, namespace string) (*openTx, error) {
	missing := newProblem(http.StatusNotFound, codeNoTransaction, "there is no such open transaction: it may have been idle or open for too long")
	t.mu.Lock()
	o := t.all[id]
	t.mu.Unlock()
	if o == nil || !o.who.Same(who) {
		return nil, missing
	}
	if namespace != "" && namespace != o.namespace {
		return nil, invalid("transaction", "the transaction is of another namespace")
	}
	if !o.mu.TryLock() {
		p := newProblem(http.StatusConflict, codeTxBusy, "a statement of this transaction is running: wait for its answer")
		return nil, p
	}
	if o.ended {
		o.mu.Unlock()
		return nil, missing
	}
	return o, nil
}

// endLocked forgets a transaction and rolls back what was not committed.
func (t *transactions) endLocked(o *openTx) {
	if o.ended {
		return
	}
	o.ended = true
	o.tx.Rollback()
	o.done()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, o.id)
}

// expire ends those that were idle or open for too long. A writing one is kept a
// little longer than its database does, so that its client is told what happened.
func (t *transactions) expire(now time.Time) {
	for _, o := range t.list() {
		idle, total := readIdle, readTotal
		if o.write {
			idle, total = readIdle, readIdle
		}
		if !o.mu.TryLock() {
			continue // a statement is running
		}
		if now.Sub(o.used) > idle || now.Sub(o.began) > total || !t.config.Tokens.Valid(o.who) {
			t.endLocked(o)
		}
		o.mu.Unlock()
	}
}

func (t *transactions) list() []*openTx {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*openTx, 0, len(t.all))
	for _, id := range sortedKeys(t.all) {
		out = append(out, t.all[id])
	}
	return out
}

func (t *transactions) closeAll() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	for _, o := range t.list() {
		o.mu.Lock()
		t.endLocked(o)
		o.mu.Unlock()
	}
}

func newTxID() string {
	var b [18]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (s *Server) begin(c *call) error {
	var q beginRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	switch {
	case q.Mode != "" && q.Mode != "read" && q.Mode != "write":
		return invalid("mode", "the mode is read or write")
	case q.Mode == "write" && !c.who.May(token.Write):
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope write")
	}
	// The request's hold on the namespace ends with it, so the transaction has its own.
	db, release, err := s.acquire(c.ctx, c.who, c.namespace)
	if err != nil {
		return err
	}
	// The transaction outlives the request, and so does its context; but who has gone
	// does not wait for the write slot any longer.
	write := q.Mode == "write"
	wait := readTotal
	if write {
		wait = 2 * writeOpen
	}
	ctx, cancel := context.WithTimeout(s.base, wait)
	stopWaiting := context.AfterFunc(c.ctx, cancel)
	end := func() {
		cancel()
		release()
	}
	tx, err := db.Begin(ctx, write)
	if !stopWaiting() && err == nil {
		tx.Rollback()
		err = context.Cause(c.ctx)
	}
	if err != nil {
		end()
		return err
	}
	now := s.config.Now()
	o := &openTx{id: newTxID(), who: c.who, namespace: c.namespace, write: write, tx: tx, db: db, done: end, began: now, used: now}
	if err := s.txs.add(o); err != nil {
		tx.Rollback()
		end()
		return err
	}
	out := beginResponse{ID: o.id, Mode: "read", IdleMS: readIdle.Milliseconds(), TotalMS: readTotal.Milliseconds()}
	if write {
		out.Mode, out.IdleMS, out.TotalMS = "write", writeIdle.Milliseconds(), writeOpen.Milliseconds()
	}
	return c.answer(out)
}

func (s *Server) commit(c *call) error {
	o, err := s.txs.get(c.who, c.req.PathValue("id"), "")
	if err != nil {
		return err
	}
	defer o.mu.Unlock()
	defer s.txs.endLocked(o)
	c.namespace = o.namespace
	key := ""
	if c.key != "" {
		key = c.storedKey()
	}
	base := o.db.Seq()
	seq, err := o.tx.CommitSeq(c.ctx, key)
	if err != nil {
		return err
	}
	return c.answer(commitResponse{Seq: seq, Repeated: key != "" && seq <= base})
}

func (s *Server) rollback(c *call) error {
	o, err := s.txs.get(c.who, c.req.PathValue("id"), "")
	if err != nil {
		return err
	}
	defer o.mu.Unlock()
	s.txs.endLocked(o)
	return c.answer(rollbackResponse{true})
}
