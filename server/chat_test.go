package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
	"engram/chatbridge/gate"
	"engram/server"
	"engram/server/token"
)

const chatScript = `{"scenarios": [
	{"marker": "GATE-PLAIN", "steps": [{"text": "Grüße <b> & 日本 🦊."}]},
	{"marker": "GATE-PLAN", "steps": [{"text": "1. Touch nothing."}]},
	{"marker": "GATE-WAIT", "steps": [{"mode": "silent"}]},
	{"marker": "GATE-BAD", "steps": [{"status": 400}]},
	{"marker": "GATE-FOREVER", "steps": [{"calls": [{"name": "recall", "arguments": {"query": "x"}}], "mode": "forever"}]},
	{"marker": "GATE-REMEMBER", "steps": [{"calls": [{"name": "remember", "arguments": {"text": "the model says so"}}]}, {"text": "{result}"}]},
	{"marker": "GATE-RUN", "steps": [{"text": "I run it.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "Told: {result}"}]}]}`

// chatting gives a server a gate as its provider and a workspace, whose path it returns.
func chatting(t *testing.T, script string, more ...func(*chatbridge.Options)) (change func(*server.Config), g *gate.Gate, workspace string) {
	t.Helper()
	s, err := gate.ParseScenario([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	g, workspace = gate.New(s, nil), t.TempDir()
	provider := httptest.NewServer(g)
	t.Cleanup(func() { g.Close(); provider.Close() })
	return func(c *server.Config) {
		c.Chat = chatbridge.Options{Workspace: workspace, Providers: []chatbridge.Provider{{Name: "gate", Wire: "openai", BaseURL: provider.URL, Model: "m"}}}
		for _, fn := range more {
			fn(&c.Chat)
		}
	}, g, workspace
}

// sseEvent is an event of a stream.
type sseEvent struct {
	id, kind string
	data     map[string]any
}

// events reads a stream of events to its end. The last error is that of the connection.
func readEvents(r io.Reader, each func(sseEvent)) error {
	var e sseEvent
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case name == "id":
			e.id = value
		case name == "event":
			e.kind = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				return err
			}
		case line == "" && e.kind != "":
			each(e)
			e = sseEvent{}
		case line != "" && !strings.HasPrefix(line, ":"):
			return fmt.Errorf("no line of a stream: %q", line)
		}
	}
}

var asStream = header("Accept", "text/event-stream")

// stream sends a request for a stream, checks the numbers and returns its events.
func (h *harness) stream(secret, method, path, body string, change ...func(*http.Request)) []sseEvent {
	h.t.Helper()
	a := h.request(secret, method, path, body, append(change, asStream)...)
	if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" {
		h.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	var out []sseEvent
	if err := readEvents(strings.NewReader(a.body), func(e sseEvent) { out = append(out, e) }); err != nil {
		h.t.Fatal(err)
	}
	for i, e := range out {
		if e.id != fmt.Sprint(e.data["seq"]) || e.kind != e.data["type"] || i > 0 && e.data["seq"].(float64) != out[i-1].data["seq"].(float64)+1 {
			h.t.Errorf("event %d: %+v", i, e)
		}
	}
	return out
}

func kinds(events []sseEvent) string {
	var out []string
	for _, e := range events {
		if e.kind != "delta" || len(out) == 0 || out[len(out)-1] != "delta" {
			out = append(out, e.kind)
		}
	}
	return strings.Join(out, " ")
}

func say(text string) string { return toJSON(map[string]any{"text": text}) }

func TestChatMessages(t *testing.T) {
	change, _, _ := chatting(t, chatScript)
	h := start(t, change)
	a := h.must("POST", "/v1/conversations/new/messages", say("GATE-PLAIN"))
	id, _ := a.json["conversation_id"].(string)
	if a.json["reply"] != "Grüße <b> & 日本 🦊." || a.json["response"] != a.json["reply"] || a.json["model"] != "m" || a.json["agentic"] != true || a.json["status"] != "done" ||
		toJSON(a.json["tools_used"]) != "[]" || toJSON(a.json["sources"]) != "[]" || a.json["iterations"] != 1.0 || a.json["usage"].(map[string]any)["rounds"] != 1.0 || id == "" {
		t.Errorf("%s", a.body)
	}
	events := h.stream(h.root, "POST", "/v1/conversations/"+id+"/messages", `{"text":"GATE-PLAIN","no_tools":true}`)
	var text strings.Builder
	for _, e := range events {
		if e.kind == "delta" {
			text.WriteString(e.data["text"].(string))
		}
	}
	last := events[len(events)-1]
	if kinds(events) != "started working delta receipt usage done" || text.String() != last.data["text"] || last.data["text"] != a.json["reply"] || last.data["outcome"].(map[string]any)["agentic"] != false {
		t.Errorf("%s: %q, %+v", kinds(events), text.String(), last)
	}
	if got := h.eql("MATCH (c:Conversation)-[:CONTAINS]->(t:Turn) RETURN c.owner, count(t)"); got != `[["root",4]]` {
		t.Errorf("stored: %s", got)
	}
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{"/v1/conversations/nobody/messages", say("x"), 404, "ConversationNotFound"},
		{"/v1/conversations/new/messages", say(" \n"), 400, "InvalidArgument"},
		{"/v1/conversations/new/messages", say("GATE-BAD"), 502, "ProviderFailed"},
		{"/v1/conversations/nobody/approvals", `{"decision":"deny"}`, 404, "ConversationNotFound"},
	} {
		if a := h.request(h.root, "POST", c.path, c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.status, a.body)
		}
	}
	a = h.request(h.root, "POST", "/v1/conversations/new/messages", say("GATE-FOREVER"))
	if a.status != 429 || a.code() != "CeilingReached" || toJSON(a.json["ceiling"]) != `{"kind":"rounds","limit":12,"observed":13}` || a.json["outcome"].(map[string]any)["iterations"] != 12.0 {
		t.Errorf("a ceiling: %d %s", a.status, a.body)
	}
	if events := h.stream(h.root, "POST", "/v1/conversations/new/messages", say("GATE-FOREVER")); toJSON(events[len(events)-1].data["failure"].(map[string]any)["ceiling"]) != `{"kind":"rounds","limit":12,"observed":13}` {
		t.Errorf("a ceiling in a stream: %+v", events[len(events)-1])
	}
}

// pendingIn makes a conversation in which a call waits.
func (h *harness) pendingIn(secret string) (conversation, call string) {
	h.t.Helper()
	a := h.request(secret, "POST", "/v1/conversations/new/messages", say("GATE-RUN"))
	if a.status != 200 || a.json["status"] != "tool_pending" || a.json["tool_name"] != "run_command" || a.json["shown"] != `run "touch" "made"` || a.json["risk_tier"] != "escalate" || a.json["narration"] != "I run it." {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
	return a.json["conversation_id"].(string), a.json["call_id"].(string)
}

func TestChatApprovals(t *testing.T) {
	change, _, workspace := chatting(t, chatScript)
	h := start(t, change)
	made := func() bool { _, err := os.Stat(filepath.Join(workspace, "made")); return err == nil }
	id, call := h.pendingIn(h.root)
	path := "/v1/conversations/" + id
	other, _ := h.pendingIn(h.root)
	before := h.eql("MATCH (n) RETURN count(n)")
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{path, `{"decision":"approve","call_id":"wrong"}`, 404, "CallNotFound"},
		{"/v1/conversations/" + other, `{"decision":"approve","call_id":"` + call + `x"}`, 404, "CallNotFound"},
		{path, `{"decision":"approve","call_id":"` + call + `","digest":"another"}`, 409, "CallChanged"},
		{path, `{}`, 400, "InvalidArgument"},
		{path, `{"decision":"yes"}`, 400, "InvalidArgument"},
		{path, `{"decision":"approve","words":"x"}`, 400, "InvalidArgument"},
		{path, `{"decision":"deny","remember":"always"}`, 400, "InvalidArgument"},
		{path, `{"decision":"deny","result":"x"}`, 400, "InvalidArgument"},
		{path, `{"decision":"approve","remember":"sometimes"}`, 400, "InvalidArgument"},
	} {
		if a := h.request(h.root, "POST", c.path+"/approvals", c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", c.body, a.status, a.body)
		}
	}
	if a := h.request(h.root, "POST", path+"/messages", say("hello?")); a.status != 409 || a.code() != "CallPending" {
		t.Errorf("a message while a call waits: %d %s", a.status, a.body)
	}
	if after := h.eql("MATCH (n) RETURN count(n)"); after != before || made() {
		t.Errorf("%s nodes became %s, made: %v", before, after, made())
	}
	if a := h.must("GET", "/v1/conversations", ""); !strings.Contains(a.body, `"waiting":["`+call+`"]`) || len(a.json["conversations"].([]any)) != 2 {
		t.Errorf("list: %s", a.body)
	}
	events := h.stream(h.root, "POST", path+"/approvals", `{"decision":"approve","call_id":"`+call+`"}`)
	if kinds(events) != "tool_result working delta receipt usage done" || !made() || events[0].data["seq"].(float64) < 5 {
		t.Errorf("%s, made: %v", kinds(events), made())
	}
	if a := h.request(h.root, "POST", path+"/approvals", `{"decision":"approve","call_id":"`+call+`"}`); a.status != 409 || a.code() != "CallUsed" {
		t.Errorf("used: %d %s", a.status, a.body)
	}
	if a := h.must("POST", "/v1/conversations/"+other+"/approvals", `{"decision":"deny","words":"not today"}`); a.json["reply"] != "I run it.\n\nTold: The person denied this call. They said: not today" {
		t.Errorf("denied: %s", a.body)
	}
	third, _ := h.pendingIn(h.root)
	if a := h.must("POST", "/v1/conversations/"+third+"/approvals", `{"decision":"result","result":"ran <here>"}`); a.json["reply"] != "I run it.\n\nTold: ran <here>" {
		t.Errorf("a client's result: %s", a.body)
	}
	fourth, _ := h.pendingIn(h.root)
	for _, want := range []bool{true, false} {
		if a := h.must("POST", "/v1/conversations/"+fourth+"/cancel", ""); a.json["canceled"] != want {
			t.Errorf("canceling: %s, want %v", a.body, want)
		}
	}
}

// TestChatReplay: events are had again from any number on, of a run that goes on and of
// one that has ended; a client that leaves does not end its run.
func TestChatReplay(t *testing.T) {
	change, g, _ := chatting(t, chatScript)
	h := start(t, change)
	id, call := h.pendingIn(h.root)
	path := "/v1/conversations/" + id
	first := h.stream(h.root, "GET", path+"/events", "")
	h.must("POST", path+"/approvals", `{"decision":"approve","call_id":"`+call+`"}`)
	all := h.stream(h.root, "GET", path+"/events?after=0", "")
	if kinds(first) != "started working delta tool_call tool_pending" || kinds(all) != kinds(first)+" tool_result working delta receipt usage done" || all[0].id != "1" {
		t.Errorf("%s, then %s", kinds(first), kinds(all))
	}
	for after := range len(all) + 1 {
		tail := h.stream(h.root, "GET", path+"/events", "", header("Last-Event-ID", strconv.Itoa(after)))
		plain := h.must("GET", path+"/events?after="+strconv.Itoa(after), "")
		if len(tail) != len(all)-after || len(plain.json["events"].([]any)) != len(tail) || len(tail) > 0 && toJSON(tail[0].data) != toJSON(all[after].data) || plain.json["status"] != "done" {
			t.Errorf("after %d: %d events, %s", after, len(tail), plain.body)
		}
	}
	second := h.must("POST", path+"/messages", say("GATE-PLAIN")).json["run_id"].(string)
	run := h.must("GET", path+"/events", "").json["run_id"]
	if old := h.stream(h.root, "GET", path+"/events?run="+all[0].runID(t, h, path), ""); run != second || len(old) != len(all) {
		t.Errorf("the newest run is %v, want %s; the first one has %d events", run, second, len(old))
	}
	for query, want := range map[string]int{"?run=nobody": 404, "?after=-1": 400, "?after=x": 400, "?since=1": 400} {
		if a := h.request(h.root, "GET", path+"/events"+query, ""); a.status != want {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	fresh := h.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string)
	if a := h.must("GET", "/v1/conversations/"+fresh+"/events", ""); toJSON(a.json["events"]) != "[]" || a.json["run_id"] != nil {
		t.Errorf("nothing was said: %s", a.body)
	}

	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = h.try(h.root, "POST", "/v1/conversations/"+fresh+"/messages", say("GATE-WAIT"), asStream, func(r *http.Request) { *r = *r.WithContext(ctx) }) // cut
	}()
	h.until("GET", "/v1/conversations/"+fresh+"/events", func(a answer) bool { return strings.Contains(a.body, "working") })
	if a := h.request(h.root, "POST", "/v1/conversations/"+fresh+"/messages", say("x")); a.status != 409 || a.code() != "ConversationBusy" {
		t.Errorf("two at a time: %d %s", a.status, a.body)
	}
	leave()
	<-gone
	followed := make(chan []sseEvent)
	go func() { followed <- h.stream(h.root, "GET", "/v1/conversations/"+fresh+"/events?after=1", "") }()
	if a := h.must("GET", "/v1/conversations/"+fresh+"/events", ""); a.json["status"] != "running" {
		t.Errorf("a client that left has ended its run: %s", a.body)
	}
	if a := h.must("POST", "/v1/conversations/"+fresh+"/cancel", ""); a.json["canceled"] != true {
		t.Errorf("%s", a.body)
	}
	if events := <-followed; kinds(events) != "working usage error" || events[2].data["failure"].(map[string]any)["kind"] != "cancelled" {
		t.Errorf("followed: %s", kinds(events))
	}
	g.Close()
	if strings.Contains(h.log.String(), `"level":"ERROR"`) {
		t.Errorf("a client that left is told as an error: %s", h.log.String())
	}
}

// runID finds the first run of a conversation.
func (sseEvent) runID(t *testing.T, h *harness, path string) string {
	t.Helper()
	id := strings.TrimPrefix(path, "/v1/conversations/")
	a := h.must("POST", "/v1/query", toJSON(map[string]any{"statement": "MATCH (:Conversation {id: $id})-[:HAS_RUN]->(r:Run) RETURN r.id ORDER BY r.created_at LIMIT 1", "parameters": map[string]any{"id": id}}))
	return a.json["rows"].([]any)[0].([]any)[0].(string)
}

// until repeats a request until its answer is as it should be.
func (h *harness) until(method, path string, done func(answer) bool) {
	h.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		if a := h.must(method, path, ""); done(a) {
			return
		} else if time.Now().After(deadline) {
			h.t.Fatalf("%s %s stays %s", method, path, a.body)
		}
	}
}

// TestChatShutdown: runs that go on when the server ends tell so, and are stored.
func TestChatShutdown(t *testing.T) {
	change, _, _ := chatting(t, chatScript)
	h := start(t, change)
	id := h.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string)
	answers := make(chan []sseEvent)
	go func() {
		answers <- h.stream(h.root, "POST", "/v1/conversations/"+id+"/messages", say("GATE-WAIT"))
	}()
	h.until("GET", "/v1/conversations/"+id+"/events", func(a answer) bool { return strings.Contains(a.body, "working") })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := h.server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	events := <-answers
	if kinds(events) != "started working usage error" || events[3].data["failure"].(map[string]any)["kind"] != "shutdown" {
		t.Errorf("%s %+v", kinds(events), events[len(events)-1])
	}
	db, release, err := h.registry.Acquire(server.DefaultNamespace)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	res, err := db.Query(ctx, "MATCH (r:Run) RETURN r.status + ' ' + r.failure", nil)
	if err != nil || len(res.Rows) != 1 || res.Rows[0][0].AsString() != "failed shutdown: the program ended before the answer was complete" {
		t.Errorf("stored: %v, error %v", res, err)
	}
}

// TestChatScopes: what a chat may do is what its token may.
func TestChatScopes(t *testing.T) {
	change, g, workspace := chatting(t, chatScript)
	h := start(t, change)
	chatter := h.token("chatter", token.Chat)
	a := h.request(chatter, "POST", "/v1/conversations/new/messages", say("GATE-RUN"))
	if a.status != 200 || a.json["reply"] != "I run it.\n\nTold: There is no tool run_command." {
		t.Errorf("commands without the scope: %d %s", a.status, a.body)
	}
	if a = h.request(chatter, "POST", "/v1/conversations/new/messages", say("GATE-REMEMBER")); a.json["reply"] != "There is no tool remember." || h.eql("MATCH (m:Memory) RETURN count(m)") != "[[0]]" {
		t.Errorf("writing without the scope: %s", a.body)
	}
	if e := g.Entries()[0]; strings.Contains(strings.Join(e.Tools, " "), "run_command") || strings.Contains(strings.Join(e.Tools, " "), "remember") || !strings.Contains(strings.Join(e.Tools, " "), "recall") {
		t.Errorf("offered: %v", e.Tools)
	}
	if a = h.request(h.token("writer", token.Chat, token.Write), "POST", "/v1/conversations/new/messages", say("GATE-REMEMBER")); !strings.HasPrefix(a.json["reply"].(string), "Remembered as ") {
		t.Errorf("writing with the scope: %s", a.body)
	}
	id, call := h.pendingIn(h.root)
	admin := h.token("keeper", token.Chat, token.Admin)
	approve := `{"decision":"approve","call_id":"` + call + `"}`
	for _, body := range []string{approve, `{"decision":"approve"}`} {
		if a = h.request(admin, "POST", "/v1/conversations/"+id+"/approvals", body); a.status != 403 || a.code() != "Forbidden" || !strings.Contains(a.body, "run-commands") {
			t.Errorf("approving a command without the scope: %d %s", a.status, a.body)
		}
	}
	if _, err := os.Stat(filepath.Join(workspace, "made")); err == nil {
		t.Error("the command ran")
	}
	if a = h.request(admin, "POST", "/v1/conversations/"+id+"/approvals", `{"decision":"deny"}`); a.status != 200 {
		t.Errorf("denying it: %d %s", a.status, a.body)
	}
	runner := h.token("runner", token.Chat, token.RunCommands)
	id, _ = h.pendingIn(runner)
	if a = h.request(runner, "POST", "/v1/conversations/"+id+"/approvals", `{"decision":"approve"}`); a.status != 200 {
		t.Errorf("approving with the scope: %d %s", a.status, a.body)
	}
	if _, err := os.Stat(filepath.Join(workspace, "made")); err != nil {
		t.Error(err)
	}
}
