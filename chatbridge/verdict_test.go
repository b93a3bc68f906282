package chatbridge_test

import (
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestVerdicts judges a plan after its run, in another process, and holds what is
// recalled into the next run: an approval, on the same candidate, and nothing else.
func TestVerdicts(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, planning)
		b := w.bridge()
		plan := func() *chatbridge.Outcome {
			t.Helper()
			out := w.send(b, chatbridge.Message{Text: "GATE-PLAN", Plan: true})
			if out.Status != "pending" {
				t.Fatalf("%+v", out.Failure)
			}
			return out
		}
		system := func() string { e := w.gate.Entries(); return e[len(e)-1].System }
		first := plan()
		key := first.Pending.Review.Candidate
		if key != chatbridge.CandidateKey(" gate-plan\n", first.Pending.Shown) || first.Pending.Review.Verdict != nil {
			t.Errorf("%+v", first.Pending.Review)
		}
		w.answer(b, chatbridge.Answer{Conversation: first.Conversation, Approve: true})

		b = w.bridge()
		for _, j := range []chatbridge.Judgement{
			{Candidate: key},
			{Candidate: key, Decision: "approved"},
			{Candidate: key, Reason: "fine"},
			{Candidate: key, Decision: "approved", Reason: " \n"},
			{Candidate: key, Decision: "ok", Reason: "fine"},
			{Candidate: key, Decision: "Approved", Reason: "fine"},
			{Decision: "approved", Reason: "fine"},
			{Candidate: "cand-none", Decision: "approved", Reason: "fine"},
			{Run: "none", Decision: "approved", Reason: "fine"},
			{Candidate: key, Run: first.Run, Decision: "approved", Reason: "fine"},
		} {
			if _, err := b.Judge(t.Context(), j); code(err) != "invalid" && (j.Candidate != "cand-none" && j.Run != "none" || code(err) != "unknown_candidate") {
				t.Errorf("%+v: %v", j, err)
			}
		}
		if got, err := b.Verdicts(t.Context(), "", ""); err != nil || len(got) != 0 {
			t.Fatalf("half verdicts are kept: %+v, error %v", got, err)
		}
		if _, err := b.Judge(t.Context(), chatbridge.Judgement{Candidate: key, Decision: "rejected", Reason: "BROKE-IT"}); err != nil {
			t.Fatal(err)
		}
		if out := plan(); out.Pending.Review.Verdict != nil || strings.Contains(system(), "BROKE-IT") {
			t.Errorf("a rejection is recalled: %+v", out.Pending.Review.Verdict)
		}
		v, err := b.Judge(t.Context(), chatbridge.Judgement{Candidate: key, Decision: "approved", Reason: "HELD-FOR-A-YEAR"})
		if err != nil || !v.Promoted || v.Task != "GATE-PLAN" || v.Outcome != first.Pending.Shown {
			t.Fatalf("%+v, error %v", v, err)
		}
		second := plan()
		if got := second.Pending.Review.Verdict; got == nil || got.Reason != "HELD-FOR-A-YEAR" || got.Decision != "approved" || !got.At.Equal(w.o.Now()) {
			t.Errorf("the same candidate recalls %+v", got)
		}
		if !strings.Contains(system(), "approved: HELD-FOR-A-YEAR (2 January 2026)") {
			t.Errorf("the system prompt is %q", system())
		}
		if list, err := w.bridge().Reviews(t.Context(), ""); err != nil || list[len(list)-1].Pending.Review.Verdict == nil {
			t.Errorf("the list of reviews: %+v, error %v", list, err)
		}
		w.send(b, chatbridge.Message{Text: "another task"})
		if strings.Contains(system(), "HELD-FOR-A-YEAR") {
			t.Error("a verdict is recalled into a run of another task")
		}
		w.answer(b, chatbridge.Answer{Conversation: second.Conversation, Words: "REVISE-IT"})
		all, err := b.Verdicts(t.Context(), key, "")
		if err != nil || len(all) != 2 || !all[0].Promoted || all[1].Promoted || all[1].Decision != "rejected" {
			t.Errorf("%+v, error %v", all, err)
		}
		if got := w.rows("MATCH (v:Verdict)-[:JUDGES]->(c:Candidate) RETURN v.decision, v.tier, c.id = v.candidate ORDER BY v.number"); got != "[[rejected <nil> true] [approved Canonical true]]" {
			t.Errorf("stored as %s", got)
		}
		if _, err := b.Judge(t.Context(), chatbridge.Judgement{Candidate: key, Decision: "rejected", Reason: "not any more"}); err != nil {
			t.Fatal(err)
		}
		if out := plan(); out.Pending.Review.Verdict != nil || strings.Contains(system(), "HELD-FOR-A-YEAR") || w.rows("MATCH (v:Verdict {tier: 'Canonical'}) RETURN count(v)") != "[[0]]" {
			t.Errorf("what was taken back is recalled: %+v", out.Pending.Review.Verdict)
		}
		if got := w.rows("MATCH (n) WHERE NOT n:Verdict AND any(k IN keys(n) WHERE n[k] CONTAINS 'HELD-FOR-A-YEAR') RETURN labels(n)"); got != "[]" {
			t.Errorf("other nodes keep what a verdict says: %s", got)
		}
	})
}

// TestAnswerIsJudgedLater derives the candidate of an ordinary answer from what is stored,
// and holds what becomes of candidates when their conversation is purged.
func TestAnswerIsJudgedLater(t *testing.T) {
	w := newWorld(t, "openai", true, `{"scenarios": [{"marker": "ASK-COLOUR", "steps": [{"text": "Green."}]}]}`)
	out := w.send(w.bridge(), chatbridge.Message{Conversation: "c", Text: "ASK-COLOUR"})
	b := w.bridge()
	v, err := b.Judge(t.Context(), chatbridge.Judgement{Run: out.Run, Decision: "approved", Reason: "it fits the door"})
	if err != nil || v.Candidate != chatbridge.CandidateKey("ASK-COLOUR", "Green.") {
		t.Fatalf("%+v, error %v", v, err)
	}
	w.send(b, chatbridge.Message{Conversation: "d", Text: "a plan for ASK-COLOUR", Plan: true})
	w.send(b, chatbridge.Message{Text: "ASK-COLOUR"})
	if e := w.gate.Entries(); !strings.Contains(e[len(e)-1].System, "- Green.\n  approved: it fits the door") {
		t.Errorf("the system prompt is %q", e[len(e)-1].System)
	}
	list, err := b.Candidates(t.Context(), "")
	if err != nil || len(list) != 2 || list[0].Verdicts+list[1].Verdicts != 1 || list[0].Outcome != "Green." || list[0].Kind+list[1].Kind != "plananswer" && list[0].Kind+list[1].Kind != "answerplan" {
		t.Errorf("%+v, error %v", list, err)
	}
	for _, c := range []string{"c", "d"} {
		if _, err := b.Purge(t.Context(), chatbridge.PurgeScope{Conversation: c}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := b.Candidates(t.Context(), ""); err != nil || len(list) != 1 || list[0].Key != v.Candidate {
		t.Errorf("after purging: %+v, error %v", list, err)
	}
}
