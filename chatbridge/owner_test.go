package chatbridge_test

import (
	"slices"
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestOwner holds that whoever begins a conversation owns it, and that nobody after it
// does.
func TestOwner(t *testing.T) {
	w := newWorld(t, "openai", true, `{"scenarios": [{"marker": "NONE", "steps": [{"text": "x"}]}]}`)
	b := w.bridge()
	mine := w.send(b, chatbridge.Message{Text: "hello", Owner: "ann"})
	w.send(b, chatbridge.Message{Conversation: mine.Conversation, Text: "again", Owner: "ben"})
	nobodys := w.send(b, chatbridge.Message{Text: "hello"})
	made, err := b.Create(t.Context(), "cleo")
	if err != nil {
		t.Fatal(err)
	}
	for conversation, want := range map[string]string{mine.Conversation: "ann true", nobodys.Conversation: " true", made: "cleo true", "none": " false"} {
		owner, found, err := b.Owner(t.Context(), conversation)
		if got := owner + map[bool]string{true: " true", false: " false"}[found]; err != nil || got != want {
			t.Errorf("%s: %q, error %v, want %q", conversation, got, err, want)
		}
	}
	first, err := b.Stored(t.Context(), mine.Conversation, mine.Run, 2)
	if err != nil || first == nil || first.ID != mine.Run || first.Status != "done" || first.Events[0].Seq != 3 || first.Events[len(first.Events)-1].Text != "ok" {
		t.Errorf("the first run: %+v, error %v", first, err)
	}
	if newest, err := b.Stored(t.Context(), mine.Conversation, "", 0); err != nil || newest == nil || newest.ID == mine.Run {
		t.Errorf("the newest run: %+v, error %v", newest, err)
	}
	for _, c := range [][2]string{{nobodys.Conversation, mine.Run}, {made, ""}, {"none", mine.Run}} {
		if got, err := b.Stored(t.Context(), c[0], c[1], 0); got != nil || err != nil {
			t.Errorf("%v: %+v, error %v", c, got, err)
		}
	}
	if page, err := b.List(t.Context(), &chatbridge.ListOptions{Owner: "ann"}); err != nil || len(page.Conversations) != 1 || page.Conversations[0].ID != mine.Conversation {
		t.Errorf("Ann's: %+v, error %v", page, err)
	}
	if n := b.Running(); n != 0 {
		t.Errorf("%d runs go on", n)
	}
}

// TestWithout holds that a tool which is left out is neither offered nor run, also
// after a suspension, and that an answer may leave out more.
func TestWithout(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-TWO", "steps": [{"calls": [{"name": "remember", "arguments": {"text": "left out"}}]},
			{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]},
			{"calls": [{"name": "run_command", "arguments": {"argv": ["ls"]}}]}, {"text": "{results}"}]}]}`)
		b := w.bridge()
		out := w.send(b, chatbridge.Message{Text: "GATE-TWO", Without: []string{"remember"}})
		if out.Status != "pending" {
			t.Fatalf("%+v %+v", out, out.Failure)
		}
		done := w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Words: "no", Without: []string{"run_command"}})
		if done.Status != "done" || !strings.Contains(done.Reply, "There is no tool remember.") || !strings.Contains(done.Reply, "There is no tool run_command.") {
			t.Errorf("%+v %+v", done, done.Failure)
		}
		for i, e := range w.gate.Entries() {
			if slices.Contains(e.Tools, "remember") || slices.Contains(e.Tools, "run_command") != (i < 2) || !slices.Contains(e.Tools, "recall") {
				t.Errorf("request %d was offered %v", i+1, e.Tools)
			}
		}
		if got := w.rows("MATCH (m:Memory) RETURN count(m)"); got != "[[0]]" {
			t.Errorf("%s memories", got)
		}
	})
}

// TestWatch holds that a watcher is told of each leg of its conversation and of no
// other, and that one who takes none is dropped.
func TestWatch(t *testing.T) {
	w := newWorld(t, "openai", true, escalating)
	b := w.bridge()
	runs, stop := b.Watch("c")
	idle, _ := b.Watch("c")
	out := w.send(b, chatbridge.Message{Conversation: "c", Text: "GATE-RUN"})
	w.send(b, chatbridge.Message{Conversation: "other", Text: "hello"})
	w.answer(b, chatbridge.Answer{Conversation: "c", Words: "no"})
	first, second := <-runs, <-runs
	if first.ID != out.Run || second.ID != out.Run || first == second || first.First() != 0 || second.First() != len(first.Events(0)) || len(runs) != 0 {
		t.Errorf("legs %+v, %+v, %d more", first, second, len(runs))
	}
	stop()
	for range 15 {
		w.send(b, chatbridge.Message{Conversation: "c", Text: "hello"})
	}
	n := 0
	for range idle {
		n++
	}
	if n != 16 || len(runs) != 0 {
		t.Errorf("%d runs were kept for who took none, %d for who had stopped", n, len(runs))
	}
}
