package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"sync"

	"engram"
)

// Rows is the answer of one statement, read row by row from the connection. Close
// gives that back. It is safe for concurrent use.
type Rows struct {
	mu       sync.Mutex
	body     io.ReadCloser
	lines    *bufio.Reader
	columns  []string
	row      []engram.Value
	count    int64
	result   engram.Result
	repeated bool
	done     bool
	err      error
}

// line is one line of an answer.
type line struct {
	Columns []string          `json:"columns"`
	Row     []json.RawMessage `json:"row"`
	Summary *summary          `json:"summary"`
	Problem *problem          `json:"problem"`
}

// summary is what comes behind the rows.
type summary struct {
	Counters struct {
		NodesCreated       int64 `json:"nodes_created"`
		NodesDeleted       int64 `json:"nodes_deleted"`
		EdgesCreated       int64 `json:"edges_created"`
		EdgesDeleted       int64 `json:"edges_deleted"`
		PropertiesSet      int64 `json:"properties_set"`
		PropertiesRemoved  int64 `json:"properties_removed"`
		LabelsAdded        int64 `json:"labels_added"`
		LabelsRemoved      int64 `json:"labels_removed"`
		IndexesAdded       int64 `json:"indexes_added"`
		IndexesRemoved     int64 `json:"indexes_removed"`
		ConstraintsAdded   int64 `json:"constraints_added"`
		ConstraintsRemoved int64 `json:"constraints_removed"`
		VocabularyChanges  int64 `json:"vocabulary_changes"`
	} `json:"counters"`
	Notices []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
	} `json:"notices"`
	Timings struct {
		PlanMS float64 `json:"plan_ms"`
		RunMS  float64 `json:"run_ms"`
	} `json:"timings"`
	Plan     string `json:"plan"`
	Repeated bool   `json:"repeated"`
}

// newRows reads the columns, and, when there is no row, the end.
func newRows(body io.ReadCloser) (*Rows, error) {
	r := &Rows{body: body, lines: bufio.NewReaderSize(body, 64<<10)}
	first, err := r.read()
	if err == nil && first.Problem != nil {
		err = first.Problem.err()
	}
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	r.columns = first.Columns
	if len(r.columns) == 0 {
		r.columns = nil
		r.Next() // the summary
		if r.err != nil {
			return nil, r.err
		}
	}
	return r, nil
}

// read reads a line.
func (r *Rows) read() (*line, error) {
	text, err := r.lines.ReadBytes('\n')
	if err != nil {
		return nil, &engram.Error{Code: CodeUnreachable, Message: "the answer broke off", Err: err}
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, &engram.Error{Code: CodeUnreachable, Message: "the answer is not of engram", Err: err}
	}
	return &l, nil
}

// Next moves to the next row. It returns false behind the last one and after an
// error, which Err tells; the connection is given back then.
func (r *Rows) Next() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row = nil
	if r.done || r.err != nil {
		return false
	}
	l, err := r.read()
	switch {
	case err != nil:
		r.err = err
	case l.Problem != nil:
		r.err = l.Problem.err()
	case l.Summary != nil:
		r.finish(l.Summary)
	default:
		row := make([]engram.Value, len(l.Row))
		for i, raw := range l.Row {
			if row[i], err = engram.ParseTyped(raw); err != nil {
				r.err = &engram.Error{Code: CodeUnreachable, Message: "a value of the answer makes no sense: " + err.Error(), Err: err}
				r.closeLocked()
				return false
			}
		}
		r.row = row
		r.count++
		return true
	}
	r.closeLocked()
	return false
}

// finish takes the summary.
func (r *Rows) finish(s *summary) {
	r.repeated = s.Repeated
	r.result.Counters = engram.Counters(s.Counters)
	for _, n := range s.Notices {
		r.result.Notices = append(r.result.Notices, engram.Notice(n))
	}
	r.result.Timings.Plan, r.result.Timings.Run = timing(s.Timings.PlanMS), timing(s.Timings.RunMS)
	if s.Plan != "" {
		r.result.Plan = &engram.Plan{Operator: trimNewline(s.Plan)}
	}
}

func trimNewline(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
}

func (r *Rows) closeLocked() {
	if !r.done {
		r.done = true
		_ = r.body.Close() // only read
	}
}

// Row returns the row that Next moved to. It belongs to the caller.
func (r *Rows) Row() []engram.Value {
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

// All yields the rows that are left, and as the last thing an error if there is one.
// It closes r, also when the loop is left early.
func (r *Rows) All() iter.Seq2[[]engram.Value, error] {
	return func(yield func([]engram.Value, error) bool) {
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
func (r *Rows) Columns() []string { return r.columns }

// Count is how many rows were read so far.
func (r *Rows) Count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Result is the answer without its rows, of which all but the columns is known behind
// the last row.
func (r *Rows) Result() *engram.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.result
	out.Columns = r.columns
	return &out
}

// Close gives the connection back. It may be called again, and at any time.
func (r *Rows) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row = nil
	r.closeLocked()
	return nil
}

// collect reads all rows.
func collect(rows *Rows, err error) (*engram.Result, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // a reading error has been told
	var list [][]engram.Value
	for rows.Next() {
		list = append(list, rows.Row())
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	res := rows.Result()
	res.Rows = list
	return res, nil
}
