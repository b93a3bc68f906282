package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"engram/server"
	"engram/server/mcp"
	"engram/server/token"
)

// mcpServer is a server of HTTP with MCP on a port of this machine.
type mcpServer struct {
	t      *testing.T
	dir    string
	url    string
	tokens *token.Store
	hub    *mcp.Hub
	log    lockedBuffer
}

func serveMCP(t *testing.T) *mcpServer {
	t.Helper()
	h := &mcpServer{t: t, dir: t.TempDir() + "/data"}
	r, err := server.OpenRegistry(h.dir, server.RegistryOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"default", "other"} {
		if err := r.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	h.tokens, h.hub = token.Open(h.dir, nil), mcpHub(r)
	log := slog.New(slog.NewJSONHandler(&h.log, nil))
	h.hub.Written = auditMCP(log)
	s, err := server.New(r, server.Config{Tokens: h.tokens, MCP: mcpHandler(h.hub), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.url = "http://" + l.Addr().String() + "/mcp"
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for _, err := range []error{s.Shutdown(ctx), <-served, r.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return h
}

func (h *mcpServer) token(spec token.Spec) string {
	h.t.Helper()
	secret, err := h.tokens.Create(spec)
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// bearer puts a token on requests.
type bearer string

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(req)
}

func (h *mcpServer) connect(secret, query string) (*sdk.ClientSession, error) {
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(h.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: h.url + query, HTTPClient: &http.Client{Transport: bearer(secret)}, MaxRetries: -1,
	}, nil)
	if err == nil {
		h.t.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func (h *mcpServer) post(secret, query, body string, change func(*http.Request), look ...func(*http.Response)) (int, string) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+query, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	for _, fn := range look {
		fn(res)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// TestMCPOverHTTP holds what tokens may do: a reading one sees no tool that writes
// and can call none.
func TestMCPOverHTTP(t *testing.T) {
	h := serveMCP(t)
	write := h.token(token.Spec{Name: "w", Scopes: []token.Scope{token.Write}})
	read := h.token(token.Spec{Name: "r", Scopes: []token.Scope{token.Read}})
	bound := h.token(token.Spec{Name: "b", Scopes: []token.Scope{token.Write}, Namespaces: []string{"other"}})

	writer, err := h.connect(write, "?tools=all")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for tool, err := range writer.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if len(names) != len(mcp.ToolNames()) {
		t.Errorf("a writer sees %d tools of %d", len(names), len(mcp.ToolNames()))
	}
	remember := func(s *sdk.ClientSession, content string) error {
		_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "remember", Arguments: map[string]any{"content": content}})
		return err
	}
	if err := remember(writer, "Ann moved to Lisbon"); err != nil {
		t.Error(err)
	}
	reader, err := h.connect(read, "?tools=all")
	if err != nil {
		t.Fatal(err)
	}
	for tool, err := range reader.Tools(t.Context(), nil) {
		if err != nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("a reader sees %v: %v", tool, err)
		}
	}
	if err := remember(reader, "evil"); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a reader remembers: %v", err)
	}
	res, err := reader.CallTool(t.Context(), &sdk.CallToolParams{Name: "recall", Arguments: map[string]any{"query": "Lisbon"}})
	if err != nil || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, "Ann moved to Lisbon") {
		t.Errorf("a reader recalls %v: %v", res, err)
	}
	if _, err := h.connect(bound, ""); err == nil {
		t.Error("a token of one namespace uses another")
	}
	other, err := h.connect(bound, "?namespace=other")
	if err != nil {
		t.Fatal(err)
	}
	res, err = other.CallTool(t.Context(), &sdk.CallToolParams{Name: "recall", Arguments: map[string]any{"query": "Lisbon"}})
	if err != nil || res.Content[0].(*sdk.TextContent).Text != "Nothing comes to mind." {
		t.Errorf("another namespace recalls %v: %v", res, err)
	}
}

// TestMCPRefusals holds what does not get as far as MCP.
func TestMCPRefusals(t *testing.T) {
	h := serveMCP(t)
	secret := h.token(token.Spec{Name: "w", Scopes: []token.Scope{token.Write}})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"content":"evil"}}}`
	for _, c := range []struct {
		what, secret, query, body string
		change                    func(*http.Request)
		status                    int
		says                      string
	}{
		{"no token", "", "", call, nil, 401, "token"},
		{"a wrong token", "x", "", call, nil, 401, "token"},
		{"another host", secret, "", call, func(r *http.Request) { r.Host = "evil.example" }, 403, "Host"},
		{"another origin", secret, "", call, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "rigin"},
		{"a form", secret, "", call, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, ""},
		{"a namespace that is not there", secret, "?namespace=zz", call, nil, 404, "there is no namespace zz"},
		{"a tool that is not there", secret, "?tools=zz", call, nil, 400, `there is no tool \"zz\"`},
		{"a parameter that is not there", secret, "?zz=1", call, nil, 400, "zz"},
		{"a key twice", secret, "", strings.Replace(call, `"id":1`, `"id":1,"id":2`, 1), nil, 400, `the key \"id\" is given twice`},
		{"a key in another case", secret, "", strings.Replace(call, `"name":"remember"`, `"name":"recall","Name":"remember"`, 1), nil, 400, "differ only in case"},
		{"a long s", secret, "", strings.Replace(call, `"params":{`, `"params":{},"paramſ":{`, 1), nil, 400, "differ only in case"},
		{"half a message", secret, "", call[:40], nil, 400, "no JSON"},
		{"deep JSON", secret, "", `{"a":` + strings.Repeat("[", 1_000_000), nil, 400, "nested deeper than 100"},
		{"a large message", secret, "", `{"a":"` + strings.Repeat("x", 17<<20) + `"}`, nil, 413, ""},
	} {
		status, text := h.post(c.secret, c.query, c.body, c.change)
		if status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %.300s", c.what, status, text)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		status, _ := h.post(secret, "", "", func(r *http.Request) { r.Method = method; r.Body = nil; r.ContentLength = 0 })
		if status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, status)
		}
		if status, _ := h.post("", "", "", func(r *http.Request) { r.Method = method; r.Body = nil; r.ContentLength = 0 }); status != 401 {
			t.Errorf("%s without a token: %d", method, status)
		}
	}
	s, err := h.hub.Server("default", false, mcp.Options{})
	if err != nil || len(s.Tools()) == 0 {
		t.Fatal(err)
	}
	db, release, err := h.hub.Acquire("default", false)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if res, err := db.Query(t.Context(), "MATCH (n) RETURN count(n)", nil); err != nil || res.Rows[0][0].AsInt() != 0 {
		t.Errorf("evil is stored: %v, %v", res, err)
	}
}

// TestMCPBesideServe holds that engramd mcp uses a directory that engramd serve has.
func TestMCPBesideServe(t *testing.T) {
	h := serveMCP(t)
	stop := shareMCP(&app{ctx: t.Context(), data: h.dir}, h.hub, slog.New(slog.DiscardHandler))
	c := startMCP(t, "beside", h.dir, "--namespace", "other")
	if err := c.plan(t.Context(), 0, 3, nil); err != nil {
		t.Error(err)
	}
	if err := c.session.Close(); err != nil {
		t.Error(err)
	}
	stop()
	db, release, err := h.hub.Acquire("other", false)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if res, err := db.Query(t.Context(), "MATCH (w:BacklogItem) RETURN count(w)", nil); err != nil || res.Rows[0][0].AsInt() != 3 {
		t.Errorf("%v, %v", res, err)
	}
}
