package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGate runs the gate as a user does: a scenario file, a request, Ctrl-C.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	scenario, log := filepath.Join(dir, "s.json"), filepath.Join(dir, "log.jsonl")
	if err := os.WriteFile(scenario, []byte(`{"scenarios": [{"marker": "MARK", "steps": [{"text": "scripted"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, w := io.Pipe()
	var errOut bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"gate", "--listen", "127.0.0.1:0", "--scenario", scenario, "--log", log, "--key", "k"}, nil, w, &errOut)
		w.Close()
	}()
	first := make([]byte, 200)
	n, err := out.Read(first)
	if err != nil {
		t.Fatal(err, errOut.String())
	}
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(string(first[:n]))
	rest := make(chan string, 1)
	go func() { b, _ := io.ReadAll(out); rest <- string(b) }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions",
		strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "MARK"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), `"content":"scripted"`) {
		t.Errorf("answer %s, error %v", body, err)
	}
	stop()
	if c := <-code; c != exitOK {
		t.Errorf("exit %d: %s", c, errOut.String())
	}
	if got := <-rest; got != "1 request, 0 refused, 0 past a script's end\n" {
		t.Errorf("at the end: %q", got)
	}
	if kept, err := os.ReadFile(log); err != nil || !strings.Contains(string(kept), `"text":"scripted"`) {
		t.Errorf("log %s, error %v", kept, err)
	}
}
