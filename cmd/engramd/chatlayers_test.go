package main

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"engram/chatbridge/gate"
)

// TestChatLayers holds that mission and imprint of the flags reach the model, that a name
// that is none is refused, and that chat is off without its files.
func TestChatLayers(t *testing.T) {
	script, err := gate.ParseScenario([]byte(`{"scenarios": [{"marker": "ASK-PLAIN", "steps": [{"text": "Aye."}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(script, nil)
	server := httptest.NewServer(g)
	defer server.Close()
	dir := t.TempDir()
	command := func(in string, args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), append([]string{"--data", filepath.Join(dir, "data")}, args...), strings.NewReader(in), &out, &errOut)
		return code, out.String(), errOut.String()
	}
	chat := func(in string, args ...string) (int, string, string) {
		return command(in, append([]string{"chat", "--provider", "test", "--base-url", server.URL, "--model", "m"}, args...)...)
	}
	for _, statement := range []string{"CREATE LAYER captain", "CREATE (:Voice {layer: 'captain', content: 'Speak like a captain.'})"} {
		if code, _, errOut := command("", "query", statement); code != exitOK {
			t.Fatalf("%s: exit %d, %q", statement, code, errOut)
		}
	}
	if code, out, errOut := chat("ASK-PLAIN one\nASK-PLAIN two\n", "--mission", "Cross the bay", "--imprint", "captain"); code != exitOK || strings.Count(out, "Aye.") != 2 {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
	asked := 0
	for _, e := range g.Entries() {
		if e.Marker != "ASK-PLAIN" || !strings.HasPrefix(e.Prompt, "ASK-PLAIN") {
			continue // a title
		}
		asked++
		for _, want := range []string{`"Cross the bay"`, `- voice: "Speak like a captain."`} {
			if !strings.Contains(e.System, want) {
				t.Errorf("%q: %q is missing in %q", e.Prompt, want, e.System)
			}
		}
	}
	if asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
	if code, _, errOut := chat("", "--imprint", "pirate", "ASK-PLAIN"); code != exitRefused || !strings.Contains(errOut, "there is no imprint pirate: there are captain") {
		t.Errorf("no imprint: exit %d, %q", code, errOut)
	}
	for flag, want := range map[string]string{"--continuity": "statuses and registers", "--steward": "notes and good news"} {
		if code, _, errOut := chat("", flag, filepath.Join(dir, "none.json"), "ASK-PLAIN"); code != exitRefused || !strings.Contains(errOut, want+" cannot be read") {
			t.Errorf("%s: exit %d, %q", flag, code, errOut)
		}
	}
}
