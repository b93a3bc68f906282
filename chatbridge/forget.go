package chatbridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Forget takes a conversation out of the list, the search and the reach of messages and
// answers. It is kept and can be restored. because may be empty.
func (b *Bridge) Forget(ctx context.Context, id, because string) error {
	run, err := b.claim(id, "")
	if err != nil {
		return err
	}
	defer b.release(run)
	if err := b.holdConversation(ctx, run); err != nil {
		return err
	}
	if _, err := b.Conversation(ctx, id); err != nil {
		return err
	}
	_, err = b.one(ctx, "the conversation "+id, eqlForget, map[string]any{"id": id, "because": because, "now": b.o.Now()})
	return err
}

// Restore brings a forgotten conversation back as it was.
func (b *Bridge) Restore(ctx context.Context, id string) error {
	c, err := b.Conversation(ctx, id)
	if err != nil {
		return err
	}
	if !c.Forgotten {
		return refuse("invalid", "the conversation %s is not forgotten", id)
	}
	_, err = b.one(ctx, "the conversation "+id, `MATCH (c:Conversation {id: $id}) WHERE coalesce(c.status, '') = 'forgotten' AND c.purging IS NULL
REMOVE c.status, c.forgotten_at, c.forgotten_because RETURN c.id AS id`, map[string]any{"id": id})
	return err
}

// PurgeScope says what Purge deletes.
type PurgeScope struct {
	// Conversation is the one that is purged; it need not be forgotten before.
	Conversation string
	// Forgotten purges, without a conversation, all that are forgotten; with Before only
	// those that were forgotten before that time.
	Forgotten bool
	Before    time.Time
	// Memories deletes also what the model remembered in it, where it is still as the
	// model wrote it.
	Memories bool
}

// Purged counts what was deleted.
type Purged struct {
	Conversations int `json:"conversations"`
	// Nodes of the conversations: turns, runs, calls, rules, bells and themselves.
	Nodes    int `json:"nodes"`
	Memories int `json:"memories"`
}

const (
	eqlForget = `MATCH (c:Conversation {id: $id})
SET c.status = 'forgotten', c.forgotten_at = coalesce(c.forgotten_at, $now), c.forgotten_because = $because RETURN c.id AS id`
	eqlForgotten = `MATCH (c:Conversation) WHERE c.rounds IS NOT NULL AND coalesce(c.status, '') = 'forgotten' AND ($before IS NULL OR c.forgotten_at < $before)
RETURN c.id AS id ORDER BY id LIMIT $limit`
	eqlPurging = `MATCH (c:Conversation {id: $id}) SET c.status = 'forgotten', c.purging = true RETURN c.id AS id`
	eqlUnwrite = `MATCH (m:Memory {id: $memory}) WHERE m.content = $text AND m.origin IN ['model', 'tool'] DETACH DELETE m RETURN count(m) AS n`
	// What hangs on what hangs on a conversation goes first, so that a purge that is cut
	// off can be made again.
	eqlPurgeFar = `MATCH (:Conversation {id: $id})-->(:Run|Turn)-->(n) WHERE any(l IN labels(n) WHERE l IN $own) WITH DISTINCT n LIMIT $limit
DETACH DELETE n RETURN count(n) AS n`
	eqlPurgeNear = `MATCH (:Conversation {id: $id})-->(n) WHERE any(l IN labels(n) WHERE l IN $own) WITH DISTINCT n LIMIT $limit
DETACH DELETE n RETURN count(n) AS n`
	eqlPurgeLast = `MATCH (c:Conversation {id: $id}) DETACH DELETE c RETURN count(c) AS n`
)

// ownLabels are of the nodes that belong to a conversation and end with it. What else
// it is linked with, such as memories, stays.
func ownLabels() (far, near []any) {
	return []any{"ToolCall", "Review"}, []any{"Turn", "Run", "AllowRule", "BellEvent", "PositiveEvent"}
}

// purged is how many nodes are deleted by one statement.
const purged = 500

// Purge deletes conversations for good: turns, receipts, runs with their events and
// artefacts, calls, rules, bells. Nothing of them is found afterwards, also not by text
// search. What has been cut off can be purged again. Copies in backups are not reached,
// and the space in the file is given back when it is compacted.
func (b *Bridge) Purge(ctx context.Context, scope PurgeScope) (*Purged, error) {
	if (scope.Conversation != "") == scope.Forgotten || !scope.Before.IsZero() && !scope.Forgotten {
		return nil, refuse("invalid", "purge one conversation, or those that are forgotten, of these perhaps only those forgotten before a time")
	}
	out := &Purged{}
	if !scope.Forgotten {
		if _, err := b.Conversation(ctx, scope.Conversation); err != nil {
			return nil, err
		}
		return out, b.purge(ctx, scope.Conversation, scope.Memories, out)
	}
	params := map[string]any{"before": nil, "limit": int64(purged)}
	if !scope.Before.IsZero() {
		params["before"] = scope.Before
	}
	for {
		res, err := b.o.Memory.Read(ctx, eqlForgotten, params)
		if err != nil || len(res.Rows) == 0 {
			return out, err
		}
		for _, row := range res.Rows {
			if err := b.purge(ctx, text(row[0]), scope.Memories, out); err != nil {
				return out, err
			}
		}
	}
}

func (b *Bridge) purge(ctx context.Context, id string, memories bool, out *Purged) error {
	run, err := b.claim(id, "") // nothing runs in it meanwhile
	if err != nil {
		return err
	}
	defer b.release(run)
	if err := b.holdConversation(ctx, run); err != nil {
		return err
	}
	if _, err := b.one(ctx, "the conversation "+id, eqlPurging, map[string]any{"id": id}); err != nil {
		return err
	}
	if memories {
		if err := b.unwrite(ctx, id, out); err != nil {
			return err
		}
	}
	made, err := b.purgeCandidates(ctx, id)
	if err != nil {
		return err
	}
	out.Nodes += made
	far, near := ownLabels()
	for _, step := range []struct {
		statement string
		own       []any
	}{{eqlPurgeFar, far}, {eqlPurgeNear, near}, {eqlPurgeLast, nil}} {
		for {
			row, err := b.one(ctx, "the conversation "+id, step.statement, map[string]any{"id": id, "own": step.own, "limit": int64(purged)})
			if err != nil {
				return err
			}
			n, ok := row[0].(int64)
			if !ok {
				return errors.New("how much was deleted cannot be read")
			}
			out.Nodes += int(n)
			if n < purged {
				break
			}
		}
	}
	out.Conversations++
	return nil
}

// unwrite deletes what the model remembered in a conversation, where it is as it was
// written. What had been known before stays.
func (b *Bridge) unwrite(ctx context.Context, id string, out *Purged) error {
	return b.runsOf(ctx, id, func(r RunRecord) error {
		for _, e := range r.Events {
			if e.Type != EventToolResult || e.Used == nil || e.Used.Name != "remember" || e.Used.Status != "ok" {
				continue
			}
			memory, ok := rememberedID(e.Used.Result)
			var wrote struct {
				Text string `json:"text"`
			}
			if !ok || json.Unmarshal([]byte(e.Used.Arguments), &wrote) != nil {
				continue
			}
			row, err := b.one(ctx, "a memory", eqlUnwrite, map[string]any{"memory": memory, "text": wrote.Text})
			if err != nil {
				return err
			}
			n, _ := row[0].(int64)
			out.Memories += int(n)
		}
		return nil
	})
}

// reachable refuses a conversation that is forgotten.
func (b *Bridge) reachable(ctx context.Context, id string) error {
	res, err := b.o.Memory.Read(ctx, `MATCH (c:Conversation {id: $id}) RETURN c.status AS status`, map[string]any{"id": id})
	if err == nil && len(res.Rows) > 0 && text(res.Rows[0][0]) == "forgotten" {
		err = forgotten(id)
	}
	return err
}

func forgotten(id string) error {
	return refuse("forgotten", "the conversation %s is forgotten: restore it first, or begin another one", id)
}
