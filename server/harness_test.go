package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"engram"
	"engram/server"
	"engram/server/token"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

// harness is a server on a port of this machine, with one namespace.
type harness struct {
	t        *testing.T
	dir      string
	registry *server.Registry
	server   *server.Server
	tokens   *token.Store
	root     string // the token that may do everything
	url      string
	port     string
	client   *http.Client
	log      *syncBuffer
}

// start runs a server until the test ends.
func start(t *testing.T, change ...func(*server.Config)) *harness {
	t.Helper()
	return startWith(t, server.RegistryOptions{}, change...)
}

// startWith is start with a registry of a kind.
func startWith(t *testing.T, o server.RegistryOptions, change ...func(*server.Config)) *harness {
	t.Helper()
	return startAt(t, filepath.Join(t.TempDir(), "data"), o, change...)
}

// startAt is startWith on a directory, which may hold something.
func startAt(t *testing.T, dir string, o server.RegistryOptions, change ...func(*server.Config)) *harness {
	t.Helper()
	o.Create = true
	h := &harness{t: t, dir: dir, log: &syncBuffer{}}
	var err error
	if h.registry, err = server.OpenRegistry(h.dir, o); err != nil {
		t.Fatal(err)
	}
	if err := h.registry.Create(server.DefaultNamespace); err != nil && !engram.IsCode(err, engram.CodeExists) {
		t.Fatal(err)
	}
	h.tokens = token.Open(h.dir, nil)
	if h.root, err = h.tokens.Ensure(); err != nil {
		t.Fatal(err)
	}
	config := server.Config{
		Tokens: h.tokens, Version: "test", BackupDir: filepath.Join(t.TempDir(), "backups"),
		Log: slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, fn := range change {
		fn(&config)
	}
	if h.server, err = server.New(h.registry, config); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, h.port, _ = net.SplitHostPort(l.Addr().String())
	h.url = "http://" + l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- h.server.Serve(l) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	h.client = &http.Client{Transport: transport, Timeout: time.Minute}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := h.server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := h.registry.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return h
}

// token makes a named token.
func (h *harness) token(name string, scopes ...token.Scope) string {
	h.t.Helper()
	secret, err := h.tokens.Create(token.Spec{Name: name, Scopes: scopes})
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	json   map[string]any // of an object
}

// code is the code of a problem.
func (a answer) code() string { s, _ := a.json["code"].(string); return s }

// request sends one request; change may alter it before.
func (h *harness) request(secret, method, path, body string, change ...func(*http.Request)) answer {
	h.t.Helper()
	a, err := h.try(secret, method, path, body, change...)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (h *harness) try(secret, method, path, body string, change ...func(*http.Request)) (answer, error) {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, h.url+path, r)
	if err != nil {
		return answer{}, err
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, fn := range change {
		fn(req)
	}
	res, err := h.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	out, err := answerOf(res)
	if out.status >= 400 && out.code() != "" && h.server.Undocumented(req.Method, req.URL.Path, out.status, out.code()) {
		h.t.Errorf("%s %s: the OpenAPI document does not list %d %s", req.Method, req.URL.Path, out.status, out.code())
	}
	return out, err
}

// answerOf reads an answer.
func answerOf(res *http.Response) (answer, error) {
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	out := answer{status: res.StatusCode, header: res.Header, body: string(content)}
	_ = json.Unmarshal(content, &out.json) // lists and lines stay text
	return out, err
}

// must is request by the root token that has to succeed.
func (h *harness) must(method, path, body string, change ...func(*http.Request)) answer {
	h.t.Helper()
	a := h.request(h.root, method, path, body, change...)
	if a.status != http.StatusOK {
		h.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// eql runs a statement by HTTP and returns its rows as JSON.
func (h *harness) eql(statement string) string {
	h.t.Helper()
	a := h.must("POST", "/v1/query", toJSON(map[string]any{"statement": statement}))
	return toJSON(a.json["rows"])
}

func toJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// syncBuffer is a buffer that a logger and a test share.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
