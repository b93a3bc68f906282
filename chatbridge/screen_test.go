package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
)

// TestScreen holds the worked example: the same words ring hard after a history of
// distress, and soft after a calm one, none, or another conversation's.
func TestScreen(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "can\u2019t go on", "steps": [{"text": "I am here.", "expect_system": ["may be in distress"]}]}]}`)
		b := w.bridge()
		const words = "I just CAN\u2019T go on" // the marker of the gate is in small letters
		say := func(conversation, text string) *chatbridge.Outcome {
			t.Helper()
			out := w.send(b, chatbridge.Message{Conversation: conversation, Text: text})
			if out.Status != "done" || out.Reply == "" {
				t.Fatalf("%q: %+v %+v", text, out, out.Failure)
			}
			return out
		}
		for _, text := range []string{"It is all hopeless and I am worthless.", "nobody cares", "I can't  take it\nanymore", "I want to disappear"} {
			say("heavy", text)
		}
		say("calm", "What a nice day.")
		bells := func() string {
			return w.rows("MATCH (b:BellEvent) RETURN b.conversation, b.kind, b.score ORDER BY b.conversation, b.id")
		}
		if got := bells(); got != "[[heavy soft 35] [heavy soft 41]]" { // the last two, with a third of what came before
			t.Errorf("bells before: %s", got)
		}
		requests := w.gate.Stats().Requests
		out := say("heavy", words)
		if !strings.Contains(out.Reply, "116 123") || w.gate.Stats().Requests != requests {
			t.Errorf("hard: %+v, %d requests more", out, w.gate.Stats().Requests-requests)
		}
		if out := say("calm", "I just can\u2019t go on"); out.Reply != "I am here." {
			t.Errorf("calm: %+v", out)
		}
		fresh := say("", "I just can\u2019t go on")
		if fresh.Reply != "I am here." {
			t.Errorf("fresh: %+v", fresh)
		}
		want := fmt.Sprintf("[[%s soft 50] [calm soft 50] [heavy soft 35] [heavy soft 41] [heavy hard 78]]", fresh.Conversation)
		if got := bells(); got != want {
			t.Errorf("bells %s, want %s", got, want)
		}
		if out := say(fresh.Conversation, "I can't go on, it is hopeless"); w.rows("MATCH (b:BellEvent {kind: 'hard'}) RETURN count(b)") != "[[2]]" {
			t.Errorf("the id that was told, used again: %+v, bells %s", out, bells())
		}
		if got := w.rows("MATCH (c:Conversation {id: 'heavy'})-[:CONTAINS]->(t:Turn) RETURN count(t)"); got != "[[8]]" {
			t.Errorf("a turn that rang hard was recorded: %s", got)
		}
		if got := w.rows("MATCH (n) WHERE n.prompt CONTAINS 'CAN' OR n.text CONTAINS 'CAN' RETURN count(n)"); got != "[[0]]" {
			t.Errorf("words of a turn that rang hard were kept: %s", got)
		}
	})
}

func TestBellsColourWhatFollows(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "good morning", "steps": [{"text": "x", "expect_system": ["may be in distress"]}]}]}`)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.o.Now = func() time.Time { return now }
	b := w.bridge()
	w.send(b, chatbridge.Message{Conversation: "c", Text: "I hurt myself"})
	now = now.Add(71 * time.Hour)
	if out := w.send(b, chatbridge.Message{Conversation: "c", Text: "good morning"}); out.Status != "done" {
		t.Errorf("after 71 hours: %+v", out.Failure)
	}
	now = now.Add(2 * time.Hour)
	if out := w.send(b, chatbridge.Message{Conversation: "c", Text: "good morning"}); out.Status != "failed" {
		t.Error("after 73 hours the guidance is still given")
	}
}

// TestWordsOfADenialAreScreened holds that a denial's words are a door as well.
func TestWordsOfADenialAreScreened(t *testing.T) {
	w := newWorld(t, "openai", false, escalating)
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Text: "GATE-RUN"})
	n := w.gate.Stats().Requests
	done := w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Words: "no, I want to end my life"})
	if done.Status != "done" || !strings.Contains(done.Reply, "988") || w.gate.Stats().Requests != n {
		t.Errorf("%+v", done)
	}
}

func TestSafeMode(t *testing.T) {
	w := newWorld(t, "openai", false, escalating)
	for _, file := range []string{"", "{", `{"soft": 1}`, `{"soft": 35, "hard": 70, "guidance": "g", "message": "m", "phrases": [{"text": " ", "weight": 1}]}`} {
		w.o.Phrases = []byte(file)
		if _, err := w.bridge().Send(t.Context(), chatbridge.Message{Text: "hello"}); code(err) != "safe_mode" {
			t.Errorf("%q: %v", file, err)
		}
	}
	w.o.Phrases = []byte(`{"soft": 1, "hard": 2, "guidance": "g", "message": "call someone", "phrases": [{"text": "blue", "weight": 2}]}`)
	if out := w.send(w.bridge(), chatbridge.Message{Text: "I feel Blue"}); out.Reply != "call someone" {
		t.Errorf("a file of the operator: %+v", out)
	}
}
