package chatbridge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/chatbridge"
)

// starting is the test program as the server notes, in whose folder a file tells that it
// was started.
func (w *world) starting(name string) chatbridge.MCPServer {
	s := stdio("says it again", "echo")
	s.Command = []string{"sh", "-c", `echo x >> "$1"; exec "$0"`, os.Args[0], filepath.Join(w.dir, name)}
	return s
}

// TestS27AsksBeforeItStarts holds that a server whose entry changed behind its name is not
// started, nor its address asked, before a person allowed that; that what they allow is the
// entry that they saw; and that a denial leaves it out.
func TestS27AsksBeforeItStarts(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-PLAIN", "steps": [{"text": "plain"}]}, {"marker": "GATE-MCP", "steps": [{"calls": [{"name": "notes__echo", "arguments": {"a": 1}}]}, {"text": "Got: {results}"}]}]}`)
		var sent string // the last request, which no two legs make at once
		recorder := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			sent = string(body)
			r.Body = io.NopCloser(strings.NewReader(sent))
			w.gate.ServeHTTP(rw, r)
		}))
		defer recorder.Close()
		w.o.Providers[0].BaseURL = recorder.URL
		process := func(server chatbridge.MCPServer) *chatbridge.Bridge {
			w.o.MCP = []chatbridge.MCPServer{server}
			return w.bridge()
		}
		absent := func(name string) bool { return strings.Contains(w.file(name), "no such file") }
		if out := w.send(process(w.starting("first")), chatbridge.Message{Conversation: "c1", Text: "GATE-PLAIN"}); out.Status != "done" || absent("first") {
			t.Fatalf("as the operator wrote it: %+v %+v", out, out.Failure)
		}
		b := process(w.starting("evil"))
		out := w.send(b, chatbridge.Message{Conversation: "c1", Text: "GATE-PLAIN again"})
		if out.Status != "pending" || out.Pending.ToolName != "start_mcp_server" || out.Pending.RiskTier != "escalate" || !strings.Contains(out.Pending.Shown, "/first") || !strings.Contains(out.Pending.Shown, "/evil") || !absent("evil") {
			t.Fatalf("%+v %+v", out, out.Pending)
		}
		asked := w.gate.Stats().Requests
		if denied := w.answer(b, chatbridge.Answer{Conversation: "c1", Words: "not this one"}); denied.Status != "done" || denied.Reply != "plain" || !absent("evil") {
			t.Errorf("denied: %+v %+v", denied, denied.Failure)
		}
		if n := w.gate.Stats().Requests; n != asked+1 || strings.Count(sent, `"content":"GATE-PLAIN`) != 2 || !strings.Contains(sent, `"content":"plain"`) || !strings.Contains(sent, "What ran for your message") {
			t.Errorf("%d requests, the last one, with all that was said before: %s", n-asked, sent)
		}
		if _, err := b.Answer(t.Context(), chatbridge.Answer{Conversation: "c1", CallID: out.Pending.CallID, Approve: true}); code(err) != "used_call" {
			t.Errorf("replayed: %v", err)
		}
		out = w.send(b, chatbridge.Message{Conversation: "c1", Text: "GATE-MCP"})
		other := process(w.starting("other"))
		if _, err := other.Answer(t.Context(), chatbridge.Answer{Conversation: "c1", CallID: out.Pending.CallID, Digest: out.Pending.Digest, Approve: true}); code(err) != "changed" {
			t.Errorf("approved as evil, now other: %v", err)
		}
		shown, err := other.Waiting(t.Context(), "c1")
		if err != nil || len(shown) != 1 || !strings.Contains(shown[0].Shown, "/other") || !absent("evil") || !absent("other") {
			t.Fatalf("%+v, error %v", shown, err)
		}
		call := w.answer(other, chatbridge.Answer{Conversation: "c1", Digest: shown[0].Digest, Approve: true})
		if call.Status != "pending" || call.Pending.ToolName != "notes__echo" || absent("other") || !absent("evil") {
			t.Fatalf("%+v %+v", call, call.Failure)
		}
		// The call is approved with another entry: nothing of that starts, and it is asked about.
		last := process(w.starting("last"))
		if _, err := last.Answer(t.Context(), chatbridge.Answer{Conversation: "c1", Digest: call.Pending.Digest, Approve: true}); code(err) != "changed" || !absent("last") {
			t.Errorf("a call of a server that changed: %v", err)
		}
		again := process(w.starting("other"))
		if _, err := again.Answer(t.Context(), chatbridge.Answer{Conversation: "c1", Digest: call.Pending.Digest, Approve: true}); code(err) != "changed" {
			t.Errorf("it was shown as one that cannot run: %v", err)
		}
		if done := w.answer(again, chatbridge.Answer{Conversation: "c1", Digest: call.Pending.Digest, Approve: true}); done.Status != "done" || !strings.HasPrefix(done.ToolsUsed[0].Result, "echo {") {
			t.Errorf("%+v %+v", done, done.Failure)
		}
		if out := w.send(process(w.starting("other")), chatbridge.Message{Conversation: "c1", Text: "GATE-PLAIN"}); out.Status != "done" {
			t.Errorf("what was allowed asks again: %+v", out)
		}
		if got := w.rows("MATCH (t:ToolCall {name: 'start_mcp_server'}) RETURN t.status ORDER BY t.status"); got != "[[approved] [denied]]" {
			t.Errorf("traces: %s", got)
		}
	})
}
