package chatbridge_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"engram/chatbridge"
)

// meanwhile calls fn after a statement that holds a text, before its caller goes on.
type meanwhile struct {
	chatbridge.Querier
	text string
	fn   func()
}

func (m meanwhile) Query(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	res, err := m.Querier.Query(ctx, text, params)
	if strings.Contains(text, m.text) {
		m.fn()
	}
	return res, err
}

// looked is a context that tells when somebody looks whether it has ended.
type looked struct {
	context.Context
	once sync.Once
	at   chan struct{}
}

func (l *looked) Done() <-chan struct{} {
	l.once.Do(func() { close(l.at) })
	return l.Context.Done()
}

// TestCancelBeforeTheRunHasBegun holds that who cancels while an answer is being taken, or a
// message, ends the run that comes of it.
func TestCancelBeforeTheRunHasBegun(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		for _, at := range []string{"SET r.status = 'running', r.used_call_id", "CREATE (c)-[:HAS_RUN]->(r:Run"} {
			w := newWorld(t, wire, stream, escalating)
			waiting := w.send(w.bridge(), chatbridge.Message{Text: "GATE-RUN"})
			type told struct {
				had bool
				err error
			}
			var b *chatbridge.Bridge
			answer, conversation := make(chan told, 1), waiting.Conversation
			w.o.Memory = meanwhile{w.o.Memory, at, func() {
				ctx := &looked{Context: t.Context(), at: make(chan struct{})}
				go func() {
					had, err := b.Cancel(ctx, conversation)
					answer <- told{had, err}
				}()
				<-ctx.at
			}}
			b = w.bridge()
			var out *chatbridge.Outcome
			if strings.Contains(at, "used_call_id") {
				out = w.answer(b, chatbridge.Answer{Conversation: conversation, Approve: true})
			} else {
				conversation = "other"
				out = w.send(b, chatbridge.Message{Conversation: "other", Text: "GATE-RUN"})
			}
			if got := <-answer; !got.had || got.err != nil {
				t.Errorf("%s: there was something to cancel: %v, %v", at, got.had, got.err)
			}
			if out.Status != "failed" || out.Failure == nil || out.Failure.Kind != "cancelled" {
				t.Errorf("%s: it ends as %s, %+v", at, out.Status, out.Failure)
			}
		}
	})
}
