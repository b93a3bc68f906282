package embedder

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	_ Embedder = (*Builtin)(nil)
	_ Embedder = (*Remote)(nil)
)

// seen is one request as an endpoint saw it.
type seen struct {
	Path, Auth string
	Body       map[string]any
}

// endpoint answers with what answer returns for the texts of each request.
func endpoint(t *testing.T, answer func(texts []string) (int, string)) (url string, requests *[]seen) {
	t.Helper()
	requests = &[]seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s := seen{Path: r.Method + " " + r.URL.Path, Auth: r.Header.Get("Authorization")}
		var input struct{ Input []string }
		if err := errors.Join(json.Unmarshal(raw, &s.Body), json.Unmarshal(raw, &input)); err != nil {
			t.Errorf("request %s: %v", raw, err)
		}
		*requests = append(*requests, s)
		status, text := answer(input.Input)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// lengths makes vectors of the texts' lengths, last one first.
func lengths(texts []string) (int, string) {
	var data []map[string]any
	for i, s := range slices.Backward(texts) {
		data = append(data, map[string]any{"index": i, "embedding": []int{len(s), 1}})
	}
	out, _ := json.Marshal(map[string]any{"object": "list", "data": data})
	return 200, string(out)
}

func TestOpenAI(t *testing.T) {
	url, requests := endpoint(t, lengths)
	e, err := NewOpenAI(Options{URL: url + "/v1/", Model: "m-small", Key: "secret", Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	if e.Model() != "openai:m-small" || e.Dim() != 0 {
		t.Errorf("%s, %d dimensions before the first answer", e.Model(), e.Dim())
	}
	got, err := e.Embed(context.Background(), []string{"a", " ", "ccc", "", "é\xff", "ffff"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 1}, nil, {3, 1}, nil, {5, 1}, {4, 1}}, got); diff != "" {
		t.Error(diff)
	}
	want := []seen{
		{"POST /v1/embeddings", "Bearer secret", map[string]any{"model": "m-small", "input": []any{"a", "ccc"}, "encoding_format": "float"}},
		{"POST /v1/embeddings", "Bearer secret", map[string]any{"model": "m-small", "input": []any{"é\uFFFD", "ffff"}, "encoding_format": "float"}},
	}
	if diff := cmp.Diff(want, *requests); diff != "" {
		t.Error(diff)
	}
	if e.Dim() != 2 {
		t.Errorf("%d dimensions, want 2", e.Dim())
	}
}

func TestOllama(t *testing.T) {
	url, requests := endpoint(t, func([]string) (int, string) { return 200, `{"model":"n","embeddings":[[1,2,3],[4,5,6]]}` })
	e, err := NewOllama(Options{URL: url, Model: "n", Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(context.Background(), []string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 2, 3}, {4, 5, 6}}, got); diff != "" {
		t.Error(diff)
	}
	want := []seen{{"POST /api/embed", "", map[string]any{"model": "n", "input": []any{"x", "y"}, "dimensions": 3.0}}}
	if diff := cmp.Diff(want, *requests); diff != "" {
		t.Error(diff)
	}
	if e.Model() != "ollama:n:3" || e.Dim() != 3 {
		t.Errorf("%s, %d dimensions", e.Model(), e.Dim())
	}
}

// TestDimensionsStay refuses an endpoint that answers with another model's vectors.
func TestDimensionsStay(t *testing.T) {
	answer := `{"embeddings":[[1,2]]}`
	url, _ := endpoint(t, func([]string) (int, string) { return 200, answer })
	e, err := NewOllama(Options{URL: url, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(context.Background(), []string{"a"}); err != nil || e.Dim() != 2 {
		t.Fatalf("%v, %d dimensions", err, e.Dim())
	}
	answer = `{"embeddings":[[1,2,3]]}`
	if _, err := e.Embed(context.Background(), []string{"a"}); err == nil || e.Dim() != 2 {
		t.Errorf("%v, %d dimensions", err, e.Dim())
	}
}

func TestNothingToSend(t *testing.T) {
	url, requests := endpoint(t, lengths)
	e, err := NewOpenAI(Options{URL: url, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][]string{nil, {"", "\n"}} {
		if got, err := e.Embed(context.Background(), texts); err != nil || len(got) != len(texts) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if len(*requests) != 0 {
		t.Errorf("%d requests", len(*requests))
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		status    int
		body      string
		message   string
		temporary bool
	}{
		{401, `{"error":{"message":"bad key secret given","type":"auth"}}`, "refused with status 401: bad key (key) given", false},
		{404, `{"error":"model \"m\" not found, try pulling it"}`, `refused with status 404: model "m" not found, try pulling it`, false},
		{429, "slow\r\n\x1b[31mdown", "refused with status 429: slow [31mdown", true},
		{503, strings.Repeat("x", 1000), "refused with status 503: " + strings.Repeat("x", 300) + "…", true},
	}
	for _, test := range tests {
		url, _ := endpoint(t, func([]string) (int, string) { return test.status, test.body })
		e, err := NewOpenAI(Options{URL: url, Model: "m", Key: "secret"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Embed(context.Background(), []string{"a"})
		var refused *Error
		if !errors.As(err, &refused) || refused.Temporary() != test.temporary || refused.RetryAfter != 7 {
			t.Errorf("%d: %#v", test.status, err)
			continue
		}
		if want := "embedder openai:m: " + test.message; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

func TestUselessAnswers(t *testing.T) {
	for name, body := range map[string]string{
		"no JSON":          "<html>",
		"too few":          `{"data":[{"index":0,"embedding":[1]}]}`,
		"index twice":      `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"index beyond":     `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`,
		"no vector":        `{"data":[{"index":0,"embedding":[1]},{"index":1}]}`,
		"empty vector":     `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[]}]}`,
		"other dimensions": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
		"zero":             `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[0]}]}`,
		"out of range":     `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1e99]}]}`,
		"too long":         strings.Repeat(" ", 2<<20) + "{}",
	} {
		url, _ := endpoint(t, func([]string) (int, string) { return 200, body })
		e, err := NewOpenAI(Options{URL: url, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Embed(context.Background(), []string{"a", "b"})
		var useless *Error
		if got != nil || !errors.As(err, &useless) || useless.Temporary() || !strings.Contains(err.Error(), "the answer is of no use") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if e.Dim() != 0 {
			t.Errorf("%s: taken as having %d dimensions", name, e.Dim())
		}
	}
}

func TestUnreachableAndCancelled(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	e, err := NewOllama(Options{URL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(context.Background(), []string{"a"}); err == nil || !strings.HasPrefix(err.Error(), "embedder ollama:m: ") {
		t.Errorf("unreachable: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{}, {Model: "m", URL: "ftp://host"}, {Model: "m", URL: "localhost:1"}, {Model: "m", URL: "http://"}, {Model: "m", URL: "http://h\x00"}, {Model: "m", Dim: -1}, {Model: "m", Dim: 5000},
	} {
		if _, err := NewOpenAI(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	e, err := NewOpenAI(Options{Model: "m", Dim: 256, Name: "mine"})
	if err != nil || e.Model() != "mine" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestBuiltin(t *testing.T) {
	e, err := NewBuiltin()
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Embed(context.Background(), []string{"a dog", "xyzzyxyz", "the dog"})
	if err != nil || len(got) != 3 || len(got[0]) != e.Dim() || got[1] != nil {
		t.Fatalf("%v, %v", got, err)
	}
	if !strings.HasPrefix(e.Model(), "builtin-words-64-") {
		t.Errorf("model %s", e.Model())
	}
}
