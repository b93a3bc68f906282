package chatbridge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"engram/chatbridge"
)

const escalating = `{"scenarios": [{"marker": "GATE-RUN", "steps": [
	{"text": "I run it.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]},
	{"text": "Then I write.", "calls": [{"name": "write_file", "arguments": {"path": "after.txt", "content": "é \"x\" \\"}}]},
	{"text": "Result: {results}"}]}]}`

func code(err error) string {
	var r *chatbridge.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

// TestSuspendRestartApprove suspends a run in one process and answers it in another.
// Wrong, used and foreign call ids change nothing.
func TestSuspendRestartApprove(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, escalating)
		first := w.bridge()
		out := w.send(first, chatbridge.Message{Text: "GATE-RUN"})
		if out.Status != "pending" || out.Pending.Shown != `run "touch" "made"` || out.Pending.RiskTier != "escalate" || out.Pending.Narration != "I run it." || out.Pending.Directory != w.dir {
			t.Fatalf("%+v %+v", out, out.Pending)
		}
		foreign := w.send(first, chatbridge.Message{Text: "GATE-RUN"})
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := first.Send(t.Context(), chatbridge.Message{Text: "x"}); code(err) != "closed" {
			t.Errorf("after closing: %v", err)
		}
		b := w.bridge()
		stored, err := b.Events(t.Context(), out.Run, 0)
		if err != nil || stored[len(stored)-1].Type != chatbridge.EventToolPending || stored[0].Type != chatbridge.EventStarted {
			t.Errorf("stored events %+v, error %v", stored, err)
		}
		before := w.rows("MATCH (n) RETURN count(n)")
		for _, c := range []struct{ conversation, call, want string }{
			{out.Conversation, "call_wrong", "unknown_call"}, {"no-such-conversation", out.Pending.CallID, "unknown_call"}, {foreign.Conversation, out.Pending.CallID + "x", "unknown_call"},
		} {
			if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: c.conversation, CallID: c.call, Approve: true}); code(err) != c.want || !strings.Contains(err.Error(), c.call) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if _, err := b.Send(t.Context(), chatbridge.Message{Conversation: out.Conversation, Text: "hello?"}); code(err) != "pending" {
			t.Errorf("a message while a call waits: %v", err)
		}
		if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Approve: true, Digest: "another"}); code(err) != "changed" {
			t.Errorf("an approval of something else: %v", err)
		}
		if after := w.rows("MATCH (n) RETURN count(n)"); after != before || w.file("made") == "" {
			t.Errorf("%s nodes became %s", before, after)
		}
		done := w.answer(b, chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Digest: out.Pending.Digest, Approve: true})
		if done.Status != "done" || w.file("after.txt") != `é "x" \` || w.file("made") != "" || !strings.HasPrefix(done.Reply, "I run it.\n\nThen I write.\n\nResult: ") {
			t.Fatalf("%+v %+v, file %q", done, done.Failure, w.file("after.txt"))
		}
		if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Approve: true}); code(err) != "used_call" {
			t.Errorf("used twice: %v", err)
		}
		all, err := b.Events(t.Context(), out.Run, 0)
		if err != nil || all[len(all)-1].Type != chatbridge.EventDone || all[len(all)-1].Text != done.Reply {
			t.Fatalf("events %+v, error %v", all, err)
		}
		for i, e := range all {
			if e.Seq != i+1 {
				t.Errorf("event %d has the number %d", i+1, e.Seq)
			}
		}
		if tail, err := b.Events(t.Context(), out.Run, len(all)-2); err != nil || len(tail) != 2 {
			t.Errorf("replay after %d: %d events, error %v", len(all)-2, len(tail), err)
		}
		for _, e := range w.gate.Entries() {
			if e.Status != 200 || e.Wire != wire {
				t.Errorf("the gate: %+v", e)
			}
		}
		if got, err := b.Waiting(t.Context(), foreign.Conversation); err != nil || len(got) != 1 {
			t.Errorf("the other conversation's call: %+v, error %v", got, err)
		}
	})
}

func TestResumesOnItsWireOnly(t *testing.T) {
	w := newWorld(t, "anthropic", false, escalating)
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-RUN"})
	w.o.Providers[0].Wire = "openai"
	b := w.bridge()
	if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, Approve: true}); code(err) != "invalid" || !strings.Contains(err.Error(), "gate (anthropic)") {
		t.Errorf("error %v", err)
	}
	w.o.Providers[0].Wire = "anthropic"
	if done := w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Approve: true}); done.Status != "done" {
		t.Errorf("%+v", done.Failure)
	}
}

func TestDenyAndClientResult(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, escalating)
		b := w.bridge()
		out := w.send(b, chatbridge.Message{Text: "GATE-RUN"})
		done := w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Words: "not on a Friday"})
		if done.Status != "done" || !strings.Contains(w.file("made"), "no such file") || done.ToolsUsed[0].Status != "denied" {
			t.Errorf("%+v", done)
		}
		if got := w.gate.Entries()[1].Results[0].Content; got != "The person denied this call. They said: not on a Friday" {
			t.Errorf("the model was told %q", got)
		}
		if got := w.rows("MATCH (t:ToolCall {status: 'denied'}) RETURN t.name, t.arguments"); got != `[[run_command {"argv":["touch","made"]}]]` && got != `[[run_command {"argv": ["touch", "made"]}]]` {
			t.Errorf("the denied call left %s", got)
		}
		result := "ran elsewhere"
		out = w.send(b, chatbridge.Message{Text: "GATE-RUN"})
		if done = w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Result: &result}); !strings.Contains(done.Reply, result) {
			t.Errorf("%+v", done)
		}
	})
}

// TestS42OneApprovalWins has four processes answer one call at the same time.
func TestS42OneApprovalWins(t *testing.T) {
	w := newWorld(t, "openai", true, `{"scenarios": [{"marker": "GATE-RUN", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["sh", "-c", "echo x >> log"]}}]}, {"text": "done"}]}]}`)
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-RUN"})
	var wg sync.WaitGroup
	taken := make(chan *chatbridge.Run, 4)
	for _, b := range []*chatbridge.Bridge{w.bridge(), w.bridge(), w.bridge(), w.bridge()} {
		wg.Go(func() {
			run, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Approve: true})
			if err == nil {
				taken <- run
			} else if code(err) != "used_call" {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	close(taken)
	n := 0
	for run := range taken {
		n++
		if done, err := run.Wait(t.Context()); err != nil || done.Status != "done" {
			t.Errorf("%+v, error %v", done, err)
		}
	}
	if n != 1 || w.file("log") != "x\n" {
		t.Errorf("%d answers were taken, the log is %q", n, w.file("log"))
	}
}

// TestS42ApprovalCoversTheFile holds that a file which changes after it was shown is asked
// about again.
func TestS42ApprovalCoversTheFile(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-RUN", "steps": [{"calls": [{"name": "write_file", "arguments": {"path": "a.txt", "content": "mine"}}]}, {"text": "done"}]}]}`)
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Text: "GATE-RUN", AskAll: true})
	if out.Pending == nil || out.Pending.Shown != "write a.txt (new file)\n+ mine" {
		t.Fatalf("%+v", out.Pending)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("someone else's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, Approve: true}); code(err) != "changed" || w.file("a.txt") != "someone else's" {
		t.Errorf("error %v, file %q", err, w.file("a.txt"))
	}
	again, err := b.Waiting(t.Context(), out.Conversation)
	if err != nil || len(again) != 1 || !strings.HasPrefix(again[0].Shown, "overwrite a.txt (now sha256 ") {
		t.Fatalf("%+v, error %v", again, err)
	}
	if done := w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Approve: true, Digest: again[0].Digest}); done.Status != "done" || w.file("a.txt") != "mine" {
		t.Errorf("%+v", done)
	}
}

// TestS43Rules holds what an allowance covers: the exact action, or the beginning of a
// command that a person typed, in its conversation or everywhere.
func TestS43Rules(t *testing.T) {
	step := func(marker string, argv string) string {
		return `{"marker": "` + marker + `", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ` + argv + `}}]}, {"text": "done"}]}`
	}
	w := newWorld(t, "openai", false, `{"scenarios": [`+step("RUN-A", `["touch", "a"]`)+`,`+step("RUN-B", `["touch", "b"]`)+`,`+step("RUN-SH", `["sh", "-c", "true"]`)+`,
		{"marker": "RUN-ENV", "steps": [{"calls": [{"name": "write_file", "arguments": {"path": ".ENV", "content": "x"}}]}, {"text": "done"}]}]}`)
	b := w.bridge()
	ask := func(conversation, marker string) *chatbridge.Outcome {
		t.Helper()
		return w.send(b, chatbridge.Message{Conversation: conversation, Text: marker})
	}
	if out := ask("c1", "RUN-A"); out.Status != "pending" {
		t.Fatalf("%+v", out)
	}
	if done := w.answer(b, chatbridge.Answer{Conversation: "c1", Approve: true, Remember: "conversation"}); done.Status != "done" {
		t.Fatalf("%+v", done.Failure)
	}
	for _, c := range []struct{ conversation, marker, want string }{{"c1", "RUN-A", "done"}, {"c1", "RUN-B", "pending"}, {"c2", "RUN-A", "pending"}, {"c1", "RUN-SH", "pending"}, {"c3", "RUN-ENV", "pending"}} {
		if _, err := b.Cancel(t.Context(), c.conversation); err != nil {
			t.Fatal(err)
		}
		if out := ask(c.conversation, c.marker); out.Status != c.want {
			t.Errorf("%+v: %s", c, out.Status)
		}
	}
	for _, c := range []struct {
		a    chatbridge.Answer
		want string
	}{
		{chatbridge.Answer{Conversation: "c1", Approve: true, Remember: "always", Prefix: []string{"sh"}}, "cannot be allowed by how it begins"},
		{chatbridge.Answer{Conversation: "c2", Approve: true, Remember: "always", Prefix: []string{"rm"}}, "cannot be allowed by how it begins"},
		{chatbridge.Answer{Conversation: "c3", Approve: true, Remember: "always"}, "asked for each time"},
		{chatbridge.Answer{Conversation: "c2", Remember: "always"}, "with an approval"},
		{chatbridge.Answer{Conversation: "c2", Approve: true, Remember: "sometimes"}, "conversation or always"},
	} {
		if _, err := b.Answer(t.Context(), c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.a, err)
		}
	}
	if done := w.answer(b, chatbridge.Answer{Conversation: "c2", Approve: true, Remember: "always", Prefix: []string{"touch"}}); done.Status != "done" {
		t.Fatalf("%+v", done.Failure)
	}
	if out := ask("c9", "RUN-B"); out.Status != "done" {
		t.Errorf("with the prefix allowed everywhere: %+v", out)
	}
}

// TestS42CancelWhilePending holds that after a cancel nothing is approved any more.
func TestS42CancelWhilePending(t *testing.T) {
	w := newWorld(t, "openai", false, escalating)
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Text: "GATE-RUN"})
	before, err := b.Events(t.Context(), out.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	if had, err := b.Cancel(t.Context(), out.Conversation); !had || err != nil {
		t.Errorf("%v, error %v", had, err)
	}
	after, err := b.Events(t.Context(), out.Run, 0)
	if n := len(before); err != nil || len(after) != n+1 || after[n].Seq != n+1 || after[n].Type != chatbridge.EventError || after[n].Failure.Kind != "cancelled" {
		t.Errorf("what ends the run: %+v, %v", after, err)
	}
	if had, err := b.Cancel(t.Context(), out.Conversation); had || err != nil {
		t.Errorf("the second time: %v, error %v", had, err)
	}
	if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Approve: true}); code(err) != "used_call" || !strings.Contains(w.file("made"), "no such file") {
		t.Errorf("error %v", err)
	}
}

// broken is a memory whose statements fail that hold a text.
type broken struct {
	chatbridge.Querier
	holds string
}

var errBroken = errors.New("the disk is full")

func (m broken) Query(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	if strings.Contains(text, m.holds) {
		return chatbridge.Result{}, errBroken
	}
	return m.Querier.Query(ctx, text, params)
}

// TestStoreFails holds that a suspension which cannot be stored is an error, and that an
// answer which cannot be stored is delivered and marked.
func TestStoreFails(t *testing.T) {
	w := newWorld(t, "openai", false, escalating)
	whole := w.o.Memory
	w.o.Memory = broken{whole, "SET r.status = 'pending'"}
	if out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-RUN"}); out.Status != "failed" || out.Pending != nil || out.Failure.Kind != "store" || !strings.Contains(out.Failure.Text, "the disk is full") {
		t.Errorf("%+v", out)
	}
	w.o.Memory = broken{whole, ":Turn {id: $user"}
	if out := w.send(w.bridge(), chatbridge.Message{Text: "no marker"}); out.Status != "done" || out.Reply != "ok" || !out.Unsaved {
		t.Errorf("%+v", out)
	}
	w.o.Memory = broken{whole, "c.rounds = c.rounds + 1"}
	n := w.gate.Stats().Requests
	if out := w.send(w.bridge(), chatbridge.Message{Text: "no marker"}); out.Status != "failed" || w.gate.Stats().Requests != n {
		t.Errorf("%+v: the model was asked although the ledger cannot be written", out)
	}
}
