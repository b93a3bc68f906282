package chatbridge_test

import (
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestConversationsAreApart holds that no tool of a model sees what was said in another
// conversation, or a run there, whatever way it asks; and that memories are seen.
func TestConversationsAreApart(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		call := func(name, arguments string) string {
			return `{"calls": [{"name": "` + name + `", "arguments": ` + arguments + `}]}`
		}
		steps := []string{
			call("query", `{"statement": "MATCH (t:Turn) RETURN t.text"}`), call("query", `{"statement": "MATCH (n) WHERE n.text CONTAINS 'HUSHWORD' RETURN n"}`),
			call("query", `{"statement": "MATCH (n) RETURN labels(n), properties(n)"}`), call("query", `{"statement": "MATCH (a)-[r]-(b) RETURN properties(a), type(r), properties(b)"}`),
			call("query", `{"statement": "RECALL 'HUSHWORD' INCLUDING TELEMETRY YIELD node RETURN node"}`), call("recall", `{"query": "HUSHWORD"}`),
			call("browse", `{}`), call("browse", `{"path": "Turn"}`), call("browse", `{"path": "Conversation"}`),
			call("query", `{"statement": "MATCH (m:Memory) RETURN m.content"}`), call("browse", `{"path": "Memory/m1"}`),
		}
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "ASK-COLOUR", "steps": [{"text": "Green."}]}, {"marker": "GATE-SPY", "steps": [`+strings.Join(steps, ",")+`, {"text": "Nothing."}]}]}`)
		w.rows("CREATE (:Memory {id: 'm1', content: 'an open word'})")
		b := w.bridge()
		if out := w.send(b, chatbridge.Message{Text: "ASK-COLOUR HUSHWORD"}); out.Status != "done" {
			t.Fatalf("%+v", out.Failure)
		}
		if got := w.rows("MATCH (t:Turn) WHERE t.text CONTAINS 'HUSHWORD' RETURN count(t)"); got != "[[1]]" {
			t.Fatalf("%s turns hold the word", got)
		}
		spy := w.send(b, chatbridge.Message{Text: "GATE-SPY"})
		if spy.Status != "done" || len(spy.ToolsUsed) != len(steps) {
			t.Fatalf("%+v %+v", spy, spy.Failure)
		}
		for i, u := range spy.ToolsUsed {
			said := strings.ReplaceAll(u.Result, "there is no path ", "")
			if strings.Contains(said, "HUSHWORD") || strings.Contains(said, "Green.") || i < 7 && strings.Contains(said, "Turn") {
				t.Errorf("%s %s reaches another conversation: %s", u.Name, u.Arguments, u.Result)
			}
			if failed := i == 7 || i == 8; failed != (u.Status == "failed") {
				t.Errorf("%s %s: %s %s", u.Name, u.Arguments, u.Status, u.Result)
			}
			if i >= 9 && !strings.Contains(u.Result, "an open word") {
				t.Errorf("%s %s does not see a memory: %s", u.Name, u.Arguments, u.Result)
			}
		}
	})
}
