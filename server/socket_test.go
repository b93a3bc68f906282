package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"engram/server"
	"engram/server/token"

	"github.com/gorilla/websocket"
)

// wsClient is a websocket of a test.
type wsClient struct {
	t    *testing.T
	conn *websocket.Conn
}

// dial opens a websocket, or returns the answer that refused it.
func (h *harness) dial(secret string, change ...func(http.Header)) (*wsClient, *http.Response) {
	h.t.Helper()
	header := http.Header{}
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	for _, fn := range change {
		fn(header)
	}
	conn, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+"/v1/ws", header)
	if err != nil {
		return nil, res
	}
	h.t.Cleanup(func() { _ = conn.Close() }) // the test may have closed it
	return &wsClient{h.t, conn}, res
}

func (c *wsClient) send(message string) {
	c.t.Helper()
	if err := c.conn.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		c.t.Fatal(err)
	}
}

// next reads a message.
func (c *wsClient) next() map[string]any {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		c.t.Fatal(err)
	}
	_, data, err := c.conn.ReadMessage()
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		c.t.Fatalf("%s: %v", data, err)
	}
	return out
}

// answer reads the messages of one id, until the last one.
func (c *wsClient) answer(id string) (rows []any, last map[string]any) {
	c.t.Helper()
	for {
		m := c.next()
		if m["id"] != id {
			c.t.Fatalf("a message of another: %v", m)
		}
		switch m["type"] {
		case "rows":
			rows = append(rows, m["rows"].([]any)...)
		case "columns":
		default:
			return rows, m
		}
	}
}

func code(m map[string]any) string {
	p, _ := m["problem"].(map[string]any)
	s, _ := p["code"].(string)
	return s
}

func TestSocketStatements(t *testing.T) {
	h := start(t)
	c, _ := h.dial(h.root)
	c.send(`{"id":"1","type":"query","request":{"statement":"CREATE (n:N {id: $id}) RETURN n.id, n","parameters":{"id":"a"}}}`)
	rows, last := c.answer("1")
	if toJSON(rows) != `[["a",{"id":"a","labels":["N"],"properties":{"id":"a"}}]]` || last["type"] != "summary" {
		t.Errorf("%v, %v", rows, last)
	}
	if n := last["summary"].(map[string]any)["counters"].(map[string]any)["nodes_created"]; n != 1.0 {
		t.Errorf("counters: %v", last)
	}
	for range 2 {
		c.send(`{"id":"k","type":"query","request":{"statement":"CREATE (:Once)","idempotency_key":"x"}}`)
		c.answer("k")
	}
	if got := h.eql("MATCH (n:Once) RETURN count(n)"); got != "[[1]]" {
		t.Errorf("once: %s", got)
	}
	h.must("POST", "/v1/remember", `{"text":"Ann moved to Lisbon","id":"m"}`)
	c.send(`{"id":"2","type":"recall","request":{"query":"Lisbon"}}`)
	if rows, last = c.answer("2"); len(rows) != 1 || last["type"] != "summary" || rows[0].([]any)[0].(map[string]any)["id"] != "m" {
		t.Errorf("%v, %v", rows, last)
	}
	c.send(`{"id":"3","type":"query","request":{"statement":"UNWIND range(1, 20000) AS x RETURN x, 'some text'"}}`)
	if rows, last = c.answer("3"); len(rows) != 20000 || last["type"] != "summary" || toJSON(rows[19999]) != `[20000,"some text"]` {
		t.Errorf("%d rows, %v", len(rows), last)
	}
	for message, want := range map[string]string{
		`{"id":"e","type":"query","request":{"statement":"RETURN nosuch"}}`:          "SyntaxError",
		`{"id":"e","type":"query","request":{"statement":"RETURN 1","foo":1}}`:       "UnknownField",
		`{"id":"e","type":"query","request":{"statement":"RETURN 1"},"Type":"x"}`:    "UnknownField",
		`{"id":"e","type":"query","type":"cancel"}`:                                  "DuplicateKey",
		`{"id":"e","type":"dance"}`:                                                  "InvalidArgument",
		`{"type":"query"}`:                                                           "InvalidArgument",
		`{"id":"e","type":"query"}`:                                                  "InvalidArgument",
		`{"id":"e","type":"recall","request":{"query":"x","from":["nobody"]}}`:       "NodeNotFound",
		`{"id":"e","type":"subscribe","request":{"after":1000000}}`:                  "InvalidArgument",
		`{"id":"e","type":"query","request":{"statement":"RETURN 1","mode":"wild"}}`: "InvalidArgument",
		`nonsense`: "InvalidJSON",
	} {
		c.send(message)
		if m := c.next(); m["type"] != "error" || code(m) != want {
			t.Errorf("%s: %v, want %s", message, m, want)
		}
	}
}

// TestSocketManyAtOnce: statements overtake each other; one that is canceled ends
// without the others.
func TestSocketManyAtOnce(t *testing.T) {
	h := start(t)
	c, _ := h.dial(h.root)
	c.send(`{"id":"slow","type":"query","request":{"statement":"UNWIND range(1, 30000) AS x UNWIND range(1, 30000) AS y RETURN count(*)"}}`)
	c.send(`{"id":"slow","type":"query","request":{"statement":"RETURN 1"}}`)
	if m := c.next(); m["id"] != "slow" || code(m) != "InvalidArgument" {
		t.Errorf("the same id twice: %v", m)
	}
	c.send(`{"id":"quick","type":"query","request":{"statement":"RETURN 1"}}`)
	if rows, last := c.answer("quick"); toJSON(rows) != "[[1]]" || last["type"] != "summary" {
		t.Errorf("%v %v", rows, last)
	}
	c.send(`{"id":"stop","type":"cancel","request":{"target":"slow"}}`)
	seen := map[string]map[string]any{}
	for range 2 {
		m := c.next()
		seen[m["id"].(string)] = m
	}
	if seen["stop"]["canceled"] != true || code(seen["slow"]) != "Canceled" {
		t.Errorf("%v", seen)
	}
	for i := range 33 {
		c.send(fmt.Sprintf(`{"id":"s%d","type":"query","request":{"statement":"UNWIND range(1, 30000) AS x UNWIND range(1, 30000) AS y RETURN count(*)"}}`, i))
	}
	if m := c.next(); m["id"] != "s32" || code(m) != "RateLimited" {
		t.Errorf("too many: %v", m)
	}
}

func TestSocketSubscription(t *testing.T) {
	h := start(t)
	c, _ := h.dial(h.token("reader", token.Read))
	c.send(`{"id":"sub","type":"subscribe"}`)
	at := c.next()
	if at["type"] != "subscribed" {
		t.Fatalf("%v", at)
	}
	h.must("POST", "/v1/query", `{"statement":"CREATE (a:A {id: 'a'})-[:R {id: 'r'}]->(b:B {id: 'b'})"}`)
	m := c.next()
	seq := m["seq"].(float64)
	delete(m, "seq")
	if got := toJSON(m); got != `{"edges_created":[{"end":"b","id":"r","start":"a","type":"R"}],"id":"sub","nodes_created":[{"id":"a","labels":["A"]},{"id":"b","labels":["B"]}],"type":"change"}` {
		t.Errorf("%s", got)
	}
	h.must("POST", "/v1/query", `{"statement":"MATCH (a:A) DETACH DELETE a"}`)
	if m := c.next(); m["nodes_deleted"] != 1.0 || m["seq"].(float64) <= seq {
		t.Errorf("%v", m)
	}
	d, _ := h.dial(h.root)
	d.send(fmt.Sprintf(`{"id":"old","type":"subscribe","request":{"after":%d}}`, int(at["seq"].(float64))))
	d.next()
	if m := d.next(); m["seq"].(float64) != seq || toJSON(m["nodes_created"]) != `[{"id":"b","labels":["B"]}]` {
		t.Errorf("from before, with what is gone: %v", m)
	}
	c.send(`{"id":"x","type":"cancel","request":{"target":"sub"}}`)
	ended := false
	for range 2 {
		m := c.next()
		ended = ended || m["id"] == "sub" && code(m) == "Canceled"
	}
	if !ended {
		t.Error("the subscription did not end")
	}
}

// TestS03Sockets: other pages' websockets, and those without a token, are refused
// before the upgrade.
func TestS03Sockets(t *testing.T) {
	h := start(t, func(c *server.Config) { c.MaxSockets = 3 })
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	for name, c := range map[string]struct {
		secret string
		change func(http.Header)
		status int
	}{
		"another page":       {h.root, set("Origin", "https://evil.example"), 403},
		"a sandboxed page":   {h.root, set("Origin", "null"), 403},
		"rebinding":          {h.root, func(x http.Header) { x.Set("Host", "evil.example"); x.Set("Origin", "http://evil.example") }, 403},
		"no token":           {"", set("X", "y"), 401},
		"no token, own page": {"", set("Origin", h.url), 401},
		"a wrong token":      {"engram_x", set("X", "y"), 401},
		"no scope for it":    {h.token("runner", token.RunCommands), set("X", "y"), 403},
	} {
		if ws, res := h.dial(c.secret, c.change); ws != nil || res == nil || res.StatusCode != c.status {
			t.Errorf("%s: %v, want %d", name, res, c.status)
		}
	}
	if a := h.request(h.root, "GET", "/v1/ws", ""); a.status != http.StatusUpgradeRequired || a.code() != "UpgradeRequired" {
		t.Errorf("no upgrade: %d %s", a.status, a.body)
	}
	for i := range 4 {
		if ws, res := h.dial(h.root, set("Origin", h.url)); (ws != nil) != (i < 3) || i == 3 && res.StatusCode != 429 {
			t.Errorf("websocket %d: %v", i, res)
		}
	}
}

// TestS09SocketOfARevokedToken: a websocket ends when its token does.
func TestS09SocketOfARevokedToken(t *testing.T) {
	h := start(t)
	c, _ := h.dial(h.token("notes", token.Read))
	other, _ := h.dial(h.root)
	if err := h.tokens.Revoke("notes"); err != nil {
		t.Fatal(err)
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _, err := c.conn.ReadMessage()
	if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("the websocket of a token that ended: %v", err)
	}
	other.send(`{"id":"1","type":"query","request":{"statement":"RETURN 1"}}`)
	if rows, _ := other.answer("1"); toJSON(rows) != "[[1]]" {
		t.Errorf("another's: %v", rows)
	}
}

// TestS11ReadOnlySocket: a websocket of a token that reads cannot write.
func TestS11ReadOnlySocket(t *testing.T) {
	h := start(t)
	c, _ := h.dial(h.token("reader", token.Read))
	for request, want := range map[string]string{
		`{"statement":"CREATE (:Evil)"}`:                                          "ReadOnly",
		`{"statement":"CREATE (:Evil)","mode":"write"}`:                           "Forbidden",
		`{"statement":"CREATE (:Evil)","idempotency_key":"k"}`:                    "ReadOnly",
		`{"statement":"UNWIND [1] AS x CALL { CREATE (:Evil) } IN TRANSACTIONS"}`: "ReadOnly",
		`{"statement":"PROFILE CREATE (:Evil)"}`:                                  "ReadOnly",
		`{"statement":"RECALL 'x' REINFORCE"}`:                                    "ReadOnly",
		`{"statement":"/* MATCH */ CREATE (:Evil) // RETURN"}`:                    "ReadOnly",
		`{"statement":"MATCH (n) RETURN n","scope":"write"}`:                      "UnknownField",
		`{"statement":"MATCH (n) FOREACH (x IN [1] | CREATE (:Evil)) RETURN n"}`:  "ReadOnly",
		`{"statement":"RETURN 1; CREATE (:Evil)"}`:                                "SyntaxError",
		`{"statement":"FOREACH (x IN [1] | CREATE (:Evil))"}`:                     "ReadOnly",
		`{"statement":"BEGIN"}`:                                                   "NotSupported",
		`{"statement":"\u0043REATE (:Evil)"}`:                                     "ReadOnly",
	} {
		c.send(`{"id":"w","type":"query","request":` + request + `}`)
		if m := c.next(); code(m) == "" || code(m) != want && !strings.HasSuffix(code(m), "Error") {
			t.Errorf("%s: %v, want %s", request, m, want)
		}
	}
	c.send(`{"id":"w","type":"recall","request":{"query":"x","reinforce":true}}`)
	if m := c.next(); code(m) != "Forbidden" {
		t.Errorf("reinforce: %v", m)
	}
	if got := h.eql("MATCH (n) RETURN count(n)"); got != "[[0]]" {
		t.Errorf("nodes: %s", got)
	}
}

// TestS14SlowSocket: a client that takes nothing is dropped, and a message that is
// too long ends the websocket.
func TestS14SlowSocket(t *testing.T) {
	h := start(t, func(c *server.Config) { c.WriteTimeout = time.Second })
	c, _ := h.dial(h.root)
	c.send(`{"id":"1","type":"query","request":{"statement":"UNWIND range(1, 400000) AS x RETURN x, 'a text that takes some room'"}}`)
	deadline := time.Now().Add(60 * time.Second)
	for strings.Contains(h.must("GET", "/metrics", "").body, "engram_websockets_open 1") {
		if time.Now().After(deadline) {
			t.Fatal("a client that takes nothing keeps its websocket")
		}
		h.eql("RETURN 1")
	}
	d, _ := h.dial(h.root)
	before := heap()
	w, err := d.conn.NextWriter(websocket.TextMessage)
	if err != nil {
		t.Fatal(err)
	}
	piece := []byte(strings.Repeat("a", 64<<10))
	for range 3200 { // 200 MB in fragments
		if _, err = w.Write(piece); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("200 MB in one message were taken")
	}
	if after := heap(); after > before+16<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}
