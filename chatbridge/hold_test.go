package chatbridge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"engram"
	"engram/chatbridge"
)

const waiting = `{"scenarios": [{"marker": "GATE-WAIT", "steps": [{"mode": "silent"}]}]}`

// clocked gives a world another memory, in this process also with -remote, with a clock
// that add moves.
func (w *world) clocked() (add func(time.Duration)) {
	w.t.Helper()
	var moved atomic.Int64
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db, err := engram.OpenMemory(&engram.Options{Now: func() time.Time { return start.Add(time.Duration(moved.Load())) }})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { db.Close() })
	w.db = embedded{db}
	w.o.Memory = memory{w.db}
	return func(d time.Duration) { moved.Add(int64(d)) }
}

// TestOneProcessRunsAConversation holds that of two processes on one memory only one
// runs a conversation, and that a killed one keeps it for a while only.
func TestOneProcessRunsAConversation(t *testing.T) {
	w := newWorld(t, "openai", false, waiting)
	add := w.clocked()
	first, second := w.bridge(), w.bridge()
	run, err := first.Send(t.Context(), chatbridge.Message{Conversation: "c1", Text: "GATE-WAIT"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Send(t.Context(), chatbridge.Message{Conversation: "c1", Text: "x"}); code(err) != "busy" || !strings.Contains(err.Error(), "in another process") {
		t.Errorf("two processes: %v", err)
	}
	if err := second.Forget(t.Context(), "c1", ""); code(err) != "busy" {
		t.Errorf("forgetting what another process runs: %v", err)
	}
	if got := w.rows("MATCH (r:Run) RETURN r.status"); got != "[[running]]" {
		t.Errorf("the runs are %s", got)
	}
	run.Cancel()
	w.wait(run, nil)
	if out := w.send(second, chatbridge.Message{Conversation: "c1", Text: "x"}); out.Status != "done" {
		t.Errorf("afterwards: %+v", out.Failure)
	}
	w.rows("MATCH (c:Conversation {id: 'c1'}) SET c.holder = 'r-dead', c.held_until = timestamp() + 30000 CREATE (c)-[:HAS_RUN]->(:Run {id: 'r-dead', conversation: 'c1', status: 'running'})")
	if _, err := second.Send(t.Context(), chatbridge.Message{Conversation: "c1", Text: "x"}); code(err) != "busy" {
		t.Errorf("a killed process, just now: %v", err)
	}
	add(31 * time.Second)
	if out := w.send(second, chatbridge.Message{Conversation: "c1", Text: "x"}); out.Status != "done" {
		t.Errorf("a killed process, later: %+v", out.Failure)
	}
	if got := w.rows("MATCH (r:Run {id: 'r-dead'}) RETURN r.status"); got != "[[failed]]" {
		t.Errorf("its run is %s", got)
	}
	if got := w.rows("MATCH (c:Conversation) RETURN c.holder, c.held_until"); got != "[[<nil> <nil>]]" {
		t.Errorf("still held: %s", got)
	}
}

// TestManyProcessesOneRun has many processes begin the same conversation at once.
func TestManyProcessesOneRun(t *testing.T) {
	w := newWorld(t, "openai", false, waiting)
	var wg sync.WaitGroup
	var taken atomic.Int64
	for range 8 {
		b := w.bridge()
		wg.Go(func() {
			_, err := b.Send(t.Context(), chatbridge.Message{Conversation: "c1", Text: "GATE-WAIT"})
			if err == nil {
				taken.Add(1)
			} else if code(err) != "busy" {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	if got := w.rows("MATCH (r:Run) RETURN r.status"); taken.Load() != 1 || got != "[[running]]" {
		t.Errorf("%d processes run it, the runs are %s", taken.Load(), got)
	}
}

// TestAHoldIsRenewedAndLost holds that a run keeps its conversation as long as it goes on,
// and ends when it has lost it.
func TestAHoldIsRenewedAndLost(t *testing.T) {
	w := newWorld(t, "openai", false, waiting)
	b := w.bridge()
	b.SetHold(30 * time.Millisecond)
	run, err := b.Send(t.Context(), chatbridge.Message{Conversation: "c1", Text: "GATE-WAIT"})
	if err != nil {
		t.Fatal(err)
	}
	until := func() string { return w.rows("MATCH (c:Conversation) RETURN c.held_until") }
	for n, before := 0, until(); n < 3; {
		if now := until(); now != before {
			n, before = n+1, now
		}
		if out := run.Events(0); out[len(out)-1].Type == chatbridge.EventError {
			t.Fatalf("it ended: %+v", out[len(out)-1])
		}
	}
	w.rows("MATCH (c:Conversation) SET c.holder = 'r-other', c.held_until = timestamp() + 30000")
	if out := w.wait(run, nil); out.Failure == nil || out.Failure.Kind != "store" || !strings.Contains(out.Failure.Text, "another process has taken") {
		t.Errorf("%+v", out.Failure)
	}
	if got := w.rows("MATCH (c:Conversation) RETURN c.holder"); got != "[[r-other]]" {
		t.Errorf("the other's hold became %s", got)
	}
}

// TestWordsOfADenialThatRings holds that of words which ring a hard bell nothing is
// stored, also when they deny a call.
func TestWordsOfADenialThatRings(t *testing.T) {
	for _, how := range []string{"denial", "client"} {
		w := newWorld(t, "openai", false, escalating)
		b := w.bridge()
		out := w.send(b, chatbridge.Message{Text: "GATE-RUN"})
		words := "No. I can't go on, I feel hopeless and worthless, I can't take it anymore, I want to disappear. ZEBRA"
		a := chatbridge.Answer{Conversation: out.Conversation, Words: words}
		if how == "client" {
			a.Words, a.Result = "", &words
		}
		done := w.answer(b, a)
		if done.Status != "done" || !strings.Contains(done.Reply, "help") || strings.Contains(fmt.Sprintf("%+v", done), "ZEBRA") || w.gate.Stats().Requests != 1 {
			t.Errorf("%s: %+v", how, done)
		}
		if got := w.rows("MATCH (n) RETURN properties(n)"); strings.Contains(got, "ZEBRA") || !strings.Contains(got, "kind:hard") {
			t.Errorf("%s: stored are %s", how, got)
		}
		events, err := b.Events(t.Context(), out.Run, 0)
		if err != nil || strings.Contains(fmt.Sprint(events), "ZEBRA") || events[len(events)-1].Type != chatbridge.EventDone {
			t.Errorf("%s: events %+v, error %v", how, events, err)
		}
		want := map[string]string{"denial": "[[denied]]", "client": "[[ok]]"}[how]
		if got := w.rows("MATCH (t:ToolCall) RETURN t.status"); got != want {
			t.Errorf("%s: the call is %s", how, got)
		}
	}
}

// TestIdsRepeatedInOneReply holds that two calls of one id are two calls: each is asked
// about and answered, and the provider gets a result for each.
func TestIdsRepeatedInOneReply(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		var mu sync.Mutex
		var bodies []string
		calls := map[string]string{
			"openai":    `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"run_command","arguments":"{\"argv\": [\"touch\",\"a\"]}"}},{"id":"x","type":"function","odd":1.50,"function":{"name":"run_command","arguments":"{\"argv\": [\"touch\",\"b\"]}"}}]}}]}`,
			"anthropic": `{"type":"message","role":"assistant","stop_reason":"tool_use","usage":{},"content":[{"type":"text","text":"Two."},{"type":"tool_use","id":"x","name":"run_command","input":{"argv": ["touch","a"]}},{"type":"tool_use","id":"x","name":"run_command","odd":1.50,"input":{"argv": ["touch","b"]}}]}`,
		}
		end := map[string]string{
			"openai":    `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"end"}}]}`,
			"anthropic": `{"type":"message","role":"assistant","stop_reason":"end_turn","usage":{},"content":[{"type":"text","text":"end"}]}`,
		}
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			var body strings.Builder
			_ = r.Write(&body)
			mu.Lock()
			defer mu.Unlock()
			bodies = append(bodies, body.String())
			rw.Header().Set("Content-Type", "application/json")
			if len(bodies) == 1 {
				fmt.Fprint(rw, calls[wire])
				return
			}
			fmt.Fprint(rw, end[wire])
		}))
		defer server.Close()
		w := newWorld(t, wire, stream, waiting)
		w.o.Providers[0].BaseURL = server.URL
		b := w.bridge()
		out := w.send(b, chatbridge.Message{Text: "both"})
		ids := []string{}
		for out.Status == "pending" {
			ids = append(ids, out.Pending.CallID+" "+out.Pending.Shown)
			out = w.answer(b, chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Approve: len(ids) == 2})
		}
		if got := strings.Join(ids, ", "); got != `x run "touch" "a", x-2 run "touch" "b"` || out.Status != "done" || w.file("b") != "" || !strings.Contains(w.file("a"), "no such file") {
			t.Errorf("asked about %s; %+v", got, out)
		}
		last := bodies[len(bodies)-1]
		key := map[string]string{"openai": `"tool_call_id":`, "anthropic": `"tool_use_id":`}[wire]
		if strings.Count(last, key+`"x"`) != 1 || strings.Count(last, key+`"x-2"`) != 1 || !strings.Contains(last, `"id":"x-2"`) || strings.Count(last, `"id":"x"`) != 1 || !strings.Contains(last, `1.50`) {
			t.Errorf("sent %s", last)
		}
	})
}
