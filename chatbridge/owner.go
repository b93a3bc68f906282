package chatbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

const (
	eqlOwner  = `MATCH (c:Conversation {id: $id}) RETURN c.owner AS owner`
	eqlNewest = `MATCH (c:Conversation {id: $id})-[:HAS_RUN]->(r:Run) WHERE $run IS NULL OR r.id = $run
RETURN r.id AS id, r.status AS status, r.events AS events, coalesce(c.holder = r.id AND c.held_until >= timestamp(), false) AS held ORDER BY r.created_at DESC, r.id DESC LIMIT 1`
)

// Create makes a conversation that nothing was said in yet, and returns its name. Owner
// is who it belongs to; empty: nobody.
func (b *Bridge) Create(ctx context.Context, owner string) (string, error) {
	id := "c-" + b.o.NewID()
	_, _, err := b.ledgerOf(ctx, id, owner)
	return id, err
}

// Owner tells whether there is a conversation, and who made it: what was given with the
// message that began it. The bridge itself does not hold anybody to it.
func (b *Bridge) Owner(ctx context.Context, conversation string) (owner string, found bool, err error) {
	res, err := b.o.Memory.Read(ctx, eqlOwner, map[string]any{"id": conversation})
	if err != nil || len(res.Rows) == 0 {
		return "", false, err
	}
	return text(res.Rows[0][0]), true, nil
}

// Stored is a run as memory has it: all but a leg that goes on now, whose events are
// had from Live.
type Stored struct {
	// ID of the run.
	ID string
	// Status is running, pending, done or failed.
	Status string
	// Events after the number that was asked for, in their order.
	Events []Event
}

// Stored reads a run of a conversation, or its newest one where run is empty, with the
// events after a number. Of a run that a program was killed in, the end is among them
// whatever number is known. nil: there is none.
func (b *Bridge) Stored(ctx context.Context, conversation, run string, after int) (*Stored, error) {
	params := map[string]any{"id": conversation, "run": nil}
	if run != "" {
		params["run"] = run
	}
	res, err := b.o.Memory.Read(ctx, eqlNewest, params)
	if err != nil || len(res.Rows) == 0 {
		return nil, err
	}
	out := &Stored{ID: text(res.Rows[0][0]), Status: text(res.Rows[0][1])}
	if stored := text(res.Rows[0][2]); stored != "" {
		if err := json.Unmarshal([]byte(stored), &out.Events); err != nil {
			return nil, fmt.Errorf("the events of the run %s cannot be read", out.ID)
		}
	}
	if held, _ := res.Rows[0][3].(bool); out.Status == "running" && !held {
		out.Status, out.Events = "failed", interruptedEvents(out.Events)
	}
	if n := len(out.Events); n > 0 && wasInterrupted(out.Events[n-1]) {
		after = min(after, out.Events[n-1].Seq-1) // pieces that were lost had numbers, too
	}
	out.Events = slices.DeleteFunc(out.Events, func(e Event) bool { return e.Seq <= after })
	return out, nil
}

// Running is how many runs go on now.
func (b *Bridge) Running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.live)
}
