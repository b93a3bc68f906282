package chatbridge_test

import (
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestVerdictsHaveOneDoor holds that no tool of a model reaches a verdict, and that the
// attempt leaves its trace.
func TestVerdictsHaveOneDoor(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		call := func(name, arguments string) string {
			return `{"calls": [{"name": "` + name + `", "arguments": ` + arguments + `}]}`
		}
		steps := []string{
			call("query", `{"statement": "MATCH (v:Verdict) RETURN v.reason"}`), call("query", `{"statement": "RECALL 'HUSHWORD' INCLUDING VERDICTS YIELD node RETURN node"}`), call("browse", `{"path": "Verdict"}`), call("browse", `{"path": "/verdict/x"}`),
			call("query", `{"statement": "MATCH (n) WHERE n.reason IS NOT NULL RETURN n.reason"}`), call("query", `{"statement": "MATCH (n) WHERE any(l IN labels(n) WHERE l STARTS WITH 'Ver') RETURN n"}`),
			call("query", `{"statement": "MATCH (c:Candidate)--(x) RETURN labels(x), properties(x)"}`), call("recall", `{"query": "HUSHWORD"}`), call("browse", `{}`),
		}
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "ASK-COLOUR", "steps": [{"text": "Green."}]}, {"marker": "GATE-SPY", "steps": [`+strings.Join(steps, ",")+`, {"text": "Nothing."}]}]}`)
		b := w.bridge()
		out := w.send(b, chatbridge.Message{Text: "ASK-COLOUR"})
		v, err := b.Judge(t.Context(), chatbridge.Judgement{Run: out.Run, Decision: "approved", Reason: "HUSHWORD"})
		if err != nil {
			t.Fatal(err)
		}
		spy := w.send(b, chatbridge.Message{Text: "GATE-SPY"})
		if spy.Status != "done" || len(spy.ToolsUsed) != len(steps) {
			t.Fatalf("%+v %+v", spy, spy.Failure)
		}
		for i, u := range spy.ToolsUsed {
			if i < 4 != (u.Status == "failed") || i < 4 && !strings.Contains(u.Result, "verdicts are a class of their own") {
				t.Errorf("%s %s: %s %s", u.Name, u.Arguments, u.Status, u.Result)
			}
			if strings.Contains(strings.ReplaceAll(u.Result, "HUSHWORD.", ""), "HUSHWORD") || strings.Contains(u.Result, "Verdict") && i >= 4 {
				t.Errorf("%s %s reaches a verdict: %s", u.Name, u.Arguments, u.Result)
			}
		}
		if got := w.rows("MATCH (t:ToolCall) WHERE t.status = 'failed' AND t.refused = 'verdicts' RETURN count(t)"); got != "[[4]]" {
			t.Errorf("%s attempts are traced", got)
		}
		for _, e := range w.gate.Entries() {
			if strings.Contains(e.System, "HUSHWORD") {
				t.Error("a verdict is told to a run of another task")
			}
		}
		if got, err := b.Verdicts(t.Context(), v.Candidate, ""); err != nil || len(got) != 1 || got[0].Reason != "HUSHWORD" {
			t.Errorf("through the door: %+v, error %v", got, err)
		}
	})
}
