package chatbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Message is what a person says.
type Message struct {
	// Conversation it belongs to; empty: a new one, whose name the outcome tells.
	Conversation string
	// Text must not be empty.
	Text string
	// AskAll asks for consent to every call, also of what only reads.
	AskAll bool
	// NoTools offers no tools.
	NoTools bool
	// Without are tools that are neither offered nor run, by name.
	Without []string
	// Plan has the model propose a plan first, and nothing above reading run before a
	// person approves it. It needs a model.
	Plan bool
	// Proposal has a maker propose something whose numbers keep to the rules, and a
	// checker judge its reasoning, until a person approves. It needs a model, and
	// excludes Plan.
	Proposal []Rule
	// Mission is what the conversation that the message begins is for, up to 1,000 bytes.
	// Later messages may only say the same. Empty: the first message is the mission, unless
	// it tells of distress.
	Mission string
	// Imprint is the name of a layer of kind 3 whose nodes Voice and Domain colour the
	// answer to this message. Empty: none does.
	Imprint string
	// Owner of a conversation that the message begins; see Bridge.Owner. Empty: nobody.
	Owner string
}

// Answer answers a call that waits for consent.
type Answer struct {
	Conversation string
	// CallID of the call; empty: the only one that waits.
	CallID string
	// Approve runs it once. Otherwise it is denied, or, with Result, answered by the
	// client, which has run it itself.
	Approve bool
	// Words reach the model with a denial.
	Words string
	// Result of the client; nil: none.
	Result *string
	// Digest that the person saw. Where it is given and what would happen has changed
	// since, the answer is refused.
	Digest string
	// Remember keeps an approval for the same call: "conversation" or "always".
	Remember string
	// Prefix is, with Remember, the beginning of a command, typed by the person, that
	// is allowed with anything behind.
	Prefix []string
	// Without are tools that what is left of the run has no more, by name.
	Without []string
}

// Refusal is an answer or a message that cannot be taken. Nothing was changed.
type Refusal struct {
	// Code is busy, pending, unknown_call, used_call, ambiguous, changed, invalid, closed,
	// safe_mode, unknown_conversation, unknown_candidate, unknown_imprint, forgotten or no_model.
	Code string
	Text string
}

// Error tells what was refused and why.
func (r *Refusal) Error() string { return r.Text }

func refuse(code, format string, args ...any) error {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// Send begins a run, which goes on after ctx ends.
func (b *Bridge) Send(ctx context.Context, m Message) (*Run, error) {
	if b.phrases == nil {
		return nil, b.safeMode()
	}
	if strings.TrimSpace(m.Text) == "" {
		return nil, refuse("invalid", "the message is empty")
	}
	steering, err := b.steer(m)
	if err != nil {
		return nil, err
	}
	if m.Conversation == "" {
		m.Conversation = "c-" + b.o.NewID()
	}
	run, err := b.claim(m.Conversation, "")
	if err != nil {
		return nil, err
	}
	s := &state{ID: run.ID, Conversation: m.Conversation, Prompt: m.Text, Said: m.Text, AskAll: m.AskAll, NoTools: m.NoTools, Without: m.Without, Steering: steering, Mission: m.Mission}
	if err := b.begin(ctx, run, s, &m); err != nil {
		b.release(run)
		return nil, err
	}
	run.emit(Event{Type: EventStarted})
	b.start(run, s)
	return run, nil
}

func (b *Bridge) safeMode() error {
	return refuse("safe_mode", "chat is off: %v; memory works on", b.unsafe)
}

func (b *Bridge) begin(ctx context.Context, run *Run, s *state, m *Message) error {
	if err := b.reachable(ctx, s.Conversation); err != nil {
		return err
	}
	if err := b.setOut(ctx, s); err != nil {
		return err
	}
	if err := b.overlay(ctx, s, m.Imprint); err != nil {
		return err
	}
	if _, _, err := b.ledgerOf(ctx, s.Conversation, m.Owner); err != nil {
		return err
	}
	if err := b.holdConversation(ctx, run); err != nil {
		return err
	}
	res, err := b.o.Memory.Query(ctx, eqlPendingRuns, map[string]any{"id": s.Conversation})
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		if text(row[1]) == "pending" {
			return refuse("pending", "the call %s of this conversation waits for an answer: approve or deny it first", text(row[2]))
		}
		if err := b.endInterrupted(ctx, text(row[0])); err != nil {
			return err
		}
	}
	_, err = b.one(ctx, "the conversation", eqlBegin, map[string]any{"id": s.ID, "conversation": s.Conversation, "prompt": s.Prompt, "revisions": s.Steering.first(), "now": b.o.Now(), "events": run.with(Event{Type: EventStarted})})
	return err
}

// claim makes the one run that a conversation has at a time.
func (b *Bridge) claim(conversation, id string) (*Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, refuse("closed", "the program ends and takes no more messages")
	}
	if b.live[conversation] != nil {
		return nil, refuse("busy", "this conversation is still answering; wait or cancel it")
	}
	if id == "" {
		id = "r-" + b.o.NewID()
	}
	run := &Run{ID: id, Conversation: conversation, more: make(chan struct{}), settled: make(chan struct{})}
	run.ctx, run.cancel = context.WithCancelCause(b.ctx)
	b.live[conversation] = run
	b.runs.Add(1)
	return run, nil
}

func (b *Bridge) release(run *Run) {
	b.letGo(run)
	run.cancel(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !run.begun {
		close(run.settled)
	}
	delete(b.live, run.Conversation)
	b.runs.Done()
}

func (b *Bridge) start(run *Run, s *state) {
	b.mu.Lock()
	run.begun = true
	close(run.settled)
	b.tellLocked(run)
	b.mu.Unlock()
	go func() {
		stop := b.keepHold(run)
		out := b.leg(run.ctx, run, s)
		stop()
		title := b.titleAfter(out)
		b.runs.Add(1) // a title outlives the run
		defer b.runs.Done()
		b.titles.begin()
		defer b.titles.end()
		b.release(run)
		run.end(out)
		if title != nil {
			title(b.ctx)
		}
	}()
}

// Live is the run of a conversation that goes on now, nil if there is none.
func (b *Bridge) Live(conversation string) *Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	if run := b.live[conversation]; run != nil && run.begun {
		return run
	}
	return nil
}

// Cancel ends the run of a conversation that goes on, or that waits for an answer,
// whose call is then no more to be answered. It tells whether there was one.
func (b *Bridge) Cancel(ctx context.Context, conversation string) (bool, error) {
	if run := b.claimed(conversation); run != nil {
		select {
		case <-run.settled: // it has begun, or was refused
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	if run := b.Live(conversation); run != nil {
		run.Cancel()
		return true, nil
	}
	return b.giveUp(ctx, conversation)
}

// claimed is the run of a conversation that goes on now, or is about to; or nil.
func (b *Bridge) claimed(conversation string) *Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live[conversation]
}

// Waiting are the calls of a conversation that wait for an answer.
func (b *Bridge) Waiting(ctx context.Context, conversation string) ([]Pending, error) {
	res, err := b.o.Memory.Read(ctx, eqlWaiting, map[string]any{"id": conversation})
	if err != nil {
		return nil, err
	}
	var out []Pending
	for _, row := range res.Rows {
		var s state
		if err := json.Unmarshal([]byte(text(row[2])), &s); err != nil || s.Pending == nil {
			return nil, fmt.Errorf("the suspended run %s cannot be read", text(row[0]))
		}
		shown, err := b.shown(ctx, s.Pending)
		if err != nil {
			return nil, err
		}
		out = append(out, *shown)
	}
	return out, nil
}

// Events replays the stored events of a run after a number, also of an earlier process.
// Those of a leg that goes on now are had from the run itself.
func (b *Bridge) Events(ctx context.Context, run string, after int) ([]Event, error) {
	res, err := b.o.Memory.Read(ctx, eqlEvents, map[string]any{"id": run})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, refuse("invalid", "there is no run %s", run)
	}
	var events []Event
	if stored := text(res.Rows[0][0]); stored != "" {
		if err := json.Unmarshal([]byte(stored), &events); err != nil {
			return nil, fmt.Errorf("the events of the run %s cannot be read", run)
		}
	}
	return slices.DeleteFunc(events, func(e Event) bool { return e.Seq <= after }), nil
}

// Answer answers a call and goes on with its run, on the wire it was suspended on.
func (b *Bridge) Answer(ctx context.Context, a Answer) (*Run, error) {
	if b.phrases == nil {
		return nil, b.safeMode()
	}
	if a.Remember != "" && (!a.Approve || a.Remember != "conversation" && a.Remember != "always") {
		return nil, refuse("invalid", "remember is conversation or always, with an approval")
	}
	if err := b.reachable(ctx, a.Conversation); err != nil {
		return nil, err
	}
	res, err := b.o.Memory.Read(ctx, eqlWaiting, map[string]any{"id": a.Conversation})
	if err != nil {
		return nil, err
	}
	id := ""
	for _, row := range res.Rows {
		if a.CallID == "" || a.CallID == text(row[1]) {
			if id != "" {
				return nil, refuse("ambiguous", "several calls wait for an answer: name one")
			}
			id, a.CallID = text(row[0]), text(row[1])
		}
	}
	if id == "" {
		return nil, b.unknownCall(ctx, a)
	}
	run, err := b.claim(a.Conversation, id)
	if err != nil {
		return nil, err
	}
	s, err := b.take(ctx, run, a)
	if err != nil {
		b.release(run)
		return nil, err
	}
	b.start(run, s)
	return run, nil
}

func (b *Bridge) unknownCall(ctx context.Context, a Answer) error {
	if a.CallID == "" {
		return refuse("unknown_call", "no call of this conversation waits for an answer")
	}
	res, err := b.o.Memory.Read(ctx, `MATCH (c:Conversation {id: $id})-[:HAS_RUN]->(r:Run)-[:CALLED|REVIEWED]->(t {call_id: $call}) RETURN t.status`,
		map[string]any{"id": a.Conversation, "call": a.CallID})
	if err != nil {
		return err
	}
	if len(res.Rows) > 0 {
		return refuse("used_call", "the call %q was answered before", a.CallID)
	}
	return refuse("unknown_call", "no call %q of this conversation waits for an answer", a.CallID)
}

// take takes a suspended run out of memory, checks that what the person saw is what
// would happen, and puts the verdict into it.
func (b *Bridge) take(ctx context.Context, run *Run, a Answer) (*state, error) {
	res, err := b.o.Memory.Query(ctx, eqlTake, map[string]any{"id": run.ID, "conversation": a.Conversation, "call": a.CallID, "hold": b.hold.Milliseconds()})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, b.notTaken(ctx, run, a)
	}
	run.held = true
	s := &state{}
	var events []Event
	err = errors.Join(json.Unmarshal([]byte(text(res.Rows[0][0])), s), json.Unmarshal([]byte(text(res.Rows[0][1])), &events))
	run.restore(events)
	if err == nil {
		for _, name := range a.Without {
			s.Without = addOnce(s.Without, name)
		}
		if a.Approve && s.Pending != nil && strings.Contains(s.Pending.ToolName, "__") { // what is approved must be there to be looked at
			err = b.connect(ctx, run, s)
		}
		if err == nil {
			err = b.verdict(ctx, s, a)
		}
	}
	if err == nil {
		return s, nil
	}
	s.disconnect()
	back, cancel := afterwards(ctx)
	defer cancel()
	if _, again := b.one(back, "the run", eqlRelease, map[string]any{"id": run.ID, "call": a.CallID}); again != nil {
		return nil, errors.Join(err, again)
	}
	return nil, err
}

// notTaken tells why a run could not be taken: its call was answered, or another process
// does something with the conversation just now.
func (b *Bridge) notTaken(ctx context.Context, run *Run, a Answer) error {
	res, err := b.o.Memory.Read(ctx, `MATCH (r:Run {id: $id}) WHERE r.status = 'pending' AND r.call_id = $call RETURN r.id`, map[string]any{"id": run.ID, "call": a.CallID})
	if err != nil {
		return err
	}
	if len(res.Rows) > 0 {
		if err := b.heldByOther(ctx, run.Conversation); err != nil {
			return err
		}
		return refuse("busy", "the conversation was in use by another process: answer again")
	}
	return refuse("used_call", "the call %q was answered before", a.CallID)
}

const denied = "The person denied this call."

func (b *Bridge) verdict(ctx context.Context, s *state, a Answer) error {
	if s.Pending != nil && s.Pending.Review != nil {
		return b.reviewed(ctx, s, a)
	}
	if s.Pending != nil && s.Pending.CallID == a.CallID && s.Pending.ToolName == toolStartServer {
		return b.startVerdict(ctx, s, a)
	}
	if s.Pending == nil || s.Pending.CallID != a.CallID || len(s.Results) >= len(s.Calls) || len(s.Used) == 0 {
		return fmt.Errorf("the suspended run %s cannot be read", s.ID)
	}
	if len(b.wires) > 0 && b.provider(s) == nil {
		return refuse("invalid", "the run was suspended on the provider %s (%s), which is not configured now", s.Provider, s.Wire)
	}
	c := s.Calls[len(s.Results)]
	d := b.decide(ctx, s, c)
	if a.Approve && (d.digest != s.Pending.Digest || a.Digest != "" && a.Digest != d.digest) {
		s.Pending = d.pending(a.CallID, c, s.Narration)
		// What is stored now is shown, and can be approved, the next time.
		if _, err := b.o.Memory.Query(ctx, `MATCH (r:Run {id: $id}) SET r.state = $state`, map[string]any{"id": s.ID, "state": encoded(s)}); err != nil {
			return err
		}
		return refuse("changed", "what the call %q would do has changed since it was shown: look at it again", a.CallID)
	}
	if a.Remember != "" {
		if err := b.remember(ctx, s, d, a); err != nil {
			return err
		}
	}
	s.Pending = nil
	used := &s.Used[len(s.Used)-1]
	switch {
	case a.Approve:
		used.Status = "approved"
	case a.Result != nil:
		used.Status, used.Result, s.Said = "ok", *a.Result, *a.Result
	default:
		used.Status, used.Result, s.Said = "denied", denied, a.Words
		if a.Words != "" {
			used.Result += " They said: " + a.Words
		}
	}
	return nil
}
