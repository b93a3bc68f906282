package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
)

// told is the system prompt that the model was sent last.
func (w *world) told() string {
	w.t.Helper()
	entries := w.gate.Entries()
	if len(entries) == 0 {
		w.t.Fatal("no model was asked")
	}
	return entries[len(entries)-1].System
}

const nothingScripted = `{"scenarios": [{"marker": "GATE-NONE", "steps": [{"text": "x"}]}]}`

// TestContinuity holds that status and register are a conversation's own, are told to
// the model, and are there in another process.
func TestContinuity(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, nothingScripted)
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		w.o.Now = func() time.Time { return now }
		for i, c := range []struct {
			conversation, say string
			later             time.Duration
			status, register  string
		}{
			{"a", "Dear Sir, would you kindly tell me the time? Hey!", 0, "new", "formal"}, // two phrases against one
			{"b", "They say hello", 0, "new", "plain"},                                     // no word of it is hey
			{"a", "And the date?", 11*time.Hour + 59*time.Minute, "open", "formal"},
			{"a", "What now?", 12 * time.Hour, "resumed", "formal"},
			{"a", "lol", time.Minute, "open", "casual"},
			{"a", "Good night!", 0, "closing", "casual"},
			{"b", "Goodbyes are hard", 0, "resumed", "plain"},
			{"b", "Bye.", 0, "closing", "plain"},
			{"b", "One thing more", 0, "open", "plain"},
		} {
			now = now.Add(c.later)
			out := w.send(w.bridge(), chatbridge.Message{Conversation: c.conversation, Text: c.say}) // a process for each
			if out.Status != "done" {
				t.Fatalf("%+v", out.Failure)
			}
			for _, want := range []string{"\nThe conversation is " + c.status + ": ", " Its register is " + c.register + ": "} {
				if strings.Count(w.told(), want) != 1 {
					t.Errorf("%d, %q: %q is missing in %q", i+1, c.say, want, w.told())
				}
			}
			want := fmt.Sprintf("[[%s %s]]", c.status, c.register)
			if got := w.rows("MATCH (c:Conversation {id: '" + c.conversation + "'}) RETURN c.continuity, c.register"); got != want {
				t.Errorf("%d, %q: kept %s, want %s", i+1, c.say, got, want)
			}
		}
	})
}

// TestHardBellsLeaveNoContinuity holds that the screen comes first.
func TestHardBellsLeaveNoContinuity(t *testing.T) {
	w := newWorld(t, "openai", false, nothingScripted)
	w.send(w.bridge(), chatbridge.Message{Conversation: "c", Text: "Dear Sir, I want to end my life"})
	if got := w.rows("MATCH (c:Conversation {id: 'c'}) RETURN c.continuity, c.register"); got != "[[<nil> <nil>]]" || len(w.gate.Entries()) != 0 {
		t.Errorf("kept %s, %d requests", got, len(w.gate.Entries()))
	}
}

func TestContinuityIsData(t *testing.T) {
	w := newWorld(t, "anthropic", false, nothingScripted)
	const statuses, registers = `"statuses": [{"name": "s", "when": "always", "note": "n"}]`, `"registers": [{"name": "r", "note": "n"}]`
	for _, file := range []string{
		"", "{", `{"pause_hours": 0, ` + statuses + `, ` + registers + `}`, `{"pause_hours": 1, ` + statuses + `}`, `{"pause_hours": 1, ` + registers + `}`,
		`{"pause_hours": 1, "statuses": [{"name": "s", "when": "first", "note": "n"}], ` + registers + `}`,
		`{"pause_hours": 1, "statuses": [{"name": "s", "when": "never", "note": "n"}], ` + registers + `}`,
		`{"pause_hours": 1, ` + statuses + `, "registers": [{"name": "r", "note": "n", "phrases": ["x"]}]}`,
		`{"pause_hours": 1, ` + statuses + `, "registers": [{"name": "r", "note": "n"}, {"name": "q", "note": "n", "phrases": ["!"]}]}`,
	} {
		w.o.Continuity = []byte(file)
		if _, err := w.bridge().Send(t.Context(), chatbridge.Message{Text: "hello"}); code(err) != "safe_mode" {
			t.Errorf("%q: %v", file, err)
		}
	}
	w.o.Continuity = []byte(`{"pause_hours": 1, "statuses": [{"name": "here", "when": "always", "note": "Yes."}], "registers": [{"name": "grey", "note": "G."}, {"name": "blue", "note": "B.", "phrases": ["Sea!"]}]}`)
	if w.send(w.bridge(), chatbridge.Message{Text: "the SEA"}); !strings.Contains(w.told(), "The conversation is here: Yes. Its register is blue: B.") {
		t.Errorf("a file of the operator: %q", w.told())
	}
	w.o.Continuity = chatbridge.DefaultContinuity()
	if w.send(w.bridge(), chatbridge.Message{Text: "the SEA"}); !strings.Contains(w.told(), "The conversation is new: ") {
		t.Errorf("the file that is built in: %q", w.told())
	}
}
