package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"engram/chatbridge"
)

// deltas are the texts that a run streamed, in sum.
func deltas(t *testing.T, events []chatbridge.Event) string {
	t.Helper()
	var out strings.Builder
	for _, e := range events {
		if e.Type == chatbridge.EventDelta {
			out.WriteString(e.Text)
		}
	}
	return out.String()
}

const harmful = `{"scenarios": [
	{"marker": "GATE-HARM", "steps": [{"text": "Well: **just kill\u200b yourself**, nobody cares."}]},
	{"marker": "GATE-MEANS", "steps": [{"text": "A lethal dose is what kills."}]},
	{"marker": "GATE-NOTHING", "steps": [{"text": "[receipt: I listened]"}]},
	{"marker": "GATE-KIND", "steps": [{"text": "I am here, and I listen."}]},
	{"marker": "GATE-CALL", "steps": [{"text": "Nobody would miss you.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "Done."}]}]}`

// TestValidate holds that the last gate has the last word: what the person gets, what is
// recorded and what is replayed is the validated text.
func TestValidate(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, harmful)
		b := w.bridge()
		for _, c := range []struct {
			say, starts string
			kept        bool
		}{
			{"GATE-HARM", "I will not answer that", false},
			{"GATE-MEANS", "A lethal dose is what kills.", true}, // nobody is in distress
			{"I hurt myself. GATE-MEANS", "I would rather not go into that now", false},
			{"I hurt myself. GATE-NOTHING", "I am here, and I take what you say seriously", false},
			{"I hurt myself. GATE-KIND", "I am here, and I listen.", true},
		} {
			run, err := b.Send(t.Context(), chatbridge.Message{Text: c.say})
			out := w.wait(run, err)
			if out.Status != "done" || !strings.HasPrefix(out.Reply, c.starts) {
				t.Errorf("%s: %+v %+v", c.say, out, out.Failure)
			}
			stored, err := b.Events(t.Context(), out.Run, 0)
			if err != nil {
				t.Fatal(err)
			}
			for name, events := range map[string][]chatbridge.Event{"run": run.Events(0), "store": stored} {
				if got := deltas(t, events); c.kept && stream && got != out.Reply || !c.kept && got != "" && got != out.Reply {
					t.Errorf("%s: deltas of the %s: %q", c.say, name, got)
				}
				if last := events[len(events)-1]; last.Type != chatbridge.EventDone || last.Text != out.Reply {
					t.Errorf("%s: the last event of the %s is %+v", c.say, name, last)
				}
			}
			if got := w.rows("MATCH (c:Conversation {id: '" + out.Conversation + "'})-[:CONTAINS]->(t:Turn {role: 'assistant'}) RETURN t.text"); got != "[["+out.Reply+"]]" {
				t.Errorf("%s: recorded %s", c.say, got)
			}
		}
		if got := w.rows("MATCH (n) UNWIND [n.text, n.events, n.artefact, n.narration, n.state, n.title] AS kept WITH kept WHERE kept CONTAINS 'yourself' RETURN kept"); got != "[]" {
			t.Errorf("the raw text was kept: %s", got)
		}
	})
}

// TestDeltasWaitWhileABellRings holds that, while a bell rings, nobody sees a text before
// it is validated, and that otherwise deltas come at once.
func TestDeltasWaitWhileABellRings(t *testing.T) {
	for _, wire := range []string{"anthropic", "openai"} {
		w := newWorld(t, wire, true, `{"scenarios": [{"marker": "GATE-TWO", "steps": [{"text": "First.", "calls": [{"name": "list_dir", "arguments": {"path": "."}}]}, {"text": "Second."}]}]}`)
		b := w.bridge()
		order := func(say string) string {
			t.Helper()
			run, err := b.Send(t.Context(), chatbridge.Message{Text: say})
			w.wait(run, err)
			var types []string
			for _, e := range run.Events(0) {
				if e.Type == chatbridge.EventDelta || e.Type == chatbridge.EventToolResult || e.Type == chatbridge.EventReceipt {
					if n := len(types); n == 0 || types[n-1] != e.Type {
						types = append(types, e.Type)
					}
				}
			}
			return fmt.Sprint(types)
		}
		if got := order("GATE-TWO"); got != "[delta tool_result delta receipt]" {
			t.Errorf("%s calm: %s", wire, got)
		}
		if got := order("I hurt myself GATE-TWO"); got != "[tool_result delta receipt]" {
			t.Errorf("%s while a bell rings: %s", wire, got)
		}
	}
}

// TestNarrationIsValidated holds that what is said before a call passes the same gate,
// also when the run goes on in another process.
func TestNarrationIsValidated(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, harmful)
		out := w.send(w.bridge(), chatbridge.Message{Text: "I hurt myself GATE-CALL"})
		if out.Status != "pending" || out.Pending.Narration != "" {
			t.Fatalf("%+v", out)
		}
		run, err := w.bridge().Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation})
		out = w.wait(run, err)
		if !strings.HasPrefix(out.Reply, "I will not answer that") || deltas(t, run.Events(0)) != out.Reply {
			t.Errorf("%+v, deltas %q", out, deltas(t, run.Events(0)))
		}
	})
}

func TestRulesForRepliesAreData(t *testing.T) {
	w := newWorld(t, "openai", true, harmful)
	for _, file := range []string{"", "{", `{"rules": []}`, `{"rules": [{"name": "n", "when": "never", "any": ["x"], "reply": "r"}]}`, `{"rules": [{"name": "n", "when": "bell", "any": ["*"], "reply": "r"}]}`, `{"rules": [{"name": "n", "when": "bell", "reply": "r"}]}`} {
		w.o.Validation = []byte(file)
		if _, err := w.bridge().Send(t.Context(), chatbridge.Message{Text: "GATE-KIND"}); code(err) != "safe_mode" {
			t.Errorf("%q: %v", file, err)
		}
	}
	w.o.Validation = []byte(`{"rules": [{"name": "n", "when": "always", "any": ["I  LISTEN"], "reply": "Listening."}]}`)
	if out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-KIND"}); out.Reply != "Listening." {
		t.Errorf("a file of the operator: %+v", out)
	}
	w.o.Validation = chatbridge.DefaultValidation()
	if out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-KIND"}); out.Reply != "I am here, and I listen." {
		t.Errorf("the file that is built in: %+v", out)
	}
}
