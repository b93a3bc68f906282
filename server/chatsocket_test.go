package server_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
	"engram/server"
	"engram/server/token"
)

// chatted reads messages up to the first one of an id that is no event, and returns the
// kinds of the events before it.
func (c *wsClient) chatted(id string) (kinds string, last map[string]any) {
	c.t.Helper()
	var out []string
	for {
		m := c.next()
		if m["id"] != id {
			c.t.Fatalf("a message of another: %v", m)
		}
		if m["type"] != "event" {
			return strings.Join(out, " "), m
		}
		if kind := m["event"].(map[string]any)["type"].(string); kind != "delta" || len(out) == 0 || out[len(out)-1] != "delta" {
			out = append(out, kind)
		}
	}
}

func TestChatSocket(t *testing.T) {
	change, _, workspace := chatting(t, chatScript)
	h := start(t, change)
	c, _ := h.dial(h.token("chatter", token.Chat, token.RunCommands))
	c.send(`{"id":"1","type":"chat","request":{"text":"GATE-RUN"}}`)
	kinds, last := c.chatted("1")
	out, _ := last["outcome"].(map[string]any)
	if kinds != "started working delta tool_call tool_pending" || last["type"] != "outcome" || out["status"] != "tool_pending" || out["shown"] != `run "touch" "made"` {
		t.Fatalf("%s, %v", kinds, last)
	}
	id := out["conversation_id"].(string)
	for _, answer := range [][2]string{
		{`{"conversation_id":"` + id + `","call_id":"wrong","decision":"approve"}`, "CallNotFound"},
		{`{"conversation_id":"nobody","decision":"approve"}`, "ConversationNotFound"},
		{`{"decision":"approve"}`, "ConversationNotFound"},
		{`{"conversation_id":"` + id + `","decision":"maybe"}`, "InvalidArgument"},
		{`{"conversation_id":"` + id + `","decision":"approve","Decision":"deny"}`, "UnknownField"},
		{`{"conversation_id":"` + id + `","decision":"approve","decision":"deny"}`, "DuplicateKey"},
		{`{"conversation_id":"` + id + `","decision":"approve","digest":"` + strings.Repeat("0", 64) + `"}`, "CallChanged"},
	} {
		request, want := answer[0], answer[1]
		c.send(`{"id":"w","type":"approve","request":` + request + `}`)
		if m := c.next(); code(m) != want {
			t.Errorf("%s: %v, want %s", request, m, want)
		}
	}
	if _, err := os.Stat(filepath.Join(workspace, "made")); err == nil {
		t.Error("the command ran")
	}
	c.send(`{"id":"2","type":"approve","request":{"conversation_id":"` + id + `","decision":"approve"}}`)
	if kinds, last = c.chatted("2"); kinds != "tool_result working delta receipt usage done" || last["outcome"].(map[string]any)["status"] != "done" {
		t.Errorf("%s, %v", kinds, last)
	}
	if _, err := os.Stat(filepath.Join(workspace, "made")); err != nil {
		t.Error(err)
	}
	c.send(`{"id":"3","type":"chat","request":{"text":"GATE-FOREVER"}}`)
	if _, last = c.chatted("3"); code(last) != "CeilingReached" || toJSON(last["problem"].(map[string]any)["ceiling"]) != `{"kind":"rounds","limit":12,"observed":13}` {
		t.Errorf("a ceiling: %v", last)
	}
	c.send(`{"id":"4","type":"chat","request":{"text":"GATE-WAIT","conversation_id":"` + id + `"}}`)
	c.next()
	if m := c.next()["event"].(map[string]any); m["type"] != "working" {
		t.Errorf("%v", m)
	}
	c.send(`{"id":"stop","type":"cancel","request":{"target":"4"}}`)
	seen := map[string]string{}
	for len(seen) < 2 {
		if m := c.next(); m["type"] != "event" {
			seen[m["id"].(string)] = toJSON(m["canceled"]) + code(m)
		}
	}
	if seen["stop"] != "true" || seen["4"] != "nullRunCancelled" {
		t.Errorf("canceled by its message: %v", seen)
	}
	for _, want := range []bool{true, false} {
		if want {
			c.send(`{"id":"5","type":"chat","request":{"text":"GATE-RUN","conversation_id":"` + id + `"}}`)
			c.chatted("5")
		}
		c.send(`{"id":"stop","type":"cancel","request":{"conversation_id":"` + id + `"}}`)
		if m := c.next(); m["canceled"] != want {
			t.Errorf("canceling a call that waits: %v, want %v", m, want)
		}
	}
}

// TestChatSubscription: who subscribes to a conversation is told of all its runs, from
// any number on, whoever began them; a client that leaves ends nothing.
func TestChatSubscription(t *testing.T) {
	change, _, _ := chatting(t, chatScript)
	h := start(t, change)
	id, call := h.pendingIn(h.root)
	path := "/v1/conversations/" + id
	c, _ := h.dial(h.root)
	c.send(`{"id":"s","type":"subscribe","request":{"conversation_id":"` + id + `","after":3}}`)
	if m := c.next(); m["type"] != "subscribed" || m["conversation_id"] != id {
		t.Fatalf("%v", m)
	}
	next := func(wants ...string) {
		t.Helper()
		for _, want := range wants {
			m := c.next()
			e, _ := m["event"].(map[string]any)
			if m["type"] != "event" || e["type"] != want {
				t.Fatalf("%v, want %s", m, want)
			}
		}
	}
	for c.next()["event"].(map[string]any)["type"] == "delta" {
	}
	next("tool_pending")
	h.must("POST", path+"/approvals", `{"decision":"approve","call_id":"`+call+`"}`)
	next("tool_result", "working")
	first, n := "", 0.0
	for kind := ""; kind != "done"; {
		m := c.next()
		e := m["event"].(map[string]any)
		if first, kind = m["run_id"].(string), e["type"].(string); n > 0 && e["seq"] != n+1 {
			t.Errorf("%v behind %v", e, n)
		}
		n = e["seq"].(float64)
	}
	d, _ := h.dial(h.root)
	d.send(`{"id":"1","type":"chat","request":{"conversation_id":"` + id + `","text":"GATE-WAIT"}}`)
	next("started", "working")
	if err := d.conn.Close(); err != nil { // leaves without a word
		t.Fatal(err)
	}
	e, _ := h.dial(h.root)
	e.send(`{"id":"live","type":"subscribe","request":{"conversation_id":"` + id + `","after":1}}`)
	if m := e.next(); m["run_id"] == first {
		t.Errorf("subscribed to %v", m)
	}
	if m := e.next()["event"].(map[string]any); m["type"] != "working" {
		t.Errorf("%v", m)
	}
	e.send(`{"id":"old","type":"subscribe","request":{"conversation_id":"` + id + `","run_id":"` + first + `"}}`)
	if m := e.next(); m["run_id"] != first {
		t.Errorf("subscribed to %v, want %s", m, first)
	}
	if a := h.must("GET", path+"/events", ""); a.json["status"] != "running" {
		t.Errorf("a client that left has ended its run: %s", a.body)
	}
	h.must("POST", path+"/cancel", "")
	next("usage", "error")
	for request, want := range map[string]string{
		`{"conversation_id":"nobody"}`: "ConversationNotFound", `{"run_id":"x"}`: "InvalidArgument", `{"conversation_id":"` + id + `","run_id":"nobody"}`: "RunNotFound",
	} {
		c.send(`{"id":"w","type":"subscribe","request":` + request + `}`)
		if m := c.next(); code(m) != want {
			t.Errorf("%s: %v, want %s", request, m, want)
		}
	}
	c.send(`{"id":"x","type":"cancel","request":{"target":"s"}}`)
	seen := ""
	for range 2 {
		seen += code(c.next())
	}
	if seen != "Canceled" && seen != "Deadline" {
		t.Errorf("the subscription ended with %q", seen)
	}
}

// TestS03ChatSocket and those below: attacks of the security list on chats.
func TestS03ChatSocket(t *testing.T) {
	change, g, _ := chatting(t, chatScript)
	h := start(t, change)
	for _, c := range []struct{ secret, origin string }{{h.root, "https://evil.example"}, {h.root, "null"}, {"", ""}, {"", h.url}} {
		ws, res := h.dial(c.secret, func(x http.Header) {
			if c.origin != "" {
				x.Set("Origin", c.origin)
			}
		})
		if ws != nil || res == nil || res.StatusCode != map[bool]int{true: 401, false: 403}[c.secret == ""] {
			t.Errorf("%+v: %v", c, res)
		}
	}
	if n := g.Stats().Requests; n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestS08ClaimedChatScope: a client cannot claim scopes, owners or tools.
func TestS08ClaimedChatScope(t *testing.T) {
	change, g, _ := chatting(t, chatScript)
	h := start(t, change)
	chatter := h.token("chatter", token.Chat)
	c, _ := h.dial(chatter)
	for _, field := range []string{`"scope":"admin"`, `"owner":"root"`, `"without":[]`, `"token":"` + h.root + `"`, `"base_url":"http://evil.example"`, `"model":"other"`, `"workspace":"/"`, `"role":"system"`} {
		if a := h.request(chatter, "POST", "/v1/conversations/new/messages", `{"text":"GATE-RUN",`+field+`}`); a.status != 400 || a.code() != "UnknownField" {
			t.Errorf("%s: %d %s", field, a.status, a.body)
		}
		if a := h.request(chatter, "POST", "/v1/conversations", `{`+field+`}`); a.status != 400 || a.code() != "UnknownField" {
			t.Errorf("%s: %d %s", field, a.status, a.body)
		}
		c.send(`{"id":"1","type":"chat","request":{"text":"GATE-RUN",` + field + `}}`)
		if m := c.next(); code(m) != "UnknownField" {
			t.Errorf("%s: %v", field, m)
		}
	}
	if n := g.Stats().Requests; n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestS09StreamOfARevokedToken: a stream of events ends with its token, its run goes on.
func TestS09StreamOfARevokedToken(t *testing.T) {
	change, _, _ := chatting(t, chatScript)
	h := start(t, change)
	secret := h.token("notes", token.Chat)
	id := h.request(secret, "POST", "/v1/conversations", "{}").json["conversation_id"].(string)
	ended := make(chan error)
	go func() {
		_, err := h.try(secret, "POST", "/v1/conversations/"+id+"/messages", say("GATE-WAIT"), asStream)
		ended <- err
	}()
	h.until("GET", "/v1/conversations/"+id+"/events", func(a answer) bool { return strings.Contains(a.body, "working") })
	if err := h.tokens.Revoke("notes"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the stream ended as if it were whole")
	}
	if a := h.request(secret, "GET", "/v1/conversations/"+id+"/events", "", asStream); a.status != 401 {
		t.Errorf("a new stream: %d %s", a.status, a.body)
	}
	again := h.token("notes", token.Chat) // the same name is not the same token
	if a := h.request(again, "GET", "/v1/conversations/"+id+"/events", ""); a.status != 404 {
		t.Errorf("by name: %d %s", a.status, a.body)
	}
	if a := h.must("GET", "/v1/conversations/"+id+"/events", ""); a.json["status"] != "running" {
		t.Errorf("%s", a.body)
	}
	fresh, err := h.tokens.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	if a := h.request(fresh, "POST", "/v1/conversations/"+id+"/cancel", ""); a.json["canceled"] != true {
		t.Errorf("canceling it: %d %s", a.status, a.body)
	}
}

// TestS10OthersConversation: the names of another token's conversation, run and call are
// worth nothing, by HTTP and by websocket.
func TestS10OthersConversation(t *testing.T) {
	change, g, _ := chatting(t, chatScript)
	h := start(t, change)
	theirs := h.token("theirs", token.Chat, token.RunCommands, token.Write)
	id, call := h.pendingIn(h.token("mine", token.Chat, token.RunCommands))
	run := h.must("GET", "/v1/conversations/"+id+"/events", "").json["run_id"].(string)
	own, _ := h.pendingIn(theirs)
	asked := g.Stats().Requests
	path := "/v1/conversations/" + id
	for _, c := range []struct{ method, path, body string }{
		{"POST", path + "/messages", say("GATE-PLAIN")},
		{"POST", path + "/approvals", `{"decision":"approve"}`},
		{"POST", path + "/approvals", `{"decision":"deny","call_id":"` + call + `"}`},
		{"GET", path + "/events", ""},
		{"GET", path + "/events?run=" + run, ""},
		{"POST", path + "/cancel", ""},
		{"GET", "/v1/conversations/" + own + "/events?run=" + run, ""},
		{"POST", "/v1/conversations/" + own + "/approvals", `{"decision":"approve","call_id":"` + call + `x"}`},
	} {
		missing := h.request(theirs, c.method, strings.ReplaceAll(c.path, id, "nobody"), c.body)
		if a := h.request(theirs, c.method, c.path, c.body); a.status != 404 || a.code() != missing.code() && c.path[:len(path)] == path {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	ws, _ := h.dial(theirs)
	for _, m := range []string{
		`"chat","request":{"conversation_id":"` + id + `","text":"GATE-PLAIN"}`, `"approve","request":{"conversation_id":"` + id + `","decision":"approve"}`,
		`"subscribe","request":{"conversation_id":"` + id + `"}`, `"cancel","request":{"conversation_id":"` + id + `"}`,
		`"subscribe","request":{"conversation_id":"` + own + `","run_id":"` + run + `"}`,
	} {
		ws.send(`{"id":"x","type":` + m + `}`)
		if got := ws.next(); code(got) != "ConversationNotFound" && code(got) != "RunNotFound" {
			t.Errorf("%s: %v", m, got)
		}
	}
	if a := h.request(theirs, "GET", "/v1/conversations", ""); strings.Contains(a.body, id) || !strings.Contains(a.body, own) {
		t.Errorf("list: %s", a.body)
	}
	if a := h.must("GET", path+"/events", ""); a.json["status"] != "pending" || g.Stats().Requests != asked {
		t.Errorf("something came of it: %s", a.body)
	}
}

// TestS11ReadOnlyChat: tokens that read cannot chat, those that chat cannot run
// statements, and neither can approve what runs commands.
func TestS11ReadOnlyChat(t *testing.T) {
	change, g, _ := chatting(t, chatScript)
	h := start(t, change)
	id, _ := h.pendingIn(h.root)
	asked := g.Stats().Requests
	reader, _ := h.dial(h.token("reader", token.Read, token.RunCommands))
	chatter, _ := h.dial(h.token("chatter", token.Chat))
	keeper, _ := h.dial(h.token("keeper", token.Chat, token.Admin))
	for _, c := range []struct {
		ws      *wsClient
		message string
	}{
		{reader, `"chat","request":{"text":"GATE-PLAIN"}`},
		{reader, `"approve","request":{"conversation_id":"` + id + `","decision":"approve"}`},
		{reader, `"subscribe","request":{"conversation_id":"` + id + `"}`},
		{reader, `"cancel","request":{"conversation_id":"` + id + `"}`},
		{chatter, `"query","request":{"statement":"MATCH (n) RETURN n"}`},
		{chatter, `"recall","request":{"query":"x"}`},
		{chatter, `"subscribe"`},
		{keeper, `"approve","request":{"conversation_id":"` + id + `","decision":"approve"}`},
	} {
		c.ws.send(`{"id":"w","type":` + c.message + `}`)
		if m := c.ws.next(); code(m) != "Forbidden" {
			t.Errorf("%s: %v", c.message, m)
		}
	}
	if a := h.must("GET", "/v1/conversations/"+id+"/events", ""); a.json["status"] != "pending" || g.Stats().Requests != asked {
		t.Errorf("something came of it: %s", a.body)
	}
}

// TestS14SlowChats: clients that take no events are dropped; their runs complete, and
// others are served meanwhile.
func TestS14SlowChats(t *testing.T) {
	long := strings.Repeat("<<<<<<<<< ", 45_000) // several MB of events: more than the system's buffers hold
	change, _, _ := chatting(t, `{"scenarios": [{"marker": "GATE-LONG", "steps": [{"text": "`+long+`"}]}, {"marker": "GATE-PLAIN", "steps": [{"text": "short"}]}]}`, func(o *chatbridge.Options) {
		o.Limits.Tokens = 10_000_000
	})
	h := start(t, change, func(c *server.Config) { c.WriteTimeout = time.Second })
	body := say("GATE-LONG")
	for _, way := range []string{"stream", "websocket"} {
		id := h.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string)
		if way == "stream" {
			c, err := net.Dial("tcp", "127.0.0.1:"+h.port)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(c, "POST /v1/conversations/%s/messages HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				id, h.port, h.root, len(body), body); err != nil {
				t.Fatal(err)
			}
		} else {
			c, _ := h.dial(h.root)
			if err := c.conn.NetConn().(*net.TCPConn).SetReadBuffer(4096); err != nil {
				t.Fatal(err)
			}
			c.send(`{"id":"1","type":"chat","request":{"text":"GATE-LONG","conversation_id":"` + id + `"}}`)
		}
		if a := h.must("POST", "/v1/conversations/new/messages", say("GATE-PLAIN")); a.json["reply"] != "short" {
			t.Errorf("another client: %s", a.body)
		}
		h.until("GET", "/v1/conversations/"+id+"/events?after=1000000", func(a answer) bool { return a.json["run_id"] != nil })
		h.stream(h.root, "GET", "/v1/conversations/"+id+"/events?after=1000000", "") // until it has ended
		if got := h.eql("MATCH (:Conversation {id: '" + id + "'})-[:CONTAINS]->(t:Turn) WHERE t.role = 'assistant' RETURN size(t.text)"); got != fmt.Sprintf("[[%d]]", len(strings.TrimSpace(long))) {
			t.Errorf("%s: the answer that is stored has the size %s", way, got)
		}
	}
	for _, gone := range []string{"engram_event_streams_open 0", "engram_websockets_open 0"} {
		deadline := time.Now().Add(30 * time.Second)
		for !strings.Contains(h.must("GET", "/metrics", "").body, gone) {
			if time.Now().After(deadline) {
				t.Fatalf("a client that takes nothing keeps its connection: not %s", gone)
			}
		}
	}
	if n := strings.Count(h.log.String(), "a stream of events could not be written"); n != 1 {
		t.Errorf("%d streams were cut", n)
	}
}

// TestS15ChatBodies: what is too large or too deep is refused, by HTTP and websocket.
func TestS15ChatBodies(t *testing.T) {
	change, g, _ := chatting(t, chatScript)
	h := start(t, change, func(c *server.Config) { c.MaxBody = 1 << 20 })
	id := h.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string)
	for _, path := range []string{"/v1/conversations/" + id + "/messages", "/v1/conversations/" + id + "/approvals", "/v1/conversations"} {
		for name, c := range map[string]struct {
			body   string
			status int
			change func(*http.Request)
		}{
			"large":           {say(strings.Repeat("a", 2<<20)), 413, header("X", "y")},
			"large in chunks": {say(strings.Repeat("a", 2<<20)), 413, func(r *http.Request) { r.ContentLength = -1 }},
			"packed":          {"{}", 415, header("Content-Encoding", "gzip")},
			"deep":            {`{"text":` + strings.Repeat("[", 500_000), 400, header("X", "y")},
			"half":            {`{"text":"a`, 400, header("X", "y")},
		} {
			a, err := h.try(h.root, "POST", path, c.body, c.change)
			if err != nil && c.status == 413 {
				continue // cut off before the client had sent it all
			}
			if err != nil || a.status != c.status {
				t.Errorf("%s %s: %d %.300s %v, want %d", path, name, a.status, a.body, err, c.status)
			}
		}
	}
	for name, body := range map[string]string{"many keys": `{"text":{"a":1` + strings.Repeat(`,"b":1`, 60_000) + `}}`, "another kind": `{"text":["GATE-PLAIN"]}`, "null": `{"text":null}`} {
		if a := h.request(h.root, "POST", "/v1/conversations/"+id+"/messages", body); a.status != 400 {
			t.Errorf("%s: %d %.300s", name, a.status, a.body)
		}
	}
	c, _ := h.dial(h.root)
	c.send(`{"id":"1","type":"chat","request":{"text":` + strings.Repeat("[", 400_000) + `}}`)
	if m := c.next(); code(m) == "" {
		t.Errorf("deep: %v", m)
	}
	if n := g.Stats().Requests; n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestS16ChatKeys: keys that two readers might read differently are refused.
func TestS16ChatKeys(t *testing.T) {
	change, g, workspace := chatting(t, chatScript)
	h := start(t, change)
	id, _ := h.pendingIn(h.root)
	asked := g.Stats().Requests
	c, _ := h.dial(h.root)
	for body, want := range map[string]string{
		`{"decision":"deny","decision":"approve"}`: "DuplicateKey", `{"decision":"deny","Decision":"approve"}`: "UnknownField", `{"deci\u017fion":"approve","decision":"deny"}`: "UnknownField",
		`{"decision\u0000":"deny","decision":"approve"}`: "UnknownField", `{"decision":"approve","call_id":"x","call_\u0069d":"y"}`: "DuplicateKey", `{"decision":"APPROVE"}`: "InvalidArgument",
	} {
		if a := h.request(h.root, "POST", "/v1/conversations/"+id+"/approvals", body); a.status != 400 || a.code() != want {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, want)
		}
		c.send(`{"id":"1","type":"approve","request":` + strings.Replace(body, "{", `{"conversation_id":"`+id+`",`, 1) + `}`)
		if m := c.next(); code(m) != want {
			t.Errorf("%s: %v, want %s", body, m, want)
		}
	}
	for _, body := range []string{`{"text":"hello","text":"GATE-PLAIN"}`, `{"text":"hello","Text":"GATE-PLAIN"}`, `{"text":"hello","no_tools":true,"no_tools":false}`} {
		if a := h.request(h.root, "POST", "/v1/conversations/new/messages", body); a.status != 400 {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if _, err := os.Stat(filepath.Join(workspace, "made")); err == nil || g.Stats().Requests != asked {
		t.Error("something came of it")
	}
}
