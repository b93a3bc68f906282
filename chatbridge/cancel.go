package chatbridge

import (
	"context"
	"encoding/json"
	"fmt"
)

const (
	eqlToGiveUp = `MATCH (:Conversation {id: $id})-[:HAS_RUN]->(r:Run) WHERE r.status = 'pending'
RETURN r.id AS id, r.call_id AS call, r.events AS events ORDER BY id`
	// Of one that was answered meanwhile nothing is changed.
	eqlGiveUp = `MATCH (r:Run {id: $id}) WHERE r.status = 'pending' AND r.call_id = $call
SET r.status = 'failed', r.failure = $failure, r.events = $events REMOVE r.state, r.call_id RETURN r.id AS id`
)

// giveUp ends the runs of a conversation that wait for an answer, each with its terminal
// event. It tells whether there was one.
func (b *Bridge) giveUp(ctx context.Context, conversation string) (had bool, err error) {
	res, err := b.o.Memory.Read(ctx, eqlToGiveUp, map[string]any{"id": conversation})
	if err != nil {
		return false, err
	}
	f := &Failure{Kind: "cancelled", Text: "the call was never answered"}
	for _, row := range res.Rows {
		run := &Run{ID: text(row[0]), Conversation: conversation}
		if err := json.Unmarshal([]byte(text(row[2])), &run.events); err != nil {
			return had, fmt.Errorf("the events of the run %s cannot be read", run.ID)
		}
		end := run.next(Event{Type: EventError, Text: f.Text, Failure: f})
		res, err := b.o.Memory.Query(ctx, eqlGiveUp, map[string]any{"id": run.ID, "call": row[1], "failure": f.Kind + ": " + f.Text, "events": encoded(append(run.events, end))})
		if err != nil {
			return had, err
		}
		had = had || len(res.Rows) > 0
	}
	return had, nil
}
