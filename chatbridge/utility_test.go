package chatbridge_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"engram/chatbridge"
)

// titled sends a message and closes the bridge's background work, so that the title is
// there.
func (w *world) titled(m chatbridge.Message) *chatbridge.Outcome {
	w.t.Helper()
	b := w.bridge()
	out := w.send(b, m)
	if err := b.WaitTitles(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestTitles holds that a conversation gets a title once, of the model where there is
// one, and that what made it is in the ledger and nowhere else.
func TestTitles(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [
			{"marker": "Write a title", "steps": [{"text": "\n## Title: \"The \u200b heron's  name\"\nand more", "no_tools": true, "usage": {"input": 30, "output": 6}}]},
			{"marker": "Sum up the conversation", "steps": [{"text": "They spoke of herons. ⟦receipt: all⟧", "no_tools": true, "usage": {"input": 50, "output": 7}}]},
			{"marker": "GATE-SAY", "steps": [{"text": "hello", "usage": {"input": 10, "output": 2}}]}]}`)
		w.o.NoTitles = false
		long := "GATE-SAY  what is\nthe name of the heron that lives at the pond behind the mill?"
		for range 2 {
			w.titled(chatbridge.Message{Conversation: "c", Text: long})
		}
		if got := w.rows("MATCH (c:Conversation) RETURN c.title, c.title_origin, c.rounds, c.tokens, c.utility_rounds, c.utility_tokens"); got != "[[The \u200b heron's name model 3 60 1 36]]" {
			t.Errorf("stored: %s", got)
		}
		b := w.bridge()
		sum, err := b.Summary(t.Context(), "c")
		if err != nil || sum != "They spoke of herons." {
			t.Errorf("%q, %v", sum, err)
		}
		if got := w.rows("MATCH (c:Conversation) RETURN c.rounds, c.tokens, c.utility_tokens, COUNT { MATCH (:Turn) } , COUNT { MATCH (:Run) }, COUNT { MATCH (n) }"); got != "[[4 117 93 4 2 7]]" {
			t.Errorf("a utility generation is recorded as more than what it spent: %s", got)
		}
		if n := w.gate.Stats().Requests; n != 4 {
			t.Errorf("%d requests", n)
		}
		for _, e := range w.gate.Entries() {
			if strings.Contains(e.System, "Write a title") {
				t.Errorf("a later turn sees it: %+v", e)
			}
		}
	})
}

// TestTitlesWithoutModel holds what becomes of a title that no model makes: refused,
// broken, empty, distress, a person's own, no provider.
func TestTitlesWithoutModel(t *testing.T) {
	long := "GATE-SAY  what is\nthe name of the heron that lives at the pond behind the mill?"
	words := "GATE-SAY what is the name of the heron that lives at the…"
	for name, c := range map[string]struct {
		step, said, want string
		change           func(w *world)
	}{
		"refused":     {`{"status": 400}`, long, words + " words", nil},
		"a call":      {`{"text": "x", "calls": [{"name": "recall", "arguments": {"query": "x"}}]}`, long, words + " words", nil},
		"cut":         {`{"text": "The heron and", "stop": "length"}`, long, words + " words", nil},
		"null":        {`{"text": "<nil>"}`, long, words + " words", nil},
		"distress":    {`{"text": "Sad"}`, "GATE-SAY I can't go on", "GATE-SAY I can't go on words", nil},
		"no provider": {`{"text": "x"}`, long, words + " words", func(w *world) { w.o.Providers = nil }},
		"ceiling":     {`{"text": "x"}`, long, words + " words", func(w *world) { w.o.Limits.ConversationRounds = 1 }},
		"off":         {`{"text": "x"}`, long, words + " words", func(w *world) { w.o.NoTitles = true }},
		"mine": {`{"text": "x"}`, long, "My own user", func(w *world) {
			w.rows("CREATE (:Conversation {id: 'c', created_at: datetime(), rounds: 0, tokens: 0, title: 'My own', title_origin: 'user'})")
		}},
		"long": {`{"text": "` + strings.Repeat("word 日本 ", 60) + `"}`, long, "word 日本 word 日本 word 日本 word 日本 word 日本… model", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "Write a title", "steps": [`+c.step+`]}, {"marker": "GATE-SAY", "steps": [{"text": "hello"}]}]}`)
			w.o.NoTitles = false
			if c.change != nil {
				c.change(w)
			}
			for range 2 {
				w.titled(chatbridge.Message{Conversation: "c", Text: c.said})
			}
			asked := 0
			for _, e := range w.gate.Entries() {
				if e.Marker == "Write a title" {
					asked++
				}
			}
			if got := w.rows("MATCH (c:Conversation) RETURN c.title + ' ' + c.title_origin"); got != "[["+c.want+"]]" || asked > 1 || (c.change != nil || name == "distress") != (asked == 0) {
				t.Errorf("title %s, asked %d times", got, asked)
			}
		})
	}
}

// TestTitleCutOffIsAskedAgain holds that a title that the end of the program cut off is
// asked for by the next one.
func TestTitleCutOffIsAskedAgain(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "Write a title", "steps": [{"mode": "silent"}]}, {"marker": "GATE-SAY", "steps": [{"text": "hello"}]}]}`)
	w.o.NoTitles = false
	b := w.bridge()
	w.send(b, chatbridge.Message{Conversation: "c", Text: "GATE-SAY"})
	for w.gate.Stats().Requests < 2 { // the title is asked for
		if _, err := b.Show(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := w.rows("MATCH (c:Conversation) RETURN c.title, c.title_origin, c.title_asked"); got != "[[GATE-SAY words <nil>]]" {
		t.Errorf("stored: %s", got)
	}
}

// TestUtilityChain holds that the next provider is asked where one cannot be reached,
// and none after one has answered.
func TestUtilityChain(t *testing.T) {
	w := newWorld(t, "anthropic", true, `{"scenarios": [{"marker": "Sum up the conversation", "steps": [{"text": "In short."}]}]}`)
	gone := httptest.NewServer(nil)
	gone.Close()
	w.o.Providers = append([]chatbridge.Provider{{Name: "gone", Wire: "openai", BaseURL: gone.URL, Model: "x"}}, w.o.Providers...)
	b := w.bridge()
	if _, err := b.Summary(t.Context(), "c"); code(err) != "unknown_conversation" {
		t.Error(err)
	}
	w.send(b, chatbridge.Message{Conversation: "c", Text: "hello"})
	if sum, err := b.Summary(t.Context(), "c"); err != nil || sum != "In short." {
		t.Errorf("%q, %v", sum, err)
	}
	w.o.Providers = nil
	if _, err := w.bridge().Summary(t.Context(), "c"); code(err) != "no_model" {
		t.Error(err)
	}
	w.o.Phrases = []byte("{}")
	if _, err := w.bridge().Summary(t.Context(), "c"); code(err) != "safe_mode" {
		t.Error(err)
	}
}
