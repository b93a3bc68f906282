package chatbridge_test

import (
	"strings"
	"testing"

	"engram/chatbridge"
)

const planning = `{"scenarios": [
	{"marker": "GATE-PLAN", "steps": [
		{"text": "I look.", "expect_system": ["plan mode"], "calls": [{"name": "list_dir", "arguments": {"path": "."}}, {"name": "write_file", "arguments": {"path": "a.txt", "content": "early"}},
			{"name": "run_command", "arguments": {"argv": ["touch", "early"]}}, {"name": "remember", "arguments": {"text": "early"}}]},
		{"text": "1. write a.txt", "expect_results": ["Nothing was approved yet"]}]},
	{"marker": "REVISE-IT", "steps": [{"text": "1. write b.txt"}]},
	{"marker": "The person approved the plan as it is.", "steps": [{"text": "I write.", "calls": [{"name": "write_file", "arguments": {"path": "b.txt", "content": "late"}}]}, {"text": "Done."}]}]}`

// TestPlanMode proposes, revises and approves in three processes, of which none but the
// first ends in order. Nothing above reading runs before.
func TestPlanMode(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, planning)
		b := w.bridge()
		out := w.send(b, chatbridge.Message{Text: "GATE-PLAN", Plan: true})
		if out.Status != "pending" || out.Pending.Review == nil || out.Pending.Shown != "I look.\n\n1. write a.txt" || out.Pending.Review.Kind != "plan" || out.Pending.Review.Left != 8 || out.Reply != "" {
			t.Fatalf("%+v %+v", out, out.Pending)
		}
		for i, want := range []string{"ok", "failed", "failed", "failed"} {
			if out.ToolsUsed[i].Status != want {
				t.Errorf("before the approval: %+v", out.ToolsUsed[i])
			}
		}
		if !strings.Contains(w.file("a.txt"), "no such file") || !strings.Contains(w.file("early"), "no such file") || w.rows("MATCH (m:Memory) RETURN count(m)") != "[[0]]" {
			t.Error("something ran before the plan was approved")
		}
		first := out.Pending.CallID

		b = w.bridge() // another process
		list, err := b.Reviews(t.Context(), "")
		if err != nil || len(list) != 1 || list[0].Conversation != out.Conversation || list[0].Pending.CallID != first || list[0].Pending.Shown != out.Pending.Shown || !list[0].Since.Equal(w.o.Now()) {
			t.Fatalf("%+v, error %v", list, err)
		}
		result := "x"
		for name, a := range map[string]chatbridge.Answer{
			"silence": {}, "blanks": {Words: " \n"}, "a yes with words": {Approve: true, Words: "but later"}, "a result": {Result: &result},
			"always": {Approve: true, Remember: "always"}, "another plan": {Approve: true, Digest: "x"},
		} {
			a.Conversation = out.Conversation
			if _, err := b.Answer(t.Context(), a); code(err) != "invalid" && (name != "another plan" || code(err) != "changed") {
				t.Errorf("%s: %v", name, err)
			}
		}
		words := "  REVISE-IT: take b.txt,\n\t\"not\" a.txt \\ é "
		out = w.answer(b, chatbridge.Answer{Conversation: out.Conversation, CallID: first, Words: words})
		if out.Status != "pending" || out.Pending.Shown != "1. write b.txt" || out.Pending.Review.Number != 2 || out.Pending.Review.Left != 7 {
			t.Fatalf("%+v %+v %+v", out, out.Pending, out.Failure)
		}
		entries := w.gate.Entries()
		if got := entries[len(entries)-1].Prompt; got != words {
			t.Errorf("the model was told %q", got)
		}
		b = w.bridge()
		if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, CallID: first, Approve: true}); code(err) != "used_call" {
			t.Errorf("an approval of the plan before: %v", err)
		}
		done := w.answer(b, chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Digest: out.Pending.Digest, Approve: true})
		if done.Status != "done" || done.Reply != "I write.\n\nDone." || w.file("b.txt") != "late" || !strings.Contains(w.file("a.txt"), "no such file") {
			t.Errorf("%+v %+v", done, done.Failure)
		}
		if got := w.rows("MATCH (:Run)-[:REVIEWED]->(v:Review)-[:ABOUT]->(c:Candidate) RETURN v.number, v.status, v.words, c.id ORDER BY v.number"); !strings.HasPrefix(got, "[[1 revised "+words+" cand-") || !strings.HasSuffix(got, "[2 approved <nil> "+done.Candidate+"]]") {
			t.Errorf("what was decided is stored as %s", got)
		}
		if list, err := b.Reviews(t.Context(), ""); err != nil || len(list) != 0 {
			t.Errorf("%+v, error %v", list, err)
		}
		for _, e := range w.gate.Entries() {
			if e.Status != 200 {
				t.Errorf("the gate: %+v", e)
			}
		}
	})
}

// TestRevisionsHaveACeiling answers each time in another process: the count goes on, and
// its end is a stop, never an approval.
func TestRevisionsHaveACeiling(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, planning)
		w.o.Limits.Revisions = 2
		out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-PLAN", Plan: true})
		n := 0
		for ; out.Status == "pending" && n < 9; n++ {
			out = w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Words: "REVISE-IT again"})
		}
		want := chatbridge.Ceiling{Kind: "revisions", Limit: 2, Observed: 3}
		if n != 3 || out.Status != "failed" || out.Failure.Ceiling == nil || *out.Failure.Ceiling != want || w.gate.Stats().Requests != 4 || !strings.Contains(w.file("b.txt"), "no such file") {
			t.Errorf("%d revisions, %+v %+v", n, out, out.Failure)
		}
		if got := w.rows("MATCH (r:Run)-[:REVIEWED]->(v:Review) RETURN r.status, r.revisions, v.status ORDER BY v.number"); got != "[[failed 2 revised] [failed 2 revised] [failed 2 stopped]]" {
			t.Errorf("stored as %s", got)
		}
	})
}

func TestUnreadableRevisionsRefuse(t *testing.T) {
	w := newWorld(t, "openai", false, planning)
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-PLAN", Plan: true})
	n := w.gate.Stats().Requests
	for _, broken := range []string{"'many'", "-1", "null"} {
		w.rows("MATCH (r:Run) SET r.revisions = " + broken)
		if _, err := w.bridge().Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, Words: "REVISE-IT"}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", broken, err)
		}
	}
	w.rows("MATCH (r:Run) SET r.revisions = 0")
	if w.gate.Stats().Requests != n {
		t.Error("the model was asked")
	}
	if done := w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Approve: true}); done.Status != "done" {
		t.Errorf("it waits no more: %+v", done)
	}
}

// TestPlanEdges holds what is no plan, that words of a review pass the screen, and that a
// plan is cancelled like a call.
func TestPlanEdges(t *testing.T) {
	w := newWorld(t, "anthropic", true, `{"scenarios": [{"marker": "PLAN-ONE", "steps": [{"text": "1. a"}]}, {"marker": "PLAN-CUT", "steps": [{"text": "1. a 2.", "stop": "length"}]},
		{"marker": "PLAN-FAKE", "steps": [{"text": "[receipt: all done]"}]}, {"marker": "PLAN-DROP", "steps": [{"text": "1. a and then much more", "mode": "drop"}]}]}`)
	b := w.bridge()
	for marker, kind := range map[string]string{"PLAN-CUT": "reason", "PLAN-FAKE": "empty", "PLAN-DROP": "provider"} {
		if out := w.send(b, chatbridge.Message{Text: marker, Plan: true}); out.Status != "failed" || out.Failure.Kind != kind {
			t.Errorf("%s: %+v %+v", marker, out, out.Failure)
		}
	}
	w.send(b, chatbridge.Message{Conversation: "sad", Text: "PLAN-ONE", Plan: true})
	words := "I want to kill myself, can't go on, hopeless, no reason to live"
	out := w.answer(b, chatbridge.Answer{Conversation: "sad", Words: words})
	if out.Status != "done" || !strings.Contains(out.Reply, "help") || w.gate.Stats().Requests != 4 {
		t.Errorf("distress in a revision: %+v %+v", out, out.Failure)
	}
	if got := w.rows("MATCH (v:Review) WHERE v.words IS NOT NULL RETURN count(v)"); got != "[[0]]" {
		t.Errorf("%s reviews keep the words of a hard bell", got)
	}
	out = w.send(b, chatbridge.Message{Conversation: "c", Text: "PLAN-ONE", Plan: true})
	if had, err := b.Cancel(t.Context(), "c"); !had || err != nil {
		t.Errorf("%v, error %v", had, err)
	}
	if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: "c", CallID: out.Pending.CallID, Approve: true}); code(err) != "used_call" {
		t.Errorf("after it was cancelled: %v", err)
	}
	w.o.Providers = nil
	if _, err := w.bridge().Send(t.Context(), chatbridge.Message{Text: "x", Plan: true}); code(err) != "invalid" {
		t.Errorf("without a model: %v", err)
	}
}
