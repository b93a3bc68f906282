package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"engram"
	"engram/server/token"
)

func (s *Server) queryRoutes() []*route {
	return []*route{{
		method: http.MethodPost, pattern: "/v1/query", scope: token.Read, body: jsonBody, writes: true, keyed: true, handle: s.query,
		summary: "Run one EQL statement",
		detail: "A token without the scope write, and the mode read, open a reading transaction, which cannot write by any statement. " +
			"With Accept: application/x-ndjson the answer is a line with the columns, one for each row, and one with the summary or the problem that ended it.",
		request: queryRequest{}, response: queryResponse{},
		answers:  map[string]string{typeNDJSON: "One JSON object a line: columns, row for each row, and summary or problem as the last."},
		problems: append(append(coded(engram.CodeReadOnly, engram.CodeWithheld, engram.CodeTxDone, engram.CodeTxExpired), codeNoTransaction, codeTxBusy), slices.Concat(stating, running)...),
	}, {
		method: http.MethodPost, pattern: "/v1/batch", scope: token.Write, body: jsonBody, writes: true, keyed: true, handle: s.batch,
		summary: "Run several statements as one transaction",
		detail: "All or none. A statement with a key that was committed before, as the Idempotency-Key of a request of its own, is left out: so what was sent before without an answer can be sent again. " +
			"Rows are not returned.",
		request: batchRequest{}, response: batchResponse{}, problems: slices.Concat(coded(engram.CodeWithheld), stating, running),
	}}
}

// queryRequest is one statement.
type queryRequest struct {
	Statement   string         `json:"statement" doc:"The statement." required:"true"`
	Parameters  map[string]any `json:"parameters" doc:"The values of $name in the statement."`
	Mode        string         `json:"mode" doc:"read refuses a statement that writes; auto and write do what the token may." enum:"auto,read,write"`
	Values      string         `json:"values" doc:"plain, or typed: parameters and rows keep their kinds; values that JSON lacks are objects with $kind, such as a date." enum:"plain,typed"`
	Transaction string         `json:"transaction" doc:"An open transaction, of POST /v1/transactions."`
	Verdicts    bool           `json:"verdicts" doc:"The statement is one about verdicts, which others do not see and may not name; it needs the scope admin."`
	Without     []string       `json:"without" doc:"Labels whose nodes are as if they were not there, with the edges that lead to them; 32 at most."`
	Budget      budgetRequest  `json:"budget" doc:"Narrower bounds of the statement than the server's."`
}

const maxWithout = 32

// budgetRequest narrows the bounds of a statement.
type budgetRequest struct {
	TimeMS int64 `json:"time_ms" doc:"Milliseconds; 0: the server's bound."`
	Memory int64 `json:"memory" doc:"Bytes held at a time; 0: the server's bound."`
	Rows   int64 `json:"rows" doc:"Rows of the result; 0: the server's bound."`
	Steps  int64 `json:"steps" doc:"Nodes scanned, edges followed and rows handled; 0: the server's bound."`
}

// queryResponse is the answer of a statement.
type queryResponse struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	Summary summary  `json:"summary"`
}

func (b budgetRequest) limits() (engram.Limits, error) {
	if b.TimeMS < 0 || b.Memory < 0 || b.Rows < 0 || b.Steps < 0 {
		return engram.Limits{}, invalid("budget", "the bounds of a budget are 0 or more")
	}
	return engram.Limits{
		Time: time.Duration(min(b.TimeMS, int64(24*time.Hour/time.Millisecond))) * time.Millisecond, Memory: b.Memory, Rows: b.Rows, Steps: b.Steps,
	}, nil
}

// statement checks the request.
func (q *queryRequest) statement() (*statement, error) {
	if strings.TrimSpace(q.Statement) == "" {
		return nil, invalid("statement", "the statement is missing")
	}
	if q.Mode != "" && q.Mode != "auto" && q.Mode != "read" && q.Mode != "write" {
		return nil, invalid("mode", "the mode is auto, read or write")
	}
	params, err := typedParameters(q.Values, q.Parameters)
	if err != nil {
		return nil, err
	}
	if len(q.Without) > maxWithout {
		return nil, invalid("without", fmt.Sprintf("%d labels; at most %d are left out", len(q.Without), maxWithout))
	}
	limits, err := q.Budget.limits()
	limits.Without = q.Without
	return &statement{text: q.Statement, params: params, write: q.Mode != "read", limits: limits, verdicts: q.Verdicts}, err
}

// typed is the form of values that keeps all kinds.
const typed = "typed"

// typedParameters makes values of parameters whose kinds are told.
func typedParameters(form string, params map[string]any) (map[string]any, error) {
	switch form {
	case "", "plain":
		return params, nil
	case typed:
	default:
		return nil, invalid("values", "values is plain or typed")
	}
	out := make(map[string]any, len(params))
	for _, name := range sortedKeys(params) {
		v, err := engram.FromTyped(params[name])
		if err != nil {
			return nil, invalid("parameters", "the parameter "+name+": "+err.Error())
		}
		out[name] = v
	}
	return out, nil
}

func (s *Server) query(c *call) error {
	var q queryRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	st, err := q.statement()
	if err != nil {
		return err
	}
	if q.Mode == "write" && !c.who.May(token.Write) {
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope write")
	}
	var on querier = c.db
	var open *openTx
	if q.Transaction != "" {
		if c.key != "" {
			return invalid("Idempotency-Key", "inside a transaction the Idempotency-Key goes with its commit")
		}
		tx, err := s.txs.get(c.who, q.Transaction, c.namespace)
		if err != nil {
			return err
		}
		defer tx.release(s.config.Now())
		on, open = tx.tx, tx
	}
	if c.key != "" {
		res, repeated, err := c.execOnce(st)
		if err != nil {
			return err
		}
		return c.stream(res.Columns, held(res.Rows), q.Values, func() summary { return summarize(c.db, res, int64(len(res.Rows)), repeated) })
	}
	rows, err := c.rows(on, st)
	if open != nil && (engram.IsCode(err, engram.CodeTxExpired) || engram.IsCode(err, engram.CodeTxDone)) {
		s.txs.endLocked(open) // its client has been told
	}
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // a reading error has been told
	return c.stream(rows.Columns(), rows.All(), q.Values, func() summary { return summarize(c.db, rows.Result(), rows.Count(), false) })
}

// rows runs a statement whose rows may be many. Writing them to the client is no part
// of its turn.
func (c *call) rows(q querier, st *statement) (*engram.Rows, error) {
	done, err := c.turn(q, st)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := q.Rows(st.context(c.ctx, c.who), st.text, st.params)
	if err == nil {
		c.wrote = c.wrote.Plus(rows.Result().Counters)
	}
	return rows, err
}

// rowSeq yields rows and what ends them early.
type rowSeq = func(yield func([]engram.Value, error) bool)

func held(rows [][]engram.Value) rowSeq {
	return func(yield func([]engram.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// chunk is how much of an answer is written before the client gets new time for it.
const chunk = 32 << 10

// stream answers with rows: one document, or lines when the client asked for them.
func (c *call) stream(columns []string, rows rowSeq, form string, end func() summary) error {
	lines := wantsLines(c.req)
	h := c.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", typeJSON)
	if lines {
		h.Set("Content-Type", typeNDJSON)
	}
	if columns == nil {
		columns = []string{}
	}
	head, err := json.Marshal(columns)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(patient{c}, chunk)
	var buf []byte
	first := true
	buf = append(append(append(buf, `{"columns":`...), head...), map[bool]string{true: "}\n", false: `,"rows":[`}[lines]...)
	for row, err := range rows {
		if err != nil {
			return c.broken(out, lines, err)
		}
		switch {
		case lines:
			buf = append(buf, `{"row":`...)
		case !first:
			buf = append(buf, ',')
		}
		first = false
		buf = appendRow(buf, row, form == typed)
		if lines {
			buf = append(buf, "}\n"...)
		}
		if len(buf) >= chunk/2 {
			_, _ = out.Write(buf) // the writer keeps its error
			buf = buf[:0]
		}
	}
	tail, err := json.Marshal(end())
	if err != nil {
		return err
	}
	buf = append(append(buf, map[bool]string{true: `{"summary":`, false: `],"summary":`}[lines]...), tail...)
	_, _ = out.Write(append(buf, "}\n"...))
	if err := out.Flush(); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or too slow
	}
	return nil
}

// broken ends an answer whose rows could not be read to the end.
func (c *call) broken(out *bufio.Writer, lines bool, err error) error {
	if !lines {
		return err // cuts the connection if the answer has begun
	}
	p := *asProblem(err)
	p.Request = c.id
	tail, _ := json.Marshal(map[string]any{"problem": p}) // texts and numbers always marshal
	_, _ = out.Write(append(tail, '\n'))
	_ = out.Flush() // the client is gone: nobody to tell
	return nil
}

func appendRow(buf []byte, row []engram.Value, typed bool) []byte {
	buf = append(buf, '[')
	for i, v := range row {
		if i > 0 {
			buf = append(buf, ',')
		}
		if typed {
			buf = v.AppendTyped(buf)
		} else {
			buf = v.AppendJSON(buf)
		}
	}
	return append(buf, ']')
}

// wantsLines reports whether the client asked for one object a line.
func wantsLines(req *http.Request) bool {
	for _, accept := range strings.Split(strings.Join(req.Header.Values("Accept"), ","), ",") {
		media, _, _ := strings.Cut(accept, ";")
		if strings.EqualFold(strings.TrimSpace(media), typeNDJSON) {
			return true
		}
	}
	return false
}

// patient writes an answer, and gives the client some time for each piece.
type patient struct{ c *call }

// Write writes a piece.
func (p patient) Write(b []byte) (int, error) {
	_ = p.c.patience() // recorders of tests have no deadlines
	return p.c.w.Write(b)
}
