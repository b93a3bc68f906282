package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/chatbridge/gate"
)

// TestChatOnServer: engramd chat talks with a server's memory, by the server's address,
// by --data, and when another process serves the directory; its own machine is what it
// works on.
func TestChatOnServer(t *testing.T) {
	script, err := gate.ParseScenario([]byte(`{"scenarios": [
		{"marker": "ASK-BOTH", "steps": [{"calls": [{"name": "remember", "arguments": {"text": "Ann moved to Lisbon"}}, {"name": "write_file", "arguments": {"path": "note", "content": "here"}}]}, {"text": "Noted."}]},
		{"marker": "ASK-READ", "steps": [{"calls": [{"name": "query", "arguments": {"statement": "CREATE (:Evil)"}}]}, {"text": "{result}"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(script, nil)
	provider := httptest.NewServer(g)
	defer func() { g.Close(); provider.Close() }()
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, dir)
	t.Setenv("ENGRAM_TOKEN", s.token)
	flags := []string{"--provider", "gate", "--base-url", provider.URL, "--model", "m"}
	for i, c := range []struct {
		in   string
		args []string
	}{
		{"ASK-BOTH\n:quit\n", []string{"chat", s.url}},
		{"", []string{"--data", s.url, "chat", "ASK-BOTH"}},
		{"", []string{"--data", dir, "chat", "ASK-BOTH"}},
	} {
		ws := t.TempDir()
		code, out, errs := command(c.in, append(append(c.args, flags...), "--workspace", ws)...)
		if note, err := os.ReadFile(filepath.Join(ws, "note")); code != 0 || !strings.Contains(out, "Noted.") || string(note) != "here" {
			t.Errorf("%v: %d %q %s, the note is %q, error %v", c.args, code, out, errs, note, err)
		}
		if code, out, errs := command("", "--data", s.url, "chat", "list"); code != 0 || strings.Count(out, "2 turns") != i+1 {
			t.Errorf("list: %d %q %s", code, out, errs)
		}
	}
	if code, out, errs := command("", "--data", s.url, "recall", "Lisbon"); code != 0 || !strings.Contains(out, "Ann moved to Lisbon") {
		t.Errorf("the server's memory: %d %q %s", code, out, errs)
	}
	if code, out, errs := command("", append([]string{"--data", s.url, "chat", "ASK-READ"}, flags...)...); code != 0 || !strings.Contains(out, "The call failed") {
		t.Errorf("a reading tool that writes: %d %q %s", code, out, errs)
	}
	if code, out, _ := command("", "--data", s.url, "query", "MATCH (n:Evil) RETURN count(n)", "--json"); code != 0 || out != "{\"count(n)\":0}\n" {
		t.Errorf("it wrote: %d %q", code, out)
	}
	if code, out, errs := command("", append([]string{"chat", "--no-tools", "--data", dir, s.url + "/page is what I read"}, flags...)...); code != 0 || out != "ok\n" {
		t.Errorf("an address in what is said: %d %q %s", code, out, errs)
	}
	t.Setenv("ENGRAM_TOKEN", "engram_wrong")
	if code, _, errs := command("", append([]string{"--data", s.url, "chat", "hello"}, flags...)...); code != exitRefused || !strings.Contains(errs, "token") {
		t.Errorf("with a wrong token: %d %s", code, errs)
	}
}
