package server

import (
	"context"
	"encoding/json"
	"net/http"

	"engram"
	"engram/server/internal/strict"
	"engram/server/token"
)

// call makes a message look like a request to what they share.
func (k *socket) call(ctx context.Context) *call {
	return &call{s: k.s, ctx: ctx, who: k.who, id: k.id, namespace: k.namespace, db: k.db}
}

// socketQuery is a query message's request: as in POST /v1/query, but for the
// transaction, and with the key beside.
type socketQuery struct {
	Statement  string         `json:"statement"`
	Parameters map[string]any `json:"parameters"`
	Mode       string         `json:"mode"`
	Values     string         `json:"values"`
	Budget     budgetRequest  `json:"budget"`
	Key        string         `json:"idempotency_key"`
}

func (k *socket) query(ctx context.Context, m envelope) error {
	var q socketQuery
	if err := strict.Decode(m.Request, &q); err != nil {
		return err
	}
	st, err := (&queryRequest{Statement: q.Statement, Parameters: q.Parameters, Mode: q.Mode, Values: q.Values, Budget: q.Budget}).statement()
	if err != nil {
		return err
	}
	if q.Mode == "write" && !k.who.May(token.Write) {
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope write")
	}
	if len(q.Key) > maxKey {
		return invalid("idempotency_key", "an idempotency key has at most 200 bytes")
	}
	c := k.call(ctx)
	c.key = q.Key
	if c.key != "" {
		res, repeated, err := c.execOnce(st)
		k.audit(c, err)
		if err != nil {
			return err
		}
		return k.rows(m.ID, res.Columns, held(res.Rows), q.Values, func() summary { return summarize(k.db, res, int64(len(res.Rows)), repeated) })
	}
	rows, err := c.rows(k.db, st)
	k.audit(c, err)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // a reading error has been told
	return k.rows(m.ID, rows.Columns(), rows.All(), q.Values, func() summary { return summarize(k.db, rows.Result(), rows.Count(), false) })
}

// audit logs what a message wrote, without content.
func (k *socket) audit(c *call, err error) {
	w := c.wrote
	if err != nil || !w.Any() {
		return
	}
	k.s.config.Log.Info("write", "request", k.id, "token", k.who.Name, "route", "/v1/ws", "namespace", k.namespace, "outcome", "ok",
		"nodes_created", w.NodesCreated, "nodes_deleted", w.NodesDeleted, "edges_created", w.EdgesCreated, "edges_deleted", w.EdgesDeleted, "properties_set", w.PropertiesSet)
}

func (k *socket) recall(ctx context.Context, m envelope) error {
	var q recallRequest
	if err := strict.Decode(m.Request, &q); err != nil {
		return err
	}
	st, err := q.statement()
	if err != nil {
		return err
	}
	if q.Reinforce && !k.who.May(token.Write) {
		return newProblem(http.StatusForbidden, codeForbidden, "reinforce needs the scope write")
	}
	c := k.call(ctx)
	res, err := c.known(st, "from", q.From)
	if err != nil {
		return err
	}
	return k.rows(m.ID, res.Columns, held(res.Rows), "", func() summary { return c.summarize(res) })
}

// rows answers with the columns, rows in pieces, and the summary.
func (k *socket) rows(id string, columns []string, rows rowSeq, form string, end func() summary) error {
	if columns == nil {
		columns = []string{}
	}
	if err := k.tell(struct {
		ID      string   `json:"id"`
		Type    string   `json:"type"`
		Columns []string `json:"columns"`
	}{id, "columns", columns}); err != nil {
		return err
	}
	name, err := json.Marshal(id)
	if err != nil {
		return err
	}
	head := append(append([]byte(`{"id":`), name...), `,"type":"rows","rows":[`...)
	piece, n := append([]byte(nil), head...), 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n > 0 {
			piece = append(piece, ',')
		}
		n++
		if piece = appendRow(piece, row, form == typed); len(piece) >= socketChunk {
			if err := k.send(append(piece, "]}"...)); err != nil {
				return err
			}
			piece, n = append([]byte(nil), head...), 0
		}
	}
	if n > 0 {
		if err := k.send(append(piece, "]}"...)); err != nil {
			return err
		}
	}
	return k.tell(struct {
		ID      string  `json:"id"`
		Type    string  `json:"type"`
		Summary summary `json:"summary"`
	}{id, "summary", end()})
}

// subscribeRequest asks for the changes of the graph.
type subscribeRequest struct {
	Conversation string  `json:"conversation_id"` // in place of the graph: its runs
	Run          string  `json:"run_id"`          // the first one that is told of; without it the newest
	After        *uint64 `json:"after"`           // the seq to go on from; without it only what comes
}

// changeJSON is what one transaction did.
type changeJSON struct {
	ID           string            `json:"id"`
	Type         string            `json:"type"`
	Seq          uint64            `json:"seq"`
	Bulk         bool              `json:"bulk,omitempty"`
	NodesCreated []changedNodeJSON `json:"nodes_created,omitempty"`
	NodesChanged []string          `json:"nodes_changed,omitempty"`
	NodesDeleted int               `json:"nodes_deleted,omitempty"`
	EdgesCreated []changedEdgeJSON `json:"edges_created,omitempty"`
	EdgesDeleted int               `json:"edges_deleted,omitempty"`
}

type changedNodeJSON struct {
	ID     string   `json:"id"`
	Labels []string `json:"labels"`
}

type changedEdgeJSON struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Start string `json:"start"`
	End   string `json:"end"`
}

// maxChangeNames bounds what is listed of one transaction.
const maxChangeNames = 1000

func changeOf(id string, c engram.Change) changeJSON {
	out := changeJSON{ID: id, Type: "change", Seq: c.Seq, Bulk: c.Bulk, NodesDeleted: c.NodesDeleted, EdgesDeleted: c.EdgesDeleted}
	for _, n := range c.NodesCreated[:min(maxChangeNames, len(c.NodesCreated))] {
		out.NodesCreated = append(out.NodesCreated, changedNodeJSON(n))
	}
	out.NodesChanged = c.NodesChanged[:min(maxChangeNames, len(c.NodesChanged))]
	for _, e := range c.EdgesCreated[:min(maxChangeNames, len(c.EdgesCreated))] {
		out.EdgesCreated = append(out.EdgesCreated, changedEdgeJSON{e.ID, e.Type, e.From, e.To})
	}
	if len(c.NodesCreated) > maxChangeNames || len(c.NodesChanged) > maxChangeNames || len(c.EdgesCreated) > maxChangeNames {
		out.Bulk = true // too much to list
	}
	return out
}

// subscribe tells changes until it is canceled.
func (k *socket) subscribe(ctx context.Context, m envelope) error {
	var q subscribeRequest
	if err := strict.Decode(m.Request, &q); err != nil {
		return err
	}
	if q.Conversation != "" {
		return k.subscribeRuns(ctx, m.ID, &q)
	}
	if q.Run != "" {
		return invalid("run_id", "run_id goes with conversation_id")
	}
	if !k.who.May(token.Read) {
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope read")
	}
	at := k.db.Seq()
	if q.After != nil {
		if *q.After > at {
			return invalid("after", "after is a seq that does not exist yet")
		}
		at = *q.After
	}
	if err := k.tell(struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Seq  uint64 `json:"seq"`
	}{m.ID, "subscribed", at}); err != nil {
		return err
	}
	for {
		changes, upTo, err := k.db.Changes(ctx, at)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if err := k.tell(changeOf(m.ID, c)); err != nil {
				return err
			}
		}
		at = upTo
	}
}
