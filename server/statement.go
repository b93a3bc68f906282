package server

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"engram"
	"engram/server/token"
)

// statement is one EQL statement of a request.
type statement struct {
	text   string
	params map[string]any
	// write: it may write, if the token may.
	write  bool
	limits engram.Limits
	// verdicts: it comes through the door of verdicts, which needs the scope admin.
	verdicts bool
}

// querier runs statements: a database or a transaction.
type querier interface {
	Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
	Rows(ctx context.Context, text string, params map[string]any) (*engram.Rows, error)
}

// overload is how long a statement waits for its turn.
const overload = 5 * time.Second

// turn waits until a statement may run. The caller gives it back. Writers that wait for
// each other leave readers their places.
func (s *Server) turn(ctx context.Context, mayWrite bool, text string) (done func(), err error) {
	if mayWrite && s.writes.writes(text) {
		return place(ctx, s.writing)
	}
	return place(ctx, s.running)
}

// turn is the server's turn for a statement on q. In an open transaction it writes
// without waiting for writers, all of which may wait for that transaction.
func (c *call) turn(q querier, st *statement) (done func(), err error) {
	_, alone := q.(*engram.DB)
	return c.s.turn(c.ctx, alone && st.write && c.who.May(token.Write), st.text)
}

// place waits for one of the places.
func place(ctx context.Context, places chan struct{}) (done func(), err error) {
	select {
	case places <- struct{}{}:
	default:
		timer := time.NewTimer(overload)
		defer timer.Stop()
		select {
		case places <- struct{}{}:
		case <-timer.C:
			p := newProblem(http.StatusServiceUnavailable, codeOverloaded, "too many statements are running: nothing was done")
			p.retryAfter = 1
			return nil, p
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return func() { <-places }, nil
}

// writes remembers of texts whether they write.
type writes struct {
	mu    sync.Mutex
	known map[string]bool
}

// How much of them is remembered.
const (
	maxWrites     = 1024
	maxWritesText = 2048 // bytes
)

// writes reports whether a statement writes. One that cannot be prepared does not: it
// is refused when it runs.
func (w *writes) writes(text string) bool {
	w.mu.Lock()
	known, ok := w.known[text]
	w.mu.Unlock()
	if ok {
		return known
	}
	writes, err := engram.Writes(text)
	if err != nil || len(text) > maxWritesText {
		return writes
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= maxWrites {
		w.known = map[string]bool{}
	}
	w.known[text] = writes
	return writes
}

// context holds a statement to what the request and the token allow: without the
// scope to write it cannot, whatever its text is.
func (st *statement) context(ctx context.Context, who token.Identity) context.Context {
	l := st.limits
	l.ReadOnly = !st.write || !who.May(token.Write)
	l.NoVerdicts = !st.verdicts || !who.May(token.Admin)
	return engram.WithLimits(ctx, l)
}

// exec runs a statement whose rows are few.
func (c *call) exec(q querier, st *statement) (*engram.Result, error) {
	done, err := c.turn(q, st)
	if err != nil {
		return nil, err
	}
	defer done()
	res, err := q.Query(st.context(c.ctx, c.who), st.text, st.params)
	if err == nil {
		c.wrote = c.wrote.Plus(res.Counters)
	}
	return res, err
}

// execOnce runs a statement that writes, once for each Idempotency-Key if the request
// has one.
func (c *call) execOnce(st *statement) (res *engram.Result, repeated bool, err error) {
	if c.key == "" {
		res, err = c.exec(c.db, st)
		return res, false, err
	}
	done, err := c.turn(c.db, st)
	if err != nil {
		return nil, false, err
	}
	defer done()
	res, repeated, err = c.db.QueryOnce(st.context(c.ctx, c.who), c.storedKey(), st.text, st.params)
	if err == nil {
		c.wrote = c.wrote.Plus(res.Counters)
	}
	return res, repeated, err
}

// storedKey is the Idempotency-Key as the namespace keeps it: those of other ways in
// have no such beginning.
func (c *call) storedKey() string { return "http:" + c.key }

// update runs fn in a writing transaction, once for each Idempotency-Key.
func (c *call) update(fn func(ctx context.Context, tx *engram.Tx) error) (repeated bool, err error) {
	done, err := place(c.ctx, c.s.writing)
	if err != nil {
		return false, err
	}
	defer done()
	ctx := (&statement{write: true}).context(c.ctx, c.who)
	key := ""
	if c.key != "" {
		key = c.storedKey()
		if _, ok, err := c.db.Committed(key); err != nil || ok {
			return ok, err
		}
	}
	tx, err := c.db.Begin(ctx, true)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	base := c.db.Seq() // the transaction's base is durable and nobody else writes
	if err := fn(ctx, tx); err != nil {
		return false, err
	}
	seq, err := tx.CommitSeq(ctx, key)
	return key != "" && err == nil && seq <= base, err
}

// summary is what is told behind the rows.
type summary struct {
	Rows     int64         `json:"rows"`
	Counters *countersJSON `json:"counters,omitempty" doc:"What changed; left out when nothing did."`
	Notices  []noticeJSON  `json:"notices,omitempty"`
	Timings  timingsJSON   `json:"timings"`
	Plan     string        `json:"plan,omitempty" doc:"Of EXPLAIN and PROFILE."`
	Seq      uint64        `json:"seq" doc:"The newest durable transaction, which is this one or a later one."`
	Repeated bool          `json:"repeated,omitempty" doc:"The Idempotency-Key was committed before: nothing was written, and there are no rows."`
}

type timingsJSON struct {
	PlanMS float64 `json:"plan_ms"`
	RunMS  float64 `json:"run_ms"`
}

type noticeJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

type countersJSON struct {
	NodesCreated       int64 `json:"nodes_created,omitempty"`
	NodesDeleted       int64 `json:"nodes_deleted,omitempty"`
	EdgesCreated       int64 `json:"edges_created,omitempty"`
	EdgesDeleted       int64 `json:"edges_deleted,omitempty"`
	PropertiesSet      int64 `json:"properties_set,omitempty"`
	PropertiesRemoved  int64 `json:"properties_removed,omitempty"`
	LabelsAdded        int64 `json:"labels_added,omitempty"`
	LabelsRemoved      int64 `json:"labels_removed,omitempty"`
	IndexesAdded       int64 `json:"indexes_added,omitempty"`
	IndexesRemoved     int64 `json:"indexes_removed,omitempty"`
	ConstraintsAdded   int64 `json:"constraints_added,omitempty"`
	ConstraintsRemoved int64 `json:"constraints_removed,omitempty"`
	VocabularyChanges  int64 `json:"vocabulary_changes,omitempty"`
}

// summarize makes the summary of a result.
func summarize(db *engram.DB, res *engram.Result, rows int64, repeated bool) summary {
	out := summary{Rows: rows, Seq: db.Seq(), Repeated: repeated}
	if res.Counters.Any() {
		c := countersJSON(res.Counters)
		out.Counters = &c
	}
	for _, n := range res.Notices {
		out.Notices = append(out.Notices, noticeJSON(n))
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	out.Timings = timingsJSON{PlanMS: ms(res.Timings.Plan), RunMS: ms(res.Timings.Run)}
	if res.Plan != nil {
		out.Plan = res.Plan.String()
	}
	return out
}

// object is a row with the names of its columns.
type object struct {
	columns []string
	row     []engram.Value
}

// MarshalJSON keeps the order of the columns.
func (o object) MarshalJSON() ([]byte, error) { return o.append(nil) }

func (o object) append(out []byte) ([]byte, error) {
	out = append(out, '{')
	for i, name := range o.columns {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = o.row[i].AppendJSON(append(append(out, key...), ':'))
	}
	return append(out, '}'), nil
}

// objects makes one object of each row.
func objects(res *engram.Result) []object {
	out := make([]object, len(res.Rows))
	for i, row := range res.Rows {
		out[i] = object{res.Columns, row}
	}
	return out
}
