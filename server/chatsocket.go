package server

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"

	"engram/chatbridge"
	"engram/server/internal/strict"
	"engram/server/token"
)

// socketChat is a chat message's request: as in POST messages, with the conversation
// beside; without one it begins one.
type socketChat struct {
	Conversation string `json:"conversation_id"`
	Text         string `json:"text"`
	AskAll       bool   `json:"ask_all"`
	NoTools      bool   `json:"no_tools"`

	Plan     bool              `json:"plan"`
	Proposal []chatbridge.Rule `json:"proposal"`
	Mission  string            `json:"mission"`
	Imprint  string            `json:"imprint"`
}

func (k *socket) chat(ctx context.Context, m envelope) error {
	var q socketChat
	if err := strict.Decode(m.Request, &q); err != nil {
		return err
	}
	run, err := k.s.say(ctx, k.who, k.namespace, q.Conversation, &messageRequest{
		Text: q.Text, AskAll: q.AskAll, NoTools: q.NoTools, Plan: q.Plan, Proposal: q.Proposal, Mission: q.Mission, Imprint: q.Imprint,
	})
	if err != nil {
		return err
	}
	return k.follow(ctx, m.ID, run)
}

// socketApproval is an approve message's request: as in POST approvals, with the
// conversation beside.
type socketApproval struct {
	Conversation string   `json:"conversation_id"`
	CallID       string   `json:"call_id"`
	Decision     string   `json:"decision"`
	Words        string   `json:"words"`
	Result       string   `json:"result"`
	Digest       string   `json:"digest"`
	Remember     string   `json:"remember"`
	Prefix       []string `json:"prefix"`
}

func (k *socket) approve(ctx context.Context, m envelope) error {
	var q socketApproval
	if err := strict.Decode(m.Request, &q); err != nil {
		return err
	}
	run, err := k.s.approve(ctx, k.who, k.namespace, q.Conversation, &approvalRequest{
		CallID: q.CallID, Decision: q.Decision, Words: q.Words, Result: q.Result, Digest: q.Digest, Remember: q.Remember, Prefix: q.Prefix,
	})
	if err != nil {
		return err
	}
	return k.follow(ctx, m.ID, run)
}

// follow tells the events of a leg and how it ended. From now on, canceling the message
// cancels the run, whose end is told.
func (k *socket) follow(ctx context.Context, id string, run *chatbridge.Run) error {
	k.mu.Lock()
	k.running[id] = run.Cancel
	k.mu.Unlock()
	if _, err := k.tellEvents(ctx, id, run, run.First()); err != nil {
		return err
	}
	out, err := run.Wait(ctx)
	if err != nil {
		return err
	}
	if err := failed(out); err != nil {
		return err
	}
	return k.tell(struct {
		ID      string           `json:"id"`
		Type    string           `json:"type"`
		Outcome *messageResponse `json:"outcome"`
	}{id, "outcome", responseOf(out)})
}

// tellEvents tells the events of a leg behind a number, until it ends, and returns the
// number of the last one.
func (k *socket) tellEvents(ctx context.Context, id string, run *chatbridge.Run, after int) (int, error) {
	for {
		events, err := run.Next(ctx, after)
		if errors.Is(err, io.EOF) {
			return after, nil
		}
		if err != nil {
			return after, err
		}
		for _, e := range events {
			if err := k.tellEvent(id, run.Conversation, run.ID, e); err != nil {
				return after, err
			}
			after = e.Seq
		}
	}
}

func (k *socket) tellEvent(id, conversation, run string, e chatbridge.Event) error {
	return k.tell(struct {
		ID           string           `json:"id"`
		Type         string           `json:"type"`
		Conversation string           `json:"conversation_id"`
		Run          string           `json:"run_id"`
		Event        chatbridge.Event `json:"event"`
	}{id, "event", conversation, run, e})
}

// subscribeRuns tells the events of a conversation's runs: those of the newest one, or
// of the one that is named, behind a number; then those of each leg that begins.
func (k *socket) subscribeRuns(ctx context.Context, id string, q *subscribeRequest) error {
	if !k.who.May(token.Chat) {
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope chat")
	}
	after := 0
	if q.After != nil {
		after = int(min(*q.After, math.MaxInt32))
	}
	b, err := k.s.conversation(ctx, k.who, k.namespace, q.Conversation)
	if err != nil {
		return err
	}
	begun, stop := b.Watch(q.Conversation)
	defer stop()
	r, err := replayOf(ctx, b, q.Conversation, q.Run, after)
	if err != nil {
		return err
	}
	f := follower{k: k, id: id, after: after, run: q.Run, live: r.live}
	if r.stored != nil {
		f.run = r.stored.ID
	} else if r.live != nil {
		f.run = r.live.ID
	}
	if err := k.tell(struct {
		ID           string `json:"id"`
		Type         string `json:"type"`
		Conversation string `json:"conversation_id"`
		Run          string `json:"run_id,omitempty"`
	}{id, "subscribed", q.Conversation, f.run}); err != nil {
		return err
	}
	if r.stored != nil {
		for _, e := range r.stored.Events {
			if err := k.tellEvent(id, q.Conversation, f.run, e); err != nil {
				return err
			}
			f.after = e.Seq
		}
	}
	return f.follow(ctx, begun)
}

// follower follows the legs of a conversation.
type follower struct {
	k     *socket
	id    string
	run   string // that was told of last
	after int    // and up to which event
	live  *chatbridge.Run
}

func (f *follower) follow(ctx context.Context, begun <-chan *chatbridge.Run) (err error) {
	told := f.live
	for {
		if f.live != nil {
			if f.live.ID != f.run {
				f.run, f.after = f.live.ID, 0
			}
			if f.after, err = f.k.tellEvents(ctx, f.id, f.live, f.after); err != nil {
				return err
			}
			told = f.live
		}
		select {
		case next, ok := <-begun:
			if !ok {
				return newProblem(http.StatusTooManyRequests, "TooSlow", "more runs began than were taken: subscribe again behind the last event")
			}
			if f.live = next; next == told { // it began while it was looked for
				f.live = nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stopRun cancels the run of a conversation, or the call that waits in it.
func (k *socket) stopRun(m envelope, q *cancelRequest) error {
	if q.Target != "" {
		return invalid("target", "give target or conversation_id, not both")
	}
	if !k.who.May(token.Chat) {
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope chat")
	}
	ctx, cancel := context.WithTimeoutCause(k.ctx, k.s.config.Timeout, errDeadline)
	defer cancel()
	b, err := k.s.conversation(ctx, k.who, k.namespace, q.Conversation)
	if err != nil {
		return err
	}
	had, err := b.Cancel(ctx, q.Conversation)
	if err != nil {
		return err
	}
	return k.stopped(m.ID, had)
}
