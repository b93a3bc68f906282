package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"engram/chatbridge"
)

func maker(text, total, chairs string) string {
	return fmt.Sprintf(`{"text": "{\"proposal\": \"%s\", \"numbers\": {\"total\": %s, \"chairs\": %s}, \"reasoning\": \"because\"}"}`, text, total, chairs)
}

var budget = []chatbridge.Rule{{Number: "total", Min: "0", Max: "100"}, {Number: "chairs", Whole: true}}

const (
	accepts = `{"marker": "Check this proposal.", "steps": [{"no_tools": true, "expect_system": ["checker of a proposal"], "text": "{\"accept\": true, \"reason\": \"it follows\"}"}]}`
	refuses = `{"marker": "Check this proposal.", "steps": [{"text": "{\"accept\": false, \"reason\": \"NO-SUCH-CHAIRS\"}"}]}`
)

func statuses(rulings []chatbridge.Ruling) string {
	var out []string
	for _, r := range rulings {
		out = append(out, fmt.Sprintf("%d %s %s", r.Attempt, r.By, r.Status))
	}
	return strings.Join(out, ", ")
}

// TestProposal goes from a number that the validator refuses, over one that passes, to
// one more that a person asks for and approves in another process.
func TestProposal(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [`+accepts+`,
			{"marker": "GATE-MAKE", "steps": [{"calls": [{"name": "write_file", "arguments": {"path": "early", "content": "x"}}, {"name": "list_dir", "arguments": {"path": "."}}]}, `+maker("3 chairs for 120", "120", "3")+`]},
			{"marker": "above 100", "steps": [`+maker("2 chairs for 90.50", "90.5", "2")+`]},
			{"marker": "MUST-BE-OAK", "steps": [`+maker("1 oak chair for 100", "1e2", "1")+`]}]}`)
		out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-MAKE", Proposal: budget})
		if out.Status != "pending" || out.Pending.Shown != "2 chairs for 90.50\nchairs = 2\ntotal = 90.5" || out.Pending.Review.Left != 2 {
			t.Fatalf("%+v %+v %+v", out, out.Pending, out.Failure)
		}
		if got := statuses(out.Pending.Review.Rulings); got != "1 validator refused, 1 checker not_consulted, 2 validator accepted, 2 checker accepted" {
			t.Errorf("rulings %s", got)
		}
		if r := out.Rulings; r[0].Words != "total is 120, above 100" || !strings.Contains(r[1].Words, "offered, never consulted") || !strings.Contains(w.file("early"), "no such file") {
			t.Errorf("%+v, file %q", r, w.file("early"))
		}
		for _, e := range w.gate.Entries() {
			if strings.HasPrefix(e.Prompt, "Check this proposal.") && strings.Contains(e.Prompt, "120") || e.Status != 200 {
				t.Errorf("the checker saw what the validator refused, or the gate refused: %+v", e)
			}
		}
		out = w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Words: "MUST-BE-OAK, please"})
		if out.Status != "pending" || out.Pending.Review.Left != 1 || !strings.HasPrefix(out.Pending.Shown, "1 oak chair for 100\n") {
			t.Fatalf("%+v %+v %+v", out, out.Pending, out.Failure)
		}
		done := w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Approve: true})
		if done.Status != "done" || done.Reply != "1 oak chair for 100\nchairs = 1\ntotal = 1e2" || !strings.HasSuffix(statuses(done.Rulings), "3 validator accepted, 3 checker accepted, 3 validator accepted, 3 person accepted") {
			t.Errorf("%+v %+v", done, done.Failure)
		}
		for _, e := range w.eventsOf(done.Run) {
			if e.Type == chatbridge.EventDelta {
				t.Errorf("what maker and checker say is streamed: %q", e.Text)
			}
		}
	})
}

func (w *world) eventsOf(run string) []chatbridge.Event {
	w.t.Helper()
	events, err := w.bridge().Events(w.t.Context(), run, 0)
	if err != nil || len(events) == 0 {
		w.t.Fatalf("events %v, error %v", events, err)
	}
	return events
}

// TestCheckerAgainstValidator holds that neither passes what the other refuses: an eager
// checker is never asked about wrong numbers, and right numbers do not help against it.
func TestCheckerAgainstValidator(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		for _, c := range []struct {
			name, checker, first, second, want string
			asked                              int
		}{
			{"wrong numbers, eager checker", accepts, maker("it is 120 for 3", "120", "3"), maker("it is 120 for 3", "120", "3"), "total is 120, above 100", 0},
			{"a number that was not told", accepts, maker("it is 99 for 3", "9", "3"), maker("it is 99 for 3", "9", "3"), "99 stands in the text and is none of the numbers", 0},
			{"right numbers, strict checker", refuses, maker("fine", "90", "3"), maker("fine", "90", "3"), "NO-SUCH-CHAIRS", 2},
			{"a checker that says nothing clear", `{"marker": "Check this proposal.", "steps": [{"text": "Yes, fine!"}]}`, maker("fine", "90", "3"), maker("fine", "90", "3"), "the checker did not answer as it has to", 2},
			{"no proposal at all", accepts, `{"text": "I would rather not."}`, `{"text": "Really."}`, "not the one JSON object", 0},
		} {
			w := newWorld(t, wire, stream, `{"scenarios": [`+c.checker+`, {"marker": "GATE-MAKE", "steps": [`+c.first+`]}, {"marker": "refuses the", "steps": [`+c.second+`]}]}`)
			w.o.Limits.Attempts = 2
			out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-MAKE", Proposal: budget})
			want := chatbridge.Ceiling{Kind: "attempts", Limit: 2, Observed: 3}
			if out.Status != "failed" || out.Failure.Ceiling == nil || *out.Failure.Ceiling != want || !strings.Contains(out.Failure.Text, c.want) || !strings.Contains(out.Failure.Text, "a person was offered, never consulted") {
				t.Errorf("%s: %+v %+v", c.name, out, out.Failure)
			}
			asked := 0
			for _, e := range w.gate.Entries() {
				if strings.HasPrefix(e.Prompt, "Check this proposal.") {
					asked++
				}
			}
			if asked != c.asked {
				t.Errorf("%s: the checker was asked %d times", c.name, asked)
			}
			if got := w.rows("MATCH (v:Review) RETURN count(v)"); got != "[[0]]" {
				t.Errorf("%s: a person was asked", c.name)
			}
		}
	})
}

// TestFeedbackStaysOpen holds that a person's words are told again until a candidate has
// passed, beside what the validator says of the one that did not.
func TestFeedbackStaysOpen(t *testing.T) {
	w := newWorld(t, "anthropic", false, `{"scenarios": [`+accepts+`, {"marker": "GATE-MAKE", "steps": [`+maker("a", "9", "1")+`]},
		{"marker": "IN-OAK", "steps": [`+maker("b", "500", "1")+`]}, {"marker": "total is 500, above 100", "steps": [`+maker("c", "80", "1")+`]}, {"marker": "AND-RED", "steps": [`+maker("d", "81", "1")+`]}]}`)
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-MAKE", Proposal: budget})
	out = w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Words: "IN-OAK!"})
	if out.Status != "pending" || !strings.HasPrefix(out.Pending.Shown, "c\n") {
		t.Fatalf("%+v %+v", out.Pending, out.Failure)
	}
	out = w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Words: "AND-RED"})
	var told []string
	for _, e := range w.gate.Entries() {
		if !strings.HasPrefix(e.Prompt, "Check this") {
			told = append(told, e.Prompt)
		}
	}
	want := []string{"GATE-MAKE", "IN-OAK!", "IN-OAK!\n\nThe validator refuses the numbers: total is 500, above 100", "AND-RED"}
	if fmt.Sprintf("%q", told) != fmt.Sprintf("%q", want) {
		t.Errorf("the maker was told %q", told)
	}
	if out = w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Words: "and more"}); out.Failure == nil || out.Failure.Ceiling == nil || out.Failure.Ceiling.Kind != "attempts" {
		t.Errorf("a fifth attempt: %+v %+v", out, out.Failure)
	}
}

// TestLastRuling holds that the validator looks once more when a person approves.
func TestLastRuling(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [`+accepts+`, {"marker": "GATE-MAKE", "steps": [`+maker("a", "90", "1")+`]}]}`)
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-MAKE", Proposal: budget})
	w.rows(`MATCH (r:Run) SET r.state = replace(r.state, '"total":90', '"total":900')`)
	if _, err := w.bridge().Answer(t.Context(), chatbridge.Answer{Conversation: out.Conversation, Approve: true}); code(err) != "invalid" || !strings.Contains(err.Error(), "its last word stands: total is 900, above 100") {
		t.Errorf("error %v", err)
	}
	if list, err := w.bridge().Reviews(t.Context(), ""); err != nil || len(list) != 1 {
		t.Errorf("%+v, error %v", list, err)
	}
}
