package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram/chatbridge/gate"
)

// chatClient talks to a server that may be killed.
type chatClient struct {
	t          *testing.T
	url, token string
}

func (c *chatClient) do(method, path, body string) (int, map[string]any) {
	c.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, c.url+path, r)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := (&http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		c.t.Fatalf("%s %s: %d, %v", method, path, res.StatusCode, err)
	}
	return res.StatusCode, out
}

func (c *chatClient) must(method, path, body string) map[string]any {
	c.t.Helper()
	status, out := c.do(method, path, body)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s: %d %v", method, path, status, out)
	}
	return out
}

// state are the rows of a statement.
func (c *chatClient) state(statement string) string {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"statement": statement})
	if err != nil {
		c.t.Fatal(err)
	}
	rows, err := json.Marshal(c.must("POST", "/v1/query", string(body))["rows"])
	if err != nil {
		c.t.Fatal(err)
	}
	return string(rows)
}

// seq is the number of the last transaction.
func (c *chatClient) seq() any { return c.must("GET", "/v1/stats", "")["seq"] }

// TestKillSuspendedChat suspends a run, kills the server with SIGKILL and approves a day
// later: wrong, used and foreign ids change nothing, the run finishes on its wire, its
// file is there byte for byte, and its events replay whole.
func TestKillSuspendedChat(t *testing.T) {
	content := "a \"b\" \\\"c\\\" \t tab\r\n日本 🦊 {\"json\": \"in \\\"json\\\"\"} <&> \u2028 ends with \\"
	arguments, err := json.Marshal(map[string]any{"path": "made/by night.txt", "content": content})
	if err != nil {
		t.Fatal(err)
	}
	script, err := gate.ParseScenario([]byte(`{"scenarios": [
		{"marker": "GATE-NIGHT", "steps": [{"text": "I look.", "calls": [{"name": "list_dir", "arguments": {"path": "."}}, {"name": "run_command", "arguments": {"argv": ["touch", "ran"]}}]},
			{"text": "I write.", "calls": [{"name": "write_file", "arguments": ` + string(arguments) + `}]}, {"text": "All done."}]},
		{"marker": "GATE-OTHER", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "other"]}}]}, {"text": "x"}]},
		{"marker": "GATE-HALF", "steps": [{"text": "I look.", "calls": [{"name": "list_dir", "arguments": {"path": "."}}]}, {"mode": "silent"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, wire := range []string{"anthropic", "openai"} {
		t.Run(wire, func(t *testing.T) {
			g := gate.New(script, nil)
			provider := httptest.NewServer(g)
			defer func() { g.Close(); provider.Close() }()
			dir, ws := filepath.Join(t.TempDir(), "data"), t.TempDir()
			begin := func(day string) (*chatClient, func()) {
				url, kill := startProcessWith(t, dir, []string{
					programClock + "=" + day + "T10:00:00Z", "ENGRAM_LLM_PROVIDER=gate", "ENGRAM_LLM_BASE_URL=" + provider.URL, "ENGRAM_LLM_MODEL=m", "ENGRAM_LLM_WIRE=" + wire,
				}, "--workspace", ws)
				secret, err := os.ReadFile(filepath.Join(dir, "token"))
				if err != nil {
					t.Fatal(err)
				}
				return &chatClient{t, url, strings.TrimSpace(string(secret))}, kill
			}
			suspendAndApprove(t, begin, ws, content)
			for _, e := range g.Entries() {
				if e.Wire != wire || e.Status != 200 || e.Exhausted {
					t.Errorf("the gate: %+v", e)
				}
			}
		})
	}
}

func suspendAndApprove(t *testing.T, begin func(day string) (*chatClient, func()), ws, content string) {
	c, kill := begin("2031-03-01")
	first := c.must("POST", "/v1/conversations/new/messages", `{"text":"GATE-NIGHT"}`)
	other := c.must("POST", "/v1/conversations/new/messages", `{"text":"GATE-OTHER"}`)
	if first["status"] != "tool_pending" || other["status"] != "tool_pending" {
		t.Fatalf("%v, %v", first, other)
	}
	path, call := "/v1/conversations/"+first["conversation_id"].(string), first["call_id"].(string)
	foreign := "/v1/conversations/" + other["conversation_id"].(string)
	before := c.must("GET", path+"/events", "")["events"].([]any)
	ran := ""
	for _, e := range before {
		if e := e.(map[string]any); ran == "" && e["type"] == "tool_call" {
			ran = e["tool"].(map[string]any)["call_id"].(string)
		}
	}
	running := "/v1/conversations/" + c.must("POST", "/v1/conversations", "{}")["conversation_id"].(string)
	cut := make(chan error)
	go func() { // is cut off
		req, err := http.NewRequest("POST", c.url+running+"/messages", strings.NewReader(`{"text":"GATE-HALF"}`))
		if err == nil {
			req.Header = http.Header{"Authorization": {"Bearer " + c.token}, "Content-Type": {"application/json"}}
			_, err = http.DefaultTransport.RoundTrip(req)
		}
		cut <- err
	}()
	var half map[string]any
	for working := 0; working < 2; {
		half, working = c.must("GET", running+"/events", ""), 0
		for _, e := range half["events"].([]any) {
			if e.(map[string]any)["type"] == "working" {
				working++
			}
		}
	}
	kill()
	if err := <-cut; err == nil {
		t.Error("a message was answered by nobody")
	}

	c, kill = begin("2031-03-02")
	defer kill()
	all := "MATCH (n) RETURN labels(n)[0] AS label, n.id AS id, n.status AS status, n.call_id AS call ORDER BY label, id"
	seq, state := c.seq(), c.state(all)
	approve := func(call string) string { return `{"decision":"approve","call_id":"` + call + `"}` }
	for _, r := range []struct {
		path, body string
		status     int
		code       string
	}{
		{path, approve("wrong"), 404, "CallNotFound"},
		{path, approve(other["call_id"].(string)), 404, "CallNotFound"},
		{foreign, approve(call), 404, "CallNotFound"},
		{running, approve(call), 404, "CallNotFound"},
		{running, `{"decision":"approve"}`, 404, "CallNotFound"},
		{"/v1/conversations/nobody", approve(call), 404, "ConversationNotFound"},
		{path, approve(ran), 409, "CallUsed"},
		{path, approve(strings.ToUpper(call)), 404, "CallNotFound"},
		{path, approve(call + " "), 404, "CallNotFound"},
	} {
		if status, out := c.do("POST", r.path+"/approvals", r.body); status != r.status || out["code"] != r.code {
			t.Errorf("%s %s: %d %v, want %d %s", r.path, r.body, status, out, r.status, r.code)
		}
	}
	if after := c.state(all); after != state || c.seq() != seq {
		t.Errorf("refused answers have changed %s at %v\nto %s at %v", state, seq, after, c.seq())
	}
	if _, err := os.Stat(filepath.Join(ws, "ran")); err == nil {
		t.Error("the command ran before it was approved")
	}
	if out := c.must("POST", path+"/approvals", approve(call)); out["status"] != "done" || out["reply"] != "I look.\n\nI write.\n\nAll done." || out["iterations"] != 3.0 {
		t.Errorf("%v", out)
	}
	if got, err := os.ReadFile(filepath.Join(ws, "made", "by night.txt")); err != nil || !bytes.Equal(got, []byte(content)) {
		t.Errorf("the file is %q, error %v, want %q", got, err, content)
	}
	checkReplay(t, c, path, before)
	state = c.state(all)
	if status, out := c.do("POST", path+"/approvals", approve(call)); status != 409 || out["code"] != "CallUsed" || c.state(all) != state {
		t.Errorf("used: %d %v", status, out)
	}
	if got := c.state("MATCH (r:Run {id: '" + first["run_id"].(string) + "'})<-[:PRODUCED_BY]-(a:Turn) RETURN toString(date(r.created_at)), toString(date(a.created_at))"); got != `[["2031-03-01","2031-03-02"]]` {
		t.Errorf("it was approved another day: %s", got)
	}
	checkCutOff(t, c, running, half)
	if out := c.must("POST", running+"/messages", `{"text":"go on"}`); out["reply"] != "ok" {
		t.Errorf("a conversation that was answering when the server was killed: %v", out)
	}
	checkCutOff(t, c, running, half)
	if out := c.must("GET", foreign+"/events", ""); out["status"] != "pending" {
		t.Errorf("the other conversation: %v", out)
	}
}

// checkCutOff holds that of a run that the server was killed in all is replayed that was
// told of it before, and its end, whatever number a client knows.
func checkCutOff(t *testing.T, c *chatClient, path string, half map[string]any) {
	t.Helper()
	path += "/events?run=" + half["run_id"].(string)
	out := c.must("GET", path, "")
	told, events := half["events"].([]any), out["events"].([]any)
	if out["status"] != "failed" || len(events) != len(told)+1 || fmt.Sprint(events[:len(told)]) != fmt.Sprint(told) {
		t.Fatalf("told before %v\nreplayed %v", half, out)
	}
	end := events[len(told)].(map[string]any)
	if end["type"] != "error" || end["seq"] != float64(len(events)) || fmt.Sprint(end["failure"]) != "map[kind:interrupted text:the program ended while it ran]" {
		t.Errorf("the end is %v", end)
	}
	for _, after := range []int{len(told), len(events), 1000} {
		if tail := c.must("GET", fmt.Sprintf("%s&after=%d", path, after), "")["events"].([]any); len(tail) != 1 || fmt.Sprint(tail[0]) != fmt.Sprint(end) {
			t.Errorf("after %d: %v", after, tail)
		}
	}
}

// checkReplay holds that the events of a run are whole, and that those of before are as
// they were.
func checkReplay(t *testing.T, c *chatClient, path string, before []any) {
	t.Helper()
	events := c.must("GET", path+"/events", "")["events"].([]any)
	var kinds []string
	for i, e := range events {
		e := e.(map[string]any)
		if e["seq"] != float64(i+1) || i < len(before) && fmt.Sprint(e) != fmt.Sprint(before[i]) {
			t.Errorf("event %d: %v", i+1, e)
		}
		if e["type"] != "delta" {
			kinds = append(kinds, e["type"].(string))
		}
	}
	if got := strings.Join(kinds, " "); got != "started working tool_call tool_result tool_call tool_pending tool_result working tool_call tool_result working receipt usage done" {
		t.Errorf("events: %s", got)
	}
	last := events[len(events)-1].(map[string]any)
	if last["text"] != "I look.\n\nI write.\n\nAll done." {
		t.Errorf("the last event: %v", last)
	}
	for _, after := range []int{1, len(before), len(events) - 1, len(events)} {
		if tail := c.must("GET", fmt.Sprintf("%s/events?after=%d", path, after), "")["events"].([]any); len(tail) != len(events)-after || len(tail) > 0 && fmt.Sprint(tail[0]) != fmt.Sprint(events[after]) {
			t.Errorf("after %d: %d events", after, len(tail))
		}
	}
}
