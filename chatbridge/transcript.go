package chatbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Transcript is a whole conversation.
type Transcript struct {
	Conversation Conversation `json:"conversation"`
	Turns        []Turn       `json:"turns"` // in their order
	Runs         []RunRecord  `json:"runs"`  // the oldest first
}

// Turn is a message of a person or of the model.
type Turn struct {
	ID      string    `json:"id"`
	Number  int       `json:"number"`
	Role    string    `json:"role"` // user or assistant
	Text    string    `json:"text"`
	Created time.Time `json:"created_at"`
	Origin  string    `json:"origin"`
	// Run produced it; Receipt, Tools and Sources tell of what ran for it. All of them
	// are the assistant's.
	Run     string   `json:"run_id,omitempty"`
	Receipt string   `json:"receipt,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Sources []string `json:"sources,omitempty"`
}

// RunRecord is what is kept of a run.
type RunRecord struct {
	ID       string       `json:"id"`
	Status   string       `json:"status"`
	Prompt   string       `json:"prompt,omitempty"`
	Failure  string       `json:"failure,omitempty"`
	Artefact string       `json:"artefact,omitempty"` // a reply that could not be read
	Provider string       `json:"provider,omitempty"`
	Wire     string       `json:"wire,omitempty"`
	Model    string       `json:"model,omitempty"`
	Rounds   int          `json:"rounds"`
	Tokens   int          `json:"tokens"`
	Usage    Usage        `json:"usage"`
	Created  time.Time    `json:"created_at"`
	Calls    []CallRecord `json:"calls,omitempty"` // in the order they were made
	Events   []Event      `json:"events,omitempty"`
}

// CallRecord is what is kept of a call of a tool; its result is among the events.
type CallRecord struct {
	ID        string    `json:"id"`
	CallID    string    `json:"call_id"`
	IssuedID  string    `json:"issued_id"` // as the provider named it
	Name      string    `json:"name"`
	Arguments string    `json:"arguments"` // as the model wrote them
	Position  int       `json:"position"`
	Status    string    `json:"status"`
	Created   time.Time `json:"created_at"`
}

const (
	eqlTranscript = `MATCH (:Conversation {id: $id})-[:CONTAINS]->(t:Turn) WHERE t.number > $after
RETURN t.id AS id, t.number AS number, t.role AS role, t.text AS text, [t.created_at.epochSeconds, t.created_at.nanosecond] AS created, t.origin AS origin,
 COLLECT { MATCH (t)-[:PRODUCED_BY]->(r:Run) RETURN r.id } AS run, t.receipt AS receipt, t.tools AS tools, t.sources AS sources
ORDER BY number LIMIT $limit`
	eqlRuns = `MATCH (:Conversation {id: $id})-[:HAS_RUN]->(r:Run) WHERE $after IS NULL OR [r.created_at.epochSeconds, r.created_at.nanosecond] > $after OR [r.created_at.epochSeconds, r.created_at.nanosecond] = $after AND r.id > $last
RETURN r.id AS id, r.status AS status, r.prompt AS prompt, r.failure AS failure, r.artefact AS artefact, r.provider AS provider, r.wire AS wire, r.model AS model,
 r.rounds AS rounds, r.tokens AS tokens, [r.created_at.epochSeconds, r.created_at.nanosecond] AS created, r.events AS events,
 [r.rounds, r.input_tokens, r.output_tokens, r.input_system, r.input_memory, r.input_files, r.input_tools, r.input_history] AS usage ORDER BY created, id LIMIT $limit`
	eqlCalls = `MATCH (r:Run {id: $id})-[:CALLED]->(t:ToolCall)
RETURN t.id AS id, t.call_id AS call, t.issued_id AS issued, t.name AS name, t.arguments AS arguments, t.position AS position, t.status AS status, [t.created_at.epochSeconds, t.created_at.nanosecond] AS created
ORDER BY position, created, id`
)

// read is how many turns or runs are read at a time.
const read = 200

// Show reads a whole conversation. Of one that is forgotten it tells so.
func (b *Bridge) Show(ctx context.Context, id string) (*Transcript, error) {
	c, err := b.Conversation(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &Transcript{Conversation: *c, Turns: []Turn{}, Runs: []RunRecord{}}
	if err := b.turns(ctx, id, func(turn Turn) error { t.Turns = append(t.Turns, turn); return nil }); err != nil {
		return nil, err
	}
	return t, b.runsOf(ctx, id, func(r RunRecord) error { t.Runs = append(t.Runs, r); return nil })
}

// turns gives the turns of a conversation on, a part of them at a time.
func (b *Bridge) turns(ctx context.Context, id string, each func(Turn) error) error {
	for after := int64(0); ; {
		res, err := b.o.Memory.Read(ctx, eqlTranscript, map[string]any{"id": id, "after": after, "limit": int64(read)})
		if err != nil {
			return err
		}
		for _, row := range res.Rows {
			after, _ = row[1].(int64)
			t := Turn{
				ID: text(row[0]), Number: int(after), Role: text(row[2]), Text: text(row[3]), Created: moment(row[4]), Origin: text(row[5]),
				Receipt: text(row[7]), Tools: texts(row[8]), Sources: texts(row[9]),
			}
			if run := texts(row[6]); len(run) > 0 {
				t.Run = run[0]
			}
			if err := each(t); err != nil {
				return err
			}
		}
		if len(res.Rows) < read {
			return nil
		}
	}
}

// runsOf gives the runs of a conversation on, with their calls and events.
func (b *Bridge) runsOf(ctx context.Context, id string, each func(RunRecord) error) error {
	const atOnce = 20 // the events of each hold what was streamed
	for params := map[string]any{"id": id, "after": nil, "last": "", "limit": int64(atOnce)}; ; {
		res, err := b.o.Memory.Read(ctx, eqlRuns, params)
		if err != nil {
			return err
		}
		for _, row := range res.Rows {
			params["after"], params["last"] = row[10], row[0]
			r, err := b.runRecord(ctx, row)
			if err != nil {
				return err
			}
			if err := each(*r); err != nil {
				return err
			}
		}
		if len(res.Rows) < atOnce {
			return nil
		}
	}
}

func (b *Bridge) runRecord(ctx context.Context, row []any) (*RunRecord, error) {
	rounds, _ := row[8].(int64)
	tokens, _ := row[9].(int64)
	r := &RunRecord{
		ID: text(row[0]), Status: text(row[1]), Prompt: text(row[2]), Failure: text(row[3]), Artefact: text(row[4]), Provider: text(row[5]), Wire: text(row[6]),
		Model: text(row[7]), Rounds: int(rounds), Tokens: int(tokens), Created: moment(row[10]),
	}
	u := &r.Usage
	spent, _ := row[12].([]any)
	for i, n := range append([]*int{&u.Rounds, &u.Input, &u.Output}, u.BySource.all()...) {
		if i < len(spent) {
			v, _ := spent[i].(int64)
			*n = int(v)
		}
	}
	if stored := text(row[11]); stored != "" {
		if err := json.Unmarshal([]byte(stored), &r.Events); err != nil {
			return nil, fmt.Errorf("the events of the run %s cannot be read", r.ID)
		}
	}
	res, err := b.o.Memory.Read(ctx, eqlCalls, map[string]any{"id": r.ID})
	if err != nil {
		return nil, err
	}
	for _, c := range res.Rows {
		position, _ := c[5].(int64)
		r.Calls = append(r.Calls, CallRecord{
			ID: text(c[0]), CallID: text(c[1]), IssuedID: text(c[2]), Name: text(c[3]), Arguments: text(c[4]), Position: int(position), Status: text(c[6]), Created: moment(c[7]),
		})
	}
	return r, nil
}
