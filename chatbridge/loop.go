package chatbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/wire"
)

const (
	cutResult  = 6000 // bytes of a result that the model sees
	cutSnippet = 350  // of something recalled
)

// stopped is a run that ends without an answer.
type stopped struct{ f Failure }

func (e *stopped) Error() string { return e.f.Text }

func fail(kind, format string, args ...any) error {
	return &stopped{Failure{Kind: kind, Text: fmt.Sprintf(format, args...)}}
}

var errSuspended = errors.New("suspended")

// leg runs from a message or an answer to the end or the next suspension. It emits
// exactly one terminal event, unless the run is suspended.
func (b *Bridge) leg(ctx context.Context, run *Run, s *state) (out *Outcome) {
	defer s.disconnect()
	rang := false // a hard bell, of which only its event is kept
	reply, err := func() (reply string, err error) {
		defer func() {
			if p := recover(); p != nil {
				b.o.Log.Error("a run panicked", "run", s.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				err = fail("internal", "the run ended by a fault of the program")
			}
		}()
		if s.stop != nil {
			return "", s.stop
		}
		message, err := b.screen(ctx, s, s.Said)
		if err != nil {
			return "", err
		}
		if rang = message != ""; rang {
			return message, b.unsaid(ctx, run, s)
		}
		if err := b.layers(ctx, s); err != nil {
			return "", err
		}
		if len(b.wires) == 0 {
			return b.fromMemory(ctx, run, s)
		}
		if err := b.askAboutServer(ctx, s); err != nil {
			return "", err
		}
		if err := b.connect(ctx, run, s); err != nil {
			return "", err
		}
		if reply, err = b.loop(ctx, run, s); err == nil {
			b.settle(run, s, reply)
		}
		return reply, err
	}()
	out = &Outcome{
		Conversation: s.Conversation, Run: s.ID, Model: s.Model, Provider: s.Provider, ToolsUsed: append([]Used{}, s.Used...), Sources: append([]string{}, s.Sources...),
		Usage: s.Usage, Agentic: len(b.wires) > 0 && !s.NoTools,
	}
	if s.Steering != nil {
		out.Rulings, out.Candidate = s.Steering.Rulings, s.Steering.Candidate
	}
	if errors.Is(err, errSuspended) {
		if err = b.suspend(ctx, run, s); err == nil {
			out.Status, out.Pending = "pending", s.Pending
			if shown, err := b.shown(ctx, s.Pending); err == nil {
				out.Pending = shown
			}
			return out
		}
	}
	last, words := Event{Type: EventDone, Text: reply}, ""
	if err == nil {
		out.Status, out.Reply = "done", reply
		if rang {
			s.Prompt = ""
			b.unsay(ctx, s)
		} else if err := b.record(ctx, s, reply); err != nil {
			b.o.Log.Error("an answer was not stored", "run", s.ID)
			out.Unsaved = true
		}
		run.emit(Event{Type: EventReceipt, Text: receipt(s)})
	} else {
		out.Status, out.Failure = "failed", failure(ctx, err)
		words = out.Failure.Kind + ": " + out.Failure.Text
		last = Event{Type: EventError, Text: out.Failure.Text, Failure: out.Failure}
		var w *wire.Error
		if errors.As(err, &w) && w.Raw != "" && (s.Artefact == "" || w.Kind != wire.Status) {
			s.Artefact = w.Raw
		}
	}
	run.emit(Event{Type: EventUsage, Usage: &s.Usage})
	after, cancel := afterwards(ctx)
	defer cancel()
	if _, err := b.one(after, "the run", eqlEnd, map[string]any{
		"id": s.ID, "status": out.Status, "failure": words, "events": run.with(last), "artefact": s.Artefact, "forget": rang,
	}); err != nil {
		out.Unsaved = true
	} else {
		run.held = false
	}
	last.Outcome = out
	run.emit(last)
	return out
}

// failure tells what a run ended with in words of the user.
func failure(ctx context.Context, err error) *Failure {
	var st *stopped
	var w *wire.Error
	switch {
	case errors.Is(context.Cause(ctx), errTaken):
		return &Failure{Kind: "store", Text: "the answer was ended: " + errTaken.Error()}
	case errors.Is(context.Cause(ctx), errShutdown):
		return &Failure{Kind: "shutdown", Text: "the program ended before the answer was complete"}
	case ctx.Err() != nil:
		return &Failure{Kind: "cancelled", Text: "the answer was cancelled"}
	case errors.As(err, &st):
		return &st.f
	case errors.As(err, &w):
		return &Failure{Kind: "provider", Text: err.Error()}
	}
	return &Failure{Kind: "store", Text: err.Error()}
}

// loop goes model → tools → model.
func (b *Bridge) loop(ctx context.Context, run *Run, s *state) (string, error) {
	if s.Steering != nil && s.Steering.Approved && s.Steering.Kind == ReviewProposal {
		return b.validate(s, s.Steering.Text, "")
	}
	if err := b.aside(ctx, s); err != nil {
		return "", err
	}
	s.told = len(s.aside)
	s.aside += b.identity(s)
	for {
		if err := b.perform(ctx, run, s); err != nil {
			return "", err
		}
		reply, err := b.round(ctx, run, s)
		if err != nil {
			return "", err
		}
		s.Narration = ""
		texts := joined(reply)
		if texts != "" {
			s.Texts, s.Narration = append(s.Texts, texts), b.narration(s, texts)
		}
		for _, u := range reply.Sources {
			s.Sources = addOnce(s.Sources, u)
		}
		calls := reply.Calls()
		if kept := unusable(reply, calls); kept != "" {
			s.Artefact = kept
		}
		switch reply.Stop {
		case wire.StopCalls:
			s.Messages = append(s.Messages, reply.Message)
			s.Calls, s.Results, s.Recorded = calls, nil, 0
		case wire.StopPause:
			s.Messages = append(s.Messages, reply.Message)
		case wire.StopEnd:
			if s.planning() {
				if err := b.propose(ctx, run, s, reply); err != nil || s.instead != "" {
					return s.instead, err
				}
				continue
			}
			return b.final(s, "")
		case wire.StopLength:
			if s.planning() {
				return "", fail("reason", "what is proposed was cut by the length limit; nothing was approved")
			}
			return b.final(s, cutWords(calls))
		case wire.StopRefused:
			return "", fail("reason", "the provider %s declined to answer (%s)", s.Provider, box.Visible(reply.Reason))
		default:
			b.o.Log.Warn("a reply ended for an unknown reason", "provider", s.Provider, "reason", reply.Reason)
			return "", fail("reason", "the reply of the provider %s ended for a reason that is not known: %s", s.Provider, box.Visible(box.Cut(reply.Reason, 100)))
		}
	}
}

// unusable is what of a reply comes to nothing, verbatim, 64 KiB at most: arguments that
// cannot be parsed, a call that was cut off, a reply that ended for no known reason.
func unusable(r *wire.Reply, calls []wire.Call) string {
	var parts []string
	for _, c := range calls {
		if c.Problem != "" {
			parts = append(parts, c.Arguments)
		}
	}
	switch {
	case len(parts) > 0:
		return wire.Head(strings.Join(parts, "\n"), 64<<10)
	case r.Stop == wire.StopUnknown, r.Stop == wire.StopRefused, r.Stop == wire.StopLength && len(calls) > 0:
		return wire.Head(string(r.Message), 64<<10)
	}
	return ""
}

func cutWords(calls []wire.Call) string {
	words := "[The answer was cut by the length limit."
	for _, c := range calls {
		words += fmt.Sprintf(" The call of %s did not run.", box.Visible(c.Name))
	}
	return words + "]"
}

func addOnce(list []string, s string) []string {
	for _, l := range list {
		if l == s {
			return list
		}
	}
	return append(list, s)
}

func joined(r *wire.Reply) string {
	var j wire.Joiner
	for _, b := range r.Blocks {
		if b.Other {
			j.Apart()
		}
		j.Text(b.Text)
	}
	return j.String()
}

// final is the text of a run: that of its rounds, validated.
func (b *Bridge) final(s *state, more string) (string, error) {
	var j wire.Joiner
	for _, t := range s.Texts {
		j.Text(t)
		j.Apart()
	}
	return b.validate(s, j.String(), more)
}

// round asks the model once, within the ceilings, and bills it.
func (b *Bridge) round(ctx context.Context, run *Run, s *state) (*wire.Reply, error) {
	rounds, tokens, err := b.ledger(ctx, s.Conversation)
	if err != nil {
		return nil, err
	}
	if s.Messages == nil {
		if err := b.prepare(ctx, s); err != nil {
			return nil, err
		}
		s.Messages = b.messages(&b.wires[0], s)
	}
	if err := b.ceilings(s, rounds, tokens); err != nil {
		return nil, err
	}
	first := s.Usage.Rounds == 0
	for i := range b.wires {
		p := &b.wires[i]
		if !first {
			if p = b.provider(s); p == nil {
				return nil, fail("provider", "the provider %s is not configured any more", s.Provider)
			}
		} else {
			s.Provider, s.Wire, s.Model = p.Provider.Name, p.Provider.Wire, p.Model
			s.Messages = b.messages(p, s)
		}
		began := false
		hold := &holder{emit: func(t string) {
			began = true
			if !s.quiet && !s.Bell && (s.Steering == nil || s.Steering.Kind == ReviewPlan) {
				run.emit(Event{Type: EventDelta, Text: t})
			}
		}}
		reply, err := b.ask(ctx, run, s, p, hold)
		if first && i+1 < len(b.wires) && unreachable(err) && !began {
			b.o.Log.Warn("a provider cannot be reached", "provider", p.Provider.Name)
			continue
		}
		if err != nil {
			return nil, err
		}
		hold.flush()
		s.Window = nil // it is in the messages
		return reply, nil
	}
	return nil, fail("provider", "no provider could be reached")
}

// unreachable tells that no connection was made, so that another provider may be tried.
func unreachable(err error) bool {
	var w *wire.Error
	return errors.As(err, &w) && w.Kind == wire.Unreachable
}

func (b *Bridge) provider(s *state) *provider {
	for i := range b.wires {
		if p := &b.wires[i]; p.Provider.Name == s.Provider && p.Provider.Wire == s.Wire {
			return p
		}
	}
	return nil
}

func (b *Bridge) ask(ctx context.Context, run *Run, s *state, p *provider, hold *holder) (*wire.Reply, error) {
	working := Event{Type: EventWorking, Text: p.Provider.Name + " " + s.Model}
	names := map[string]any{"id": s.ID, "conversation": s.Conversation, "wire": s.Wire, "provider": s.Provider, "model": s.Model, "events": run.with(working)}
	if _, err := b.one(ctx, "the ledger", eqlReserve, names); err != nil {
		return nil, err
	}
	s.Usage.Rounds++
	run.emit(working)
	r := &wire.Request{
		Model: s.Model, System: s.System + s.aside, Messages: s.Messages, MaxTokens: min(b.o.Limits.Reply, b.o.Limits.Tokens-s.Usage.Input-s.Usage.Output),
		Stream: !b.o.NoStream, WebSearch: b.o.WebSearch && !s.NoTools,
	}
	if !s.NoTools {
		r.Tools = slices.DeleteFunc(append(b.offered(), s.offeredRemote()...), func(t wire.Tool) bool { return slices.Contains(s.Without, t.Name) })
	}
	reply, err := p.Ask(ctx, r, hold.add)
	if err != nil {
		return nil, err
	}
	if reply.Input+reply.Output == 0 {
		reply.Input, reply.Output = estimate(s), len(joined(reply))/4 // it does not bill
	}
	s.Usage.Input += reply.Input
	s.Usage.Output += reply.Output
	s.Usage.BySource.add(sources(s, r), reply.Input)
	after, cancel := afterwards(ctx)
	defer cancel()
	by := &s.Usage.BySource
	_, err = b.one(after, "the ledger", eqlBill, map[string]any{
		"id": s.ID, "conversation": s.Conversation, "tokens": reply.Input + reply.Output, "input": int64(s.Usage.Input), "output": int64(s.Usage.Output),
		"system": int64(by.System), "memory": int64(by.Memory), "files": int64(by.Files), "tools": int64(by.Tools), "history": int64(by.History),
	})
	return reply, err
}

func estimate(s *state) int {
	n := len(s.System) + len(s.aside)
	for _, m := range s.Messages {
		n += len(m)
	}
	return n / 4
}

// ceilings refuses a round that what is left cannot pay.
func (b *Bridge) ceilings(s *state, rounds, tokens int) error {
	spent, l := s.Usage.Input+s.Usage.Output, b.o.Limits
	next := estimate(s) + 1
	for _, c := range []struct {
		kind            string
		limit, observed int
	}{
		{"rounds", l.Rounds, s.Usage.Rounds + 1},
		{"tokens", l.Tokens, spent + next},
		{"conversation_rounds", l.ConversationRounds, rounds + 1},
		{"conversation_tokens", l.ConversationTokens, tokens + next},
	} {
		if c.observed > c.limit {
			return &stopped{Failure{
				Kind: "ceiling", Text: fmt.Sprintf("the limit of %d %s is met: this would be %d", c.limit, strings.ReplaceAll(c.kind, "_", " "), c.observed),
				Ceiling: &Ceiling{c.kind, c.limit, c.observed},
			}}
		}
	}
	return nil
}

// suspend stores a run that waits for an answer. Only what is stored is announced.
func (b *Bridge) suspend(ctx context.Context, run *Run, s *state) error {
	e := Event{Type: EventToolPending, Pending: s.Pending}
	after, cancel := afterwards(ctx)
	defer cancel()
	input, review := "", any(nil)
	switch {
	case s.Pending.Review != nil:
		review = s.Pending.Review.Kind
	case s.Pending.ToolName == toolStartServer:
		input = s.Pending.ToolInput
	default:
		input = s.Calls[len(s.Results)].Arguments
	}
	_, err := b.one(after, "the suspended run", eqlSuspend, map[string]any{
		"review": review, "id": s.ID, "state": encoded(s), "events": run.with(e), "call": s.Pending.CallID, "tool": s.Pending.ToolName,
		"input": input, "tier": s.Pending.RiskTier, "narration": s.Narration, "now": b.o.Now(),
	})
	if err == nil {
		run.held = false
		run.emit(e)
	}
	return err
}

// messages are the window of a conversation and the prompt, for a provider.
func (b *Bridge) messages(p *provider, s *state) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(s.Window)+1)
	for _, t := range s.Window {
		if t.Role == "user" {
			out = append(out, p.User(t.Text))
		} else {
			out = append(out, p.Assistant(t.Text))
		}
	}
	return append(out, p.User(s.Prompt))
}
