package tracing_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/server"
	"engram/server/token"
	"engram/server/tracing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

// TestSpans: a collector is told of a request, below the span that the client named,
// and of nothing that is content or secret.
func TestSpans(t *testing.T) {
	var mu sync.Mutex
	var got bytes.Buffer
	var paths []string
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&got, r.Body) // a short read shows below
		paths = append(paths, r.URL.Path)
	}))
	defer collector.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tracer, err := tracing.New(ctx, tracing.Options{URL: collector.URL, Version: "v9"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	r, err := server.OpenRegistry(dir, server.RegistryOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Create("default"); err != nil {
		t.Fatal(err)
	}
	tokens := token.Open(dir, nil)
	secret, err := tokens.Ensure()
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(r, server.Config{Tokens: tokens, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, body := range []string{`{"text":"canary content"}`, `{"text":""}`} {
		req, err := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/v1/remember", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only read
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := tracer.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(paths) == 0 || paths[0] != "/v1/traces" {
		t.Errorf("paths: %v", paths)
	}
	for _, word := range []string{"POST /v1/remember", "engramd", "v9", "http.response.status_code", "root", "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"} {
		if !strings.Contains(got.String(), word) {
			t.Errorf("the collector was not told %q", word)
		}
	}
	for _, word := range []string{"canary", secret, dir} {
		if strings.Contains(got.String(), word) {
			t.Errorf("the collector was told %q", word)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, u := range []string{"", "stdout", "console", "127.0.0.1:4318", "ftp://x", "http://", "http://a:b@c", "http://x?y=z", "file:///tmp/x"} {
		if _, err := tracing.New(context.Background(), tracing.Options{URL: u}); err == nil {
			t.Errorf("%q is taken", u)
		}
	}
}
