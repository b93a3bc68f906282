package chatbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"engram/chatbridge/internal/remotetool"
	"engram/chatbridge/internal/wire"
)

// state is a run as it is stored, to go on in another process.
type state struct {
	ID           string            `json:"id"`
	Conversation string            `json:"conversation"`
	Prompt       string            `json:"prompt"`
	AskAll       bool              `json:"ask_all,omitempty"`
	NoTools      bool              `json:"no_tools,omitempty"`
	Without      []string          `json:"without,omitempty"`   // tools that are not offered
	Unstarted    []string          `json:"unstarted,omitempty"` // MCP servers that a person does not want started
	Provider     string            `json:"provider"`
	Wire         string            `json:"wire"`
	Model        string            `json:"model"`
	System       string            `json:"system"`
	Said         string            `json:"-"` // by a person, since the last leg
	Guidance     string            `json:"-"`
	Bell         bool              `json:"bell,omitempty"`     // it rings: deltas wait for the validated text
	Preload      int               `json:"preload,omitempty"`  // bytes of System that tell what memory holds
	Receipts     int               `json:"receipts,omitempty"` // bytes of System that tell what ran
	Rang         bool              `json:"rang,omitempty"`     // what was said in this run rang it
	Window       []turn            `json:"window,omitempty"`   // what was said before, until it is in Messages
	Layers       string            `json:"-"`                  // what they tell the model
	Mission      string            `json:"-"`                  // that the message sets
	Overlay      string            `json:"-"`                  // the imprint that the message names
	Messages     []json.RawMessage `json:"messages"`
	Calls        []wire.Call       `json:"calls,omitempty"`    // of the last reply
	Results      []wire.Result     `json:"results,omitempty"`  // of those that are answered
	Recorded     int               `json:"recorded,omitempty"` // of the calls, how many are in Used
	Used         []Used            `json:"used,omitempty"`
	Sources      []string          `json:"sources,omitempty"`
	Texts        []string          `json:"texts,omitempty"` // of the rounds so far
	Narration    string            `json:"narration,omitempty"`
	Artefact     string            `json:"artefact,omitempty"` // the last of the replies that could not be read
	Usage        Usage             `json:"usage"`
	Pending      *Pending          `json:"pending,omitempty"`
	Steering     *steering         `json:"steering,omitempty"` // of a run under review

	instead string // what was validated is not the model's text but this

	stop   *stopped            // why it ends before it goes on
	aside  string              // of the system prompt, read anew by each leg
	told   int                 // bytes of it that tell verdicts
	quiet  bool                // what the model says is told to nobody
	remote *remotetool.Session // tools of MCP servers, while a leg goes on
}

const (
	eqlConversation = `MERGE (c:Conversation {id: $id})
ON CREATE SET c.created_at = $now, c.rounds = 0, c.tokens = 0, c.owner = $owner
RETURN c.rounds AS rounds, c.tokens AS tokens`
	eqlPendingRuns = `MATCH (c:Conversation {id: $id})-[:HAS_RUN]->(r:Run) WHERE r.status IN ['pending', 'running']
RETURN r.id AS id, r.status AS status, r.call_id AS call ORDER BY r.id`
	eqlInterrupted = `MATCH (r:Run {id: $id}) SET r.status = 'failed', r.failure = $failure, r.events = $events`
	eqlBegin       = `MATCH (c:Conversation {id: $conversation})
SET c.active_at = $now
CREATE (c)-[:HAS_RUN]->(r:Run {id: $id, conversation: $conversation, status: 'running', prompt: $prompt, rounds: 0, tokens: 0, revisions: $revisions, created_at: $now, events: $events})
RETURN r.id AS id`
	// A round is written down before it is made.
	eqlReserve = `MATCH (c:Conversation {id: $conversation}) MATCH (r:Run {id: $id})
SET c.rounds = c.rounds + 1, r.rounds = r.rounds + 1, r.wire = $wire, r.provider = $provider, r.model = $model, r.events = $events
RETURN c.rounds AS rounds`
	eqlBill = `MATCH (c:Conversation {id: $conversation}) MATCH (r:Run {id: $id})
SET c.tokens = c.tokens + $tokens, r.tokens = r.tokens + $tokens, r.input_tokens = $input, r.output_tokens = $output,
 r.input_system = $system, r.input_memory = $memory, r.input_files = $files, r.input_tools = $tools, r.input_history = $history RETURN c.tokens AS tokens`
	eqlCalled = `MATCH (r:Run {id: $run})
CREATE (r)-[:CALLED]->(t:ToolCall {id: $id, call_id: $call, issued_id: $issued, name: $name, arguments: $arguments, position: $position, status: 'called', created_at: $now})
SET r.events = $events RETURN t.id AS id`
	eqlSeen     = `MATCH (:Conversation {id: $conversation})-[:HAS_RUN]->(:Run)-[:CALLED]->(t:ToolCall {issued_id: $call}) RETURN count(t) AS seen`
	eqlAnswered = `MATCH (t:ToolCall {id: $id}) MATCH (r:Run {id: $run}) SET t.status = $status, t.refused = $refused, r.events = $events`
	eqlSuspend  = `MATCH (r:Run {id: $id}) SET r.status = 'pending', r.state = $state, r.events = $events, r.call_id = $call, r.tool_name = $tool,
r.tool_input = $input, r.risk_tier = $tier, r.narration = $narration, r.review = $review, r.suspended_at = $now` + eqlEnded
	// Whoever answers takes the run; the second one finds nothing to take.
	eqlTake = `MATCH (c:Conversation {id: $conversation})-[:HAS_RUN]->(r:Run {id: $id})
WHERE r.status = 'pending' AND r.call_id = $call AND (c.holder IS NULL OR c.held_until < timestamp())
SET r.status = 'running', r.used_call_id = $call, c.holder = $id, c.held_until = timestamp() + $hold REMOVE r.call_id RETURN r.state AS state, r.events AS events`
	eqlWaiting = `MATCH (c:Conversation {id: $id})-[:HAS_RUN]->(r:Run) WHERE r.status = 'pending'
RETURN r.id AS id, r.call_id AS call, r.state AS state ORDER BY r.id`
	eqlRelease = `MATCH (r:Run {id: $id}) SET r.status = 'pending', r.call_id = $call RETURN r.id AS id`
	eqlEnd     = `MATCH (r:Run {id: $id}) SET r.status = $status, r.failure = $failure, r.events = $events, r.artefact = $artefact,
r.prompt = CASE WHEN $forget THEN null ELSE r.prompt END REMOVE r.state, r.call_id` + eqlEnded
	// With the end of a leg the conversation is anybody's again.
	eqlEnded = ` WITH r OPTIONAL MATCH (c:Conversation {id: r.conversation}) WHERE c.holder = r.id REMOVE c.holder, c.held_until RETURN r.id AS id`
	eqlTurns = `MATCH (c:Conversation {id: $id})-[:CONTAINS]->(t:Turn) RETURN t.role AS role, t.text AS text, t.receipt AS receipt, t.number AS number
ORDER BY t.number DESC LIMIT $limit`
	eqlRangTurns = `MATCH (c:Conversation {id: $id})-[:CONTAINS]->(t:Turn) WHERE t.rang AND t.number < $before
RETURN t.role AS role, t.text AS text, t.receipt AS receipt, t.number AS number ORDER BY t.number DESC LIMIT $limit`
	eqlRecord = `MATCH (c:Conversation {id: $id})
CREATE (c)-[:CONTAINS]->(u:Turn {id: $user, role: 'user', text: $prompt, number: $number, created_at: $now, origin: 'user', rang: $rang}),
(c)-[:CONTAINS]->(a:Turn {id: $assistant, role: 'assistant', text: $reply, number: $number + 1, created_at: $now, origin: 'model',
 receipt: $receipt, tools: $tools, sources: $sources, rang: $rang}), (u)-[:TEMPORALLY_PRECEDES]->(a)
WITH u, a MATCH (r:Run {id: $run}) CREATE (a)-[:PRODUCED_BY]->(r)
RETURN a.id AS id`
	eqlPrecedes = `MATCH (p:Turn {id: $previous}) MATCH (u:Turn {id: $user}) CREATE (p)-[:TEMPORALLY_PRECEDES]->(u)`
	eqlRule     = `MATCH (c:Conversation {id: $conversation}) CREATE (c)-[:ALLOWS]->(:AllowRule {id: $id, tool: $tool, action: $action, prefix: $prefix, everywhere: $everywhere, created_at: $now})`
	eqlRules    = `MATCH (c:Conversation)-[:ALLOWS]->(a:AllowRule) WHERE a.tool = $tool AND (a.everywhere OR c.id = $conversation)
RETURN a.action AS action, a.prefix AS prefix ORDER BY a.id`
	eqlEvents = `MATCH (r:Run {id: $id}) RETURN r.events AS events`
)

// one is the only row of a statement, or an error that says what was not found.
func (b *Bridge) one(ctx context.Context, what, statement string, params map[string]any) ([]any, error) {
	res, err := b.o.Memory.Query(ctx, statement, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if len(res.Rows) == 0 {
		return nil, fmt.Errorf("%s: it is not in memory any more", what)
	}
	return res.Rows[0], nil
}

var errLedger = errors.New("what the conversation has spent cannot be read; no more is spent")

// ledger reads what a conversation has spent, making the conversation where there is none.
func (b *Bridge) ledger(ctx context.Context, id string) (rounds, tokens int, err error) {
	return b.ledgerOf(ctx, id, "")
}

// ledgerOf is ledger, making the conversation an owner's.
func (b *Bridge) ledgerOf(ctx context.Context, id, owner string) (rounds, tokens int, err error) {
	params := map[string]any{"id": id, "now": b.o.Now(), "owner": nil}
	if owner != "" {
		params["owner"] = owner
	}
	row, err := b.one(ctx, "the conversation "+id, eqlConversation, params)
	if err != nil {
		return 0, 0, err
	}
	return spent(row)
}

func spent(row []any) (rounds, tokens int, err error) {
	r, ok1 := row[0].(int64)
	t, ok2 := row[1].(int64)
	if !ok1 || !ok2 || r < 0 || t < 0 {
		return 0, 0, errLedger
	}
	return int(r), int(t), nil
}

// keep is how long storing the end of a run may take.
const keep = 20 * time.Second

// afterwards is a context to store something with although the run's has ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), keep)
}

// orNil is a text as a parameter: an empty one is absent.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func text(v any) string {
	s, _ := v.(string) // absent is empty
	return s
}

// encoded is JSON whose texts keep <, > and &, so that raw messages stay as they are.
func encoded(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "" // structs of texts, numbers and valid messages can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
