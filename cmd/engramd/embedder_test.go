package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// endpoint speaks OpenAI's embeddings API: puppies and dogs point one way, all else
// another.
type endpoint struct {
	mu   sync.Mutex
	keys []string
	down bool
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keys = append(e.keys, r.Header.Get("Authorization"))
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || e.down {
		http.Error(w, `{"error": {"message": "the model rests"}}`, http.StatusServiceUnavailable)
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for i, text := range in.Input {
		v := []float32{.1, 1}
		if strings.Contains(text, "dog") || strings.Contains(text, "puppy") {
			v = []float32{1, .1}
		}
		data = append(data, item{i, v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

// TestEmbedder remembers and recalls by an endpoint that flags, the environment or the
// file name. The key comes from the environment and is never printed.
func TestEmbedder(t *testing.T) {
	const key = "sk-very-secret"
	e := &endpoint{}
	server := httptest.NewServer(e)
	defer server.Close()
	t.Setenv("ENGRAM_EMBEDDER_KEY", key)
	dir := t.TempDir()
	base := []string{"--data", dir, "--embedder", "openai", "--embedder-url", server.URL, "--embedder-model", "two", "--embedder-dim", "2"}
	call := func(code int, says string, args ...string) {
		t.Helper()
		var out, errOut bytes.Buffer
		got := run(t.Context(), append(append([]string{}, base...), args...), strings.NewReader(""), &out, &errOut)
		text := out.String() + errOut.String()
		if got != code || !strings.Contains(text, says) {
			t.Errorf("engramd %q: exit %d\n%swant %q", args, got, text, says)
		}
		if strings.Contains(text, key) {
			t.Errorf("engramd %q prints the key", args)
		}
	}
	call(exitOK, "", "remember", "the dog barked", "-p", "id=d")
	call(exitOK, "", "remember", "the bank closed", "-p", "id=b")
	e.mu.Lock()
	if len(e.keys) != 2 || e.keys[0] != "Bearer "+key {
		t.Errorf("asked with %q, want the key twice", e.keys)
	}
	e.down = true
	e.mu.Unlock()
	call(exitOK, "texts wait for their vectors", "remember", "another dog", "-p", "id=d2")
	call(exitOK, "went without meaning", "recall", "puppy")
	e.mu.Lock()
	e.down = false
	e.mu.Unlock()
	call(exitOK, "the dog barked", "recall", "puppy")
	call(exitOK, "1", "query", "CALL embed.backfill()")
	call(exitOK, "another dog", "recall", "puppy")

	for _, c := range []struct {
		code       int
		says, args string
	}{
		{exitUsage, "there are builtin, openai, ollama, none", "--embedder opneai recall x"},
		{exitUsage, "needs --embedder-model", "--embedder ollama recall x"},
		{exitUsage, "needs --embedder-dim", "--embedder ollama --embedder-model m recall x"},
		{exitUsage, "go with --embedder openai or ollama", "--embedder-model m recall x"},
		{exitRefused, "in the clear", "--embedder openai --embedder-model m --embedder-dim 3 --embedder-url http://example.com/v1 recall x"},
		{exitOK, "ENGRAM_EMBEDDER_KEY", "help embedder"},
	} {
		var out, errOut bytes.Buffer
		code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &errOut)
		if text := out.String() + errOut.String(); code != c.code || !strings.Contains(text, c.says) || strings.Contains(text, key) {
			t.Errorf("engramd %s: exit %d\n%s", c.args, code, text)
		}
	}
}
