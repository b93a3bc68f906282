package chatbridge_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
)

// TestHostile holds that hostile providers end a run in bounded time with an honest
// error and no invented answer.
func TestHostile(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		for _, c := range []struct{ step, kind, says string }{
			{`{"mode": "silent"}`, "provider", "sent nothing for too long"},
			{`{"text": "abcdefghijklmnopqrstuvwxyz", "mode": "drop"}`, "provider", "in the middle"},
			{`{"status": 400}`, "provider", "the provider gate answered HTTP 400"},
			{`{"status": 401}`, "provider", "HTTP 401"},
			{`{"body": "{\"odd\": 1}"}`, "provider", "odd"},
			{`{"text": "x", "stop": "galactic"}`, "reason", "not known: galactic"},
			{`{"calls": [{"name": "list_dir", "arguments": {"path": "."}}], "mode": "forever"}`, "ceiling", "the limit of 12 rounds is met"},
		} {
			w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-BAD", "steps": [`+c.step+`]}]}`)
			w.o.Providers[0].Silence = 300 * time.Millisecond
			out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-BAD"})
			if out.Status != "failed" || out.Reply != "" || out.Failure.Kind != c.kind || !strings.Contains(out.Failure.Text, c.says) {
				t.Errorf("%s: %+v %+v", c.step, out, out.Failure)
			}
			if got := w.rows("MATCH (r:Run) RETURN r.status"); got != "[[failed]]" {
				t.Errorf("%s: stored as %s", c.step, got)
			}
			if got := w.rows("MATCH (t:Turn) RETURN count(t)"); got != "[[0]]" {
				t.Errorf("%s: an answer was recorded", c.step)
			}
		}
	})
}

func TestUnreadableReplyIsKept(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-BAD", "steps": [{"body": "{\"odd\": 1}"}]}]}`)
	w.send(w.bridge(), chatbridge.Message{Text: "GATE-BAD"})
	if got := w.rows("MATCH (r:Run) RETURN r.artefact"); got != `[[{"odd": 1}]]` {
		t.Errorf("the artefact is %s", got)
	}
}

// TestUnreadIsKept holds that what of a reply comes to nothing is kept verbatim, also
// when a ceiling or the length limit ends the run.
func TestUnreadIsKept(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		for _, c := range []struct{ step, status, kept string }{
			{`{"calls": [{"name": "list_dir", "raw": "{\"path\": \"Ünï <cut"}], "mode": "forever"}`, "failed", `{"path": "Ünï <cut`},
			{`{"text": "so far", "calls": [{"name": "write_file", "raw": "{\"path\": \"half"}], "stop": "length"}`, "done", `{"path": "half`},
			{`{"text": "so far", "calls": [{"name": "write_file", "arguments": {"path": "whole"}}], "stop": "length"}`, "done", "whole"},
			{`{"text": "a galaxy of words", "stop": "galactic"}`, "failed", "a galaxy of words"},
			{`{"text": "plain"}`, "done", ""},
		} {
			w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-BAD", "steps": [`+c.step+`]}]}`)
			w.o.Limits.Rounds = 3
			out := w.send(w.bridge(), chatbridge.Message{Conversation: "c", Text: "GATE-BAD"})
			s, err := w.bridge().Show(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			kept := s.Runs[0].Artefact
			if wire == "anthropic" && !stream { // the wire has a text where an object belongs
				kept = strings.ReplaceAll(kept, `\"`, `"`)
			}
			if out.Status != c.status || !strings.Contains(kept, c.kept) || (c.kept == "") != (kept == "") {
				t.Errorf("%s: %s, kept %q", c.step, out.Status, kept)
			}
		}
	})
}

// TestAbsenceIsSaid holds that null and <nil> reach neither a prompt nor a person.
func TestAbsenceIsSaid(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-ALL", "steps": [
		{"calls": [{"name": "query", "arguments": {"statement": "RETURN NULL AS a, {b: NULL, c: [NULL, {d: NULL}]} AS m, [NULL] AS l"}}]},
		{"calls": [{"name": "query", "arguments": {"statement": "MATCH (n:None) RETURN max(n.x) AS most"}}]}, {"text": "It says {results}"}]}]}`)
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Conversation: "c", Text: "GATE-ALL"})
	w.send(b, chatbridge.Message{Conversation: "c", Text: "GATE-ALL"})
	if !strings.Contains(out.ToolsUsed[0].Result, `(absent) | {"c":["(absent)",{}]} | (absent)`) {
		t.Errorf("%q", out.ToolsUsed[0].Result)
	}
	for _, e := range w.gate.Entries() {
		text := e.Prompt + e.System + e.Text
		for _, r := range e.Results {
			text += r.Content
		}
		if strings.Contains(text, "<nil>") || strings.Contains(text, "null") || strings.Contains(text, "%!") {
			t.Errorf("request %d: %s", e.Seq, text)
		}
	}
}

// TestCeilingsSpanSuspensions holds that approving call after call begins no new count.
func TestCeilingsSpanSuspensions(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-BAD", "steps": [{"calls": [{"name": "list_dir", "arguments": {"path": "."}}], "mode": "forever", "usage": {"input": 10, "output": 5}}]}]}`)
		w.o.Limits.Rounds = 4
		out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-BAD", AskAll: true})
		n := 0
		for ; out.Status == "pending" && n < 20; n++ {
			out = w.answer(w.bridge(), chatbridge.Answer{Conversation: out.Conversation, Approve: true})
		}
		want := chatbridge.Ceiling{Kind: "rounds", Limit: 4, Observed: 5}
		if n != 4 || out.Failure == nil || out.Failure.Ceiling == nil || *out.Failure.Ceiling != want || out.Usage.Rounds != 4 || out.Usage.Input != 40 || out.Usage.Output != 20 {
			t.Errorf("%d approvals, %+v %+v", n, out, out.Failure)
		}
		if got := w.rows("MATCH (c:Conversation) MATCH (r:Run) RETURN c.rounds, c.tokens, r.rounds, r.tokens"); got != "[[4 60 4 60]]" {
			t.Errorf("the ledger holds %s", got)
		}
	})
}

func TestConversationCeilingsAndLedger(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-SAY", "steps": [{"text": "hello", "usage": {"input": 400, "output": 100}}]}]}`)
	w.o.Limits.ConversationTokens = 900
	b := w.bridge()
	for i := range 3 {
		out := w.send(b, chatbridge.Message{Conversation: "c", Text: "GATE-SAY"})
		if (out.Status == "done") != (i < 2) || i == 2 && (out.Failure.Ceiling == nil || out.Failure.Ceiling.Kind != "conversation_tokens") {
			t.Errorf("message %d: %+v", i+1, out)
		}
	}
	if n := w.gate.Stats().Requests; n != 2 {
		t.Errorf("%d requests: what cannot be paid is not made", n)
	}
	w.rows("MATCH (c:Conversation {id: 'c'}) SET c.tokens = 'many'")
	if _, err := b.Send(t.Context(), chatbridge.Message{Conversation: "c", Text: "GATE-SAY"}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("an unreadable ledger: %v", err)
	}
}

func TestLengthLimit(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-CUT", "steps": [{"text": "I was about", "calls": [{"name": "write_file", "arguments": {"path": "x", "content": "y"}}], "stop": "length"}]}]}`)
		out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-CUT"})
		if out.Reply != "I was about\n\n[The answer was cut by the length limit. The call of write_file did not run.]" || !strings.Contains(w.file("x"), "no such file") {
			t.Errorf("%+v, file %q", out, w.file("x"))
		}
	})
}

func TestChain(t *testing.T) {
	w := newWorld(t, "anthropic", true, `{"scenarios": [{"marker": "GATE-BUSY", "steps": [{"status": 400}]}]}`)
	gone := httptest.NewServer(nil)
	gone.Close()
	w.o.Providers = append([]chatbridge.Provider{{Name: "gone", Wire: "openai", BaseURL: gone.URL, Model: "x"}}, w.o.Providers...)
	if out := w.send(w.bridge(), chatbridge.Message{Text: "hello"}); out.Reply != "ok" || out.Provider != "gate" {
		t.Errorf("%+v %+v", out, out.Failure)
	}
	w.o.Providers[0], w.o.Providers[1] = w.o.Providers[1], w.o.Providers[0]
	if out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-BUSY"}); out.Status != "failed" || out.Provider != "gate" {
		t.Errorf("another provider was tried after the first one answered: %+v", out)
	}
}

// TestChainStopsAtTheFirstAnswer holds that no other provider is tried once one was
// reached, whatever it then does, and that later rounds stay with it.
func TestChainStopsAtTheFirstAnswer(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		for step, says := range map[string]string{
			`{"text": "abcdefghijklmnopqrstuvwxyz", "mode": "drop"}`: "in the middle", `{"mode": "silent"}`: "nothing for too long", `{"body": "{\"odd\": 1}"}`: "odd", `{"status": 401}`: "HTTP 401",
			`{"calls": [{"name": "list_dir", "arguments": {"path": "."}}]}, {"status": 400}`: "HTTP 400",
		} {
			w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-BAD", "steps": [`+step+`]}]}`)
			next := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-BAD", "steps": [{"text": "invented"}]}]}`)
			w.o.Providers[0].Silence = 300 * time.Millisecond
			w.o.Providers = append(w.o.Providers, chatbridge.Provider{Name: "next", Wire: wire, BaseURL: next.url, Model: "x"})
			out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-BAD"})
			if out.Status != "failed" || out.Provider != "gate" || !strings.Contains(out.Failure.Text, "the provider gate") || !strings.Contains(out.Failure.Text, says) || next.gate.Stats().Requests != 0 {
				t.Errorf("%s: %+v %+v, the next one was asked %d times", step, out, out.Failure, next.gate.Stats().Requests)
			}
		}
	})
}

// TestConversationsAndReceipts holds that a conversation sees its own turns and what
// really ran, and that receipts a model makes up are removed with no text lost.
func TestConversationsAndReceipts(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [
			{"marker": "ASK-LIST", "steps": [{"calls": [{"name": "list_dir", "arguments": {"path": "."}}]}, {"text": "Before ⟦receipt: I searched the web⟧after, and ⟦receipt that never ends."}]},
			{"marker": "ASK-WHAT", "steps": [{"text": "I listed the folder.", "expect_system": ["for your message 2", "list_dir", "call_asklist_1_", ", ok"]}]},
			{"marker": "ASK-NONE", "steps": [{"text": "nothing ran", "expect_system": ["for your message 4, as the program recorded it: no tools ran"]}]},
			{"marker": "ONLY-FAKE", "steps": [{"text": "[receipt: everything was done]"}]}]}`)
		b := w.bridge()
		first := w.send(b, chatbridge.Message{Conversation: "c", Text: "ASK-LIST"})
		if first.Reply != "Before after, and ⟦receipt that never ends." {
			t.Errorf("reply %q", first.Reply)
		}
		events, err := b.Events(t.Context(), first.Run, 0)
		if err != nil {
			t.Fatal(err)
		}
		var deltas strings.Builder
		for _, e := range events {
			if e.Type == chatbridge.EventDelta {
				deltas.WriteString(e.Text)
			}
		}
		if deltas.String() != first.Reply {
			t.Errorf("streamed %q", deltas.String())
		}
		for _, q := range []string{"ASK-WHAT", "ASK-NONE"} {
			if out := w.send(b, chatbridge.Message{Conversation: "c", Text: q}); out.Status != "done" {
				t.Errorf("%s: %+v", q, out.Failure)
			}
		}
		if other := w.send(b, chatbridge.Message{Conversation: "other", Text: "ASK-WHAT"}); other.Status != "failed" {
			t.Error("another conversation sees the receipts of this one")
		}
		if out := w.send(b, chatbridge.Message{Text: "ONLY-FAKE"}); out.Status != "failed" || out.Failure.Kind != "empty" {
			t.Errorf("an answer that is only an imitation: %+v", out)
		}
		if got := w.rows("MATCH (c:Conversation {id: 'c'})-[:CONTAINS]->(t:Turn) WITH count(t) AS n MATCH p = (:Turn {number: 1})-[:TEMPORALLY_PRECEDES*5]->(:Turn {number: 6}) RETURN n, length(p)"); got != "[[6 5]]" {
			t.Errorf("turns %s", got)
		}
		list, err := b.Conversations(t.Context())
		if err != nil || len(list) != 3 || list[0].ID != "c" || list[0].Turns != 6 || list[0].First != "ASK-LIST" {
			t.Errorf("list %+v, error %v", list, err)
		}
	})
}

func TestCancelAndShutdown(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-WAIT", "steps": [{"mode": "silent"}]}]}`)
		b := w.bridge()
		for _, end := range []string{"cancelled", "shutdown"} {
			run, err := b.Send(t.Context(), chatbridge.Message{Conversation: end, Text: "GATE-WAIT"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Send(t.Context(), chatbridge.Message{Conversation: end, Text: "x"}); code(err) != "busy" {
				t.Errorf("two at a time: %v", err)
			}
			if _, err := run.Next(t.Context(), 1); err != nil { // it is working
				t.Fatal(err)
			}
			if end == "cancelled" {
				if had, err := b.Cancel(t.Context(), end); !had || err != nil {
					t.Errorf("%v, error %v", had, err)
				}
			} else if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if out := w.wait(run, nil); out.Status != "failed" || out.Failure.Kind != end {
				t.Errorf("%s: %+v", end, out.Failure)
			}
		}
		if got := w.rows("MATCH (r:Run) RETURN DISTINCT r.status"); got != "[[failed]]" {
			t.Errorf("stored as %s", got)
		}
	})
}

// TestMemoryAlone holds what is answered without a model.
func TestMemoryAlone(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "NONE", "steps": [{"text": "x"}]}]}`)
	w.o.Providers = nil
	w.rows("REMEMBER 'Ann moved to Lisbon in May' {id: 'm1'} ALONE")
	w.rows("REMEMBER 'The harbour office hires' {id: 'm2'} ALONE AS m MATCH (a {id: 'm1'}) CREATE (a)-[:CAUSES]->(m)")
	out := w.send(w.bridge(), chatbridge.Message{Text: "Lisbon"})
	if !strings.Contains(out.Reply, "2. The harbour office hires\n   id m2, score ") || !strings.Contains(out.Reply, "because reached by m1 -CAUSES-> m2") {
		t.Errorf("the path is not told: %q", out.Reply)
	}
	if out.Status != "done" || !strings.Contains(out.Reply, "No model is configured") || !strings.Contains(out.Reply, "1. Ann moved to Lisbon in May\n   id m1, score ") {
		t.Errorf("%+v %+v", out, out.Failure)
	}
	if _, err := w.bridge().Send(t.Context(), chatbridge.Message{Text: " \n"}); code(err) != "invalid" {
		t.Errorf("an empty message: %v", err)
	}
	// Turns and titles of other conversations say Lisbon by now, and are not recalled.
	if again := w.send(w.bridge(), chatbridge.Message{Text: "Lisbon"}); strings.Count(again.Reply, "\n   id ") != 2 || !strings.Contains(again.Reply, "1. Ann moved to Lisbon in May\n   id m1, ") {
		t.Errorf("a second conversation is told %q", again.Reply)
	}
}

// TestToolsOfMemory holds that reading tools cannot write, whatever they say (S51, S56),
// and what browse, link and query answer.
func TestToolsOfMemory(t *testing.T) {
	call := func(name, arguments string) string {
		return `{"calls": [{"name": "` + name + `", "arguments": ` + arguments + `}]}`
	}
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-ALL", "steps": [`+strings.Join([]string{
		call("query", `{"statement": "MATCH (n) DETACH DELETE n"}`), call("query", `{"statement": "MATCH (m:Memory) RETURN m.id AS id, m.nothing AS nothing ORDER BY id"}`),
		call("link", `{"from": "m1", "to": "m2", "type": "CAUSES"}`), call("link", `{"from": "m1", "to": "m2", "type": "X]->() DETACH DELETE"}`), call("link", `{"from": "m1", "to": "gone", "type": "CAUSES"}`),
		call("browse", `{}`), call("browse", `{"path": "Memory"}`), call("browse", `{"path": "Memory/m1"}`), call("browse", `{"path": "Nowhere"}`),
		call("recall", `{"query": "x", "query": "y"}`), call("recall", `{"Query": "x"}`), call("recall", `{"query": 3}`), call("recall", `{}`),
	}, ",")+`, {"text": "end"}]}]}`)
	w.o.Limits.Rounds = 30
	w.rows("REMEMBER 'first' {id: 'm1'} ALONE")
	w.rows("REMEMBER 'second' {id: 'm2'} ALONE")
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-ALL"})
	if out.Status != "done" || len(out.ToolsUsed) != 13 {
		t.Fatalf("%+v %+v", out, out.Failure)
	}
	for i, want := range []string{
		"failed", "id | nothing\nm1 | (absent)\nm2 | (absent)\n", "Linked.", "the type must be capital letters", "no node m1, or none gone",
		"Memory | 2\n", "Memory/m1 | first\n", "CAUSES | Memory/m2", "there is no path Nowhere",
		`the argument "query" is there twice`, `no argument "Query"`, `"query" must be a string`, `"query" is missing`,
	} {
		if u := out.ToolsUsed[i]; !strings.Contains(u.Status+" "+u.Result, want) {
			t.Errorf("%s %s: %s %s, want %q", u.Name, u.Arguments, u.Status, u.Result, want)
		}
	}
	if got := w.rows("MATCH (m:Memory) RETURN count(m)"); got != "[[2]]" {
		t.Errorf("%s memories are left", got)
	}
}
