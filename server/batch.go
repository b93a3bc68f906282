package server

import (
	"context"
	"fmt"
	"strings"

	"engram"
)

// batchRequest is several statements.
type batchRequest struct {
	Statements []batchStatement `json:"statements" doc:"1 to 1,000." required:"true"`
	Values     string           `json:"values" doc:"Of the parameters: plain, or typed, as in POST /v1/query." enum:"plain,typed"`
}

type batchStatement struct {
	Statement  string         `json:"statement" required:"true"`
	Parameters map[string]any `json:"parameters"`
	Key        string         `json:"key" doc:"The Idempotency-Key that it was sent with before."`
}

// batchResponse tells what was done.
type batchResponse struct {
	Executed int           `json:"executed"`
	Skipped  int           `json:"skipped" doc:"How many were committed before, by their keys."`
	Counters *countersJSON `json:"counters,omitempty"`
	Seq      uint64        `json:"seq"`
	Repeated bool          `json:"repeated,omitempty" doc:"The Idempotency-Key was committed before: nothing was written."`
}

const maxBatch = 1000

func (s *Server) batch(c *call) error {
	var q batchRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	if len(q.Statements) == 0 || len(q.Statements) > maxBatch {
		return invalid("statements", fmt.Sprintf("the statements are 1 to %d", maxBatch))
	}
	list := make([]statement, len(q.Statements))
	for i, st := range q.Statements {
		if strings.TrimSpace(st.Statement) == "" {
			return invalid(fmt.Sprintf("statements[%d]", i), "the statement is missing")
		}
		if len(st.Key) > maxKey {
			return invalid(fmt.Sprintf("statements[%d]", i), fmt.Sprintf("a key has at most %d bytes", maxKey))
		}
		params, err := typedParameters(q.Values, st.Parameters)
		if err != nil {
			return err
		}
		list[i] = statement{text: st.Statement, params: params}
	}
	out := batchResponse{}
	var err error
	out.Repeated, err = c.update(func(ctx context.Context, tx *engram.Tx) error {
		for i, st := range list {
			if key := q.Statements[i].Key; key != "" {
				_, done, err := c.db.Committed("http:" + key)
				if err != nil {
					return err
				}
				if done {
					out.Skipped++
					continue
				}
			}
			res, err := tx.Query(ctx, st.text, st.params)
			if err != nil {
				p := *asProblem(err)
				p.Field = fmt.Sprintf("statements[%d]", i)
				return &p
			}
			c.wrote = c.wrote.Plus(res.Counters)
			out.Executed++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if out.Repeated {
		out.Executed, out.Skipped = 0, 0
	}
	if c.wrote.Any() {
		counters := countersJSON(c.wrote)
		out.Counters = &counters
	}
	out.Seq = c.db.Seq()
	return c.answer(out)
}
