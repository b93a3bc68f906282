package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"engram/chatbridge/gate"
)

// chatWorld is a data directory with a scripted provider.
type chatWorld struct {
	t         *testing.T
	dir, data string
	gate      *gate.Gate
}

func newChatWorld(t *testing.T, script string) *chatWorld {
	t.Helper()
	s, err := gate.ParseScenario([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	w := &chatWorld{t: t, dir: t.TempDir(), gate: gate.New(s, nil)}
	w.data = filepath.Join(w.dir, "data")
	server := httptest.NewServer(w.gate)
	t.Cleanup(func() { w.gate.Close(); server.Close() })
	for name, value := range map[string]string{"PROVIDER": "test", "BASE_URL": server.URL, "MODEL": "m", "KEY": "k", "WIRE": "", "TEST_MODEL": ""} {
		t.Setenv("ENGRAM_LLM_"+name, value)
	}
	return w
}

// run runs engramd chat and holds its exit code.
func (w *chatWorld) run(code int, in string, args ...string) (out, errOut string) {
	w.t.Helper()
	var o, e bytes.Buffer
	got := run(w.t.Context(), append([]string{"--data", w.data, "chat"}, args...), strings.NewReader(in), &o, &e)
	if got != code || slips.MatchString(o.String()+e.String()) {
		w.t.Errorf("chat %q: exit %d, want %d\n%s\n%s", args, got, code, &o, &e)
	}
	return o.String(), e.String()
}

const conversationScript = `{"scenarios": [
	{"marker": "ASK-HERON", "steps": [{"text": "The heron is called Quillon."}]},
	{"marker": "ASK-NOTE", "steps": [{"calls": [{"name": "remember", "arguments": {"text": "Otters whistle"}}]}, {"text": "Noted."}]},
	{"marker": "Sum up the conversation", "steps": [{"text": "A bird was named."}]}]}`

// TestConversations lists, shows, searches, exports, renames, forgets, restores and
// purges conversations by commands.
func TestConversations(t *testing.T) {
	w := newChatWorld(t, conversationScript)
	w.run(exitOK, "", "-c", "birds", "ASK-HERON please")
	w.run(exitOK, "", "-c", "otters", "ASK-NOTE")
	if out, _ := w.run(exitOK, "", "list"); !regexp.MustCompile(`(?m)\A(otters|birds)  .*\n(otters|birds)  .*\n\z`).MatchString(out) || !strings.Contains(out, "2 turns  ASK-HERON please\n") {
		t.Errorf("list %q", out)
	}
	out, errOut := w.run(exitOK, "", "list", "--limit", "1")
	cursor := regexp.MustCompile(`--cursor (\S+)`).FindStringSubmatch(errOut)
	if cursor == nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("a page: %q %q", out, errOut)
	}
	if next, errOut := w.run(exitOK, "", "list", "--limit", "1", "--cursor", cursor[1]); next == out || strings.Count(next, "\n") != 1 || errOut != "" {
		t.Errorf("the next page: %q %q", next, errOut)
	}
	if out, _ := w.run(exitOK, "", "search", "quillon"); out != "birds  2 assistant  The heron is called Quillon.\n" {
		t.Errorf("search %q", out)
	}
	w.run(exitOK, "", "rename", "birds", "About", "herons")
	if out, _ := w.run(exitOK, "", "show", "birds"); !strings.HasPrefix(out, "About herons\n\n1 user, ") || !strings.HasSuffix(out, "\nThe heron is called Quillon.\n[no tools ran]\n") {
		t.Errorf("show %q", out)
	}
	if out, _ := w.run(exitOK, "", "show", "birds", "--summary"); out != "A bird was named.\n" {
		t.Errorf("summary %q", out)
	}
	if out, _ := w.run(exitOK, "", "show", "birds", "--json"); !strings.Contains(out, `"title":"About herons"`) || !strings.Contains(out, `"events":[{"seq":1`) {
		t.Errorf("show as JSON %q", out)
	}
	file := filepath.Join(w.dir, "birds.md")
	w.run(exitOK, "", "export", "birds", "--format", "markdown", "--out", file)
	w.run(exitError, "", "export", "birds", "--out", file)
	text, err := os.ReadFile(file)
	if lines, _ := w.run(exitOK, "", "export", "birds"); err != nil || !strings.Contains(string(text), "# About herons\n") || !strings.HasSuffix(lines, `{"end":{"turns":2,"runs":1}}`+"\n") {
		t.Errorf("export %q, %q, %v", text, lines, err)
	}
	w.run(exitOK, "", "forget", "birds", "--because", "asked to")
	if out, _ := w.run(exitOK, "", "search", "quillon"); out != "Nobody said that.\n" {
		t.Errorf("a forgotten one is found: %q", out)
	}
	if _, errOut := w.run(exitRefused, "", "-c", "birds", "ASK-HERON"); !strings.Contains(errOut, "is forgotten: restore it first") {
		t.Errorf("a forgotten one is talked in: %q", errOut)
	}
	if out, _ := w.run(exitOK, "", "list", "--forgotten"); !strings.HasPrefix(out, "birds  ") {
		t.Errorf("forgotten ones: %q", out)
	}
	w.run(exitOK, "", "restore", "birds")
	w.run(exitUsage, "", "purge", "birds")
	if out, _ := w.run(exitOK, "", "purge", "birds", "--yes"); out != "1 conversation purged, with 4 nodes\nBackups made before still have what was purged; --backups DIR names those in a folder.\n" {
		t.Errorf("purge %q", out)
	}
	w.run(exitRefused, "", "show", "birds")
	w.run(exitOK, "", "forget", "otters")
	w.run(exitOK, "", "purge", "--forgotten", "--before", "2020-01-01", "--yes")
	backups := t.TempDir()
	for name, manifest := range map[string]string{"default-1": `{"namespace":"default"}`, "default-x-1": `{"namespace":"default-x"}`, "broken": "{"} {
		writeFiles(t, backups, map[string]string{name + "/manifest.json": manifest, "other/notes.md": "no backup"})
	}
	want := "; of memories 1\nThese backups may still have what was purged, until you remove them:\n  " + backups + "/broken\n  " + backups + "/default-1\n"
	if out, _ := w.run(exitOK, "", "purge", "--forgotten", "--memories", "--yes", "--backups", backups); !strings.HasPrefix(out, "1 conversation purged") || !strings.HasSuffix(out, want) {
		t.Errorf("purge %q, want at its end %q", out, want)
	}
	if out, _ := w.run(exitOK, "", "purge", "--forgotten", "--yes", "--backups", backups+"/other"); !strings.HasSuffix(out, "There is no backup of the namespace default in "+backups+"/other.\n") {
		t.Errorf("purge %q", out)
	}
	if out, _ := w.run(exitOK, "", "list"); out != "There are no conversations.\n" {
		t.Errorf("left: %q", out)
	}
	for _, args := range [][]string{{"purge", "--yes"}, {"purge", "x", "--forgotten", "--yes"}, {"purge", "x", "--before", "2020-01-01", "--yes"}, {"export", "x", "--format", "pdf"}} {
		w.run(exitUsage, "", args...)
	}
	w.run(exitUsage, "", "resume") // there is none
}

// TestChatCommands types commands into a conversation.
func TestChatCommands(t *testing.T) {
	w := newChatWorld(t, conversationScript)
	out, errOut := w.run(exitOK, strings.Join([]string{
		":show", "ASK-HERON", ":title A new name", ":show", ":list", ":search quillon", ":summary", ":model", ":help", ":nonsense", ":new", "ASK-NOTE", ":forget", ":list", ":resume nowhere", ":quit", "never said",
	}, "\n")+"\n")
	for _, want := range []string{"A new name\n\n1 user", "2 turns  A new name\n", "2 assistant  The heron is called Quillon.\n", "A bird was named.\n", "test model: m (environment)\n", ":quit ", "Noted.\n", "Forgotten: engramd chat restore c-"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %q", want, out)
		}
	}
	for _, want := range []string{"nothing was said in this conversation yet", "no command :nonsense", "there is no conversation nowhere"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("%q is missing in %q", want, errOut)
		}
	}
	if e := w.gate.Entries(); strings.Contains(e[len(e)-1].Prompt, "never said") {
		t.Error(":quit did not leave")
	}
}

// waitFor waits until the provider was asked so often.
func (w *chatWorld) waitFor(requests int) {
	w.t.Helper()
	for w.gate.Stats().Requests < requests {
		if w.t.Context().Err() != nil {
			w.t.Fatal("the provider was not asked")
		}
		runtime.Gosched()
	}
}
