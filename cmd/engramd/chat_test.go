package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"engram/chatbridge/gate"
)

var listed = regexp.MustCompile(`(?m)^mine  \d{4}-\d\d-\d\d \d\d:\d\d  0 turns, waits for consent  ASK-RUN$`)

// TestChat talks with the gate in a terminal: a plain answer, a call that is denied
// with words, one that is approved, one that is left waiting and answered by another
// process, memory alone, and the list.
func TestChat(t *testing.T) {
	script, err := gate.ParseScenario([]byte(`{"scenarios": [
		{"marker": "ASK-PLAIN", "steps": [{"text": "Grüße \u001b[31m!"}]},
		{"marker": "ASK-RUN", "steps": [{"text": "I touch it.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "Told: {result}"}]},
		{"marker": "ASK-FOREVER", "steps": [{"calls": [{"name": "list_dir", "arguments": {"path": "."}}], "mode": "forever"}]},
		{"marker": "ASK-BAD", "steps": [{"status": 400}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(script, &gate.Options{Key: "secret"})
	server := httptest.NewServer(g)
	defer server.Close()
	dir := t.TempDir()
	ws := filepath.Join(dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENGRAM_LLM_PROVIDER", "test")
	t.Setenv("ENGRAM_LLM_BASE_URL", server.URL)
	t.Setenv("ENGRAM_LLM_MODEL", "m")
	t.Setenv("ENGRAM_LLM_KEY", "secret")
	t.Setenv("ENGRAM_LLM_WIRE", "")
	chat := func(in string, args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), append([]string{"--data", filepath.Join(dir, "data"), "chat", "--workspace", ws}, args...), strings.NewReader(in), &out, &errOut)
		if strings.Contains(out.String()+errOut.String(), "secret") || slips.MatchString(out.String()+errOut.String()) {
			t.Errorf("%q %q\n%s%s", in, args, out.String(), errOut.String())
		}
		return code, out.String(), errOut.String()
	}
	made := func() bool { _, err := os.Stat(filepath.Join(ws, "made")); return err == nil }

	if code, out, errOut := chat("", "ASK-PLAIN"); code != exitOK || out != "Grüße \ufffd[31m!\n" {
		t.Errorf("plain: exit %d, %q, %q", code, out, errOut)
	}
	code, out, errOut := chat("ASK-RUN\nmaybe\nyes please\nn not today\n/quit\n")
	if code != exitOK || made() || strings.Count(out, "Run it?") != 3 || !strings.Contains(out, `run "touch" "made"`) || !strings.Contains(out, "Told: The person denied this call. They said: not today\n") {
		t.Errorf("denied: exit %d, %q, %q", code, out, errOut)
	}
	for _, want := range []string{"test base-url: " + server.URL + " (environment)", "test wire: openai (default)", "test key: set (environment)", `[run_command {"argv":["touch","made"]}]`} {
		if !strings.Contains(strings.ReplaceAll(errOut, `"argv": ["touch", "made"]`, `"argv":["touch","made"]`), want) {
			t.Errorf("%q is missing in %q", want, errOut)
		}
	}
	code, out, errOut = chat("", "-c", "mine", "ASK-RUN")
	if code != exitRefused || made() || !strings.Contains(errOut, "the call of run_command did not run: it waits for consent, and nobody was there to be asked. Answer it with: engramd chat --conversation mine\n") {
		t.Errorf("left waiting: exit %d, %q, %q", code, out, errOut)
	}
	if code, out, _ := chat("", "--list"); code != exitOK || !listed.MatchString(out) || !strings.Contains(out, "2 turns  ASK-PLAIN\n") {
		t.Errorf("list: exit %d, %q", code, out)
	}
	code, out, errOut = chat("y\n", "-c", "mine")
	if code != exitOK || !made() || !strings.Contains(out, "Told: It printed nothing.") {
		t.Errorf("answered later: exit %d, %q, %q", code, out, errOut)
	}
	if code, out, errOut := chat("", "--json", "ASK-PLAIN"); code != exitOK || !strings.Contains(out, `"reply":"Grüße \u001b[31m!"`) || !strings.Contains(out, `"tools_used":[]`) {
		t.Errorf("JSON: exit %d, %q, %q", code, out, errOut)
	}
	if code, _, errOut := chat("", "ASK-BAD"); code != exitError || !strings.Contains(errOut, "the provider test answered HTTP 400") {
		t.Errorf("an error: exit %d, %q", code, errOut)
	}
	if code, _, errOut := chat("", "ASK-FOREVER"); code != exitLimit || !strings.Contains(errOut, "the limit of 12 rounds is met") {
		t.Errorf("a ceiling: exit %d, %q", code, errOut)
	}
	if code, _, errOut := chat("", "--phrases", filepath.Join(dir, "none.json"), "x"); code != exitRefused || !strings.Contains(errOut, "chat is off: the phrase file cannot be read") {
		t.Errorf("safe mode: exit %d, %q", code, errOut)
	}
	for _, args := range [][]string{{"--json"}, {"--list", "x"}, {"--wire", "smoke", "x"}, {"--provider", "a,a", "x"}, {"--workspace", filepath.Join(dir, "none"), "x"}} {
		if code, _, errOut := chat("", args...); code != exitUsage {
			t.Errorf("%q: exit %d, %q", args, code, errOut)
		}
	}
}
