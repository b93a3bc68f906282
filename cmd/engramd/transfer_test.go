package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFiles makes files below a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// readFiles tells all files of a folder, or the file.
func readFiles(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(path, name)
		b.WriteString(rel + ":\n" + string(text))
		return err
	}))
	return b.String()
}

// inputs are what TestTransferThroughTheOwner imports, each into a namespace of its own.
func inputs(t *testing.T, dir string) (args [][]string) {
	t.Helper()
	writeFiles(t, dir, map[string]string{
		"notes/index.md": "---\nid: trips\n---\nAll trips", "notes/a/lisbon.md": "---\ncreated: 2024-05-01\n---\n# Lisbon\n[porto](../b/porto.md) ![pic](../pic.png) [gone](x.md) [out](../../../out.md)\n## Food\ngood",
		"notes/b/porto.md": "See [[lisbon]]", "notes/pic.png": strings.Repeat("p", 5000), "single.md": "# One\nalone",
		"memories.jsonl": `{"id":"m1","conversation":"c","session":1,"speaker":"Ann","text":"Where?"}` + "\n" + `{"id":"m2","conversation":"c","session":1,"speaker":"Ben","text":"There","date":"someday"}` + "\n",
		"links.jsonl":    `{"a":"m1","b":"m2"}` + "\n",
		"bad.jsonl":      `{"id":"m1","text":"good"}` + "\n{\n",
		"people.csv":     "id,label,age\na,P,1\nb,P,2\n", "knows.csv": "src,dst,type,w\na,b,KNOWS,0.5\na,x,KNOWS,1\n",
		"chat.json": `[{"uuid":"u","name":"N","chat_messages":[{"uuid":"m","text":"x","sender":"human","created_at":"2024-05-01T10:00:00Z"}]}]`,
	})
	must(t, os.Symlink("single.md", filepath.Join(dir, "notes", "link.md")))
	in := func(name string) string { return filepath.Join(dir, name) }
	return [][]string{
		{in("notes")},
		{in("notes"), "--split", "heading"},
		{in("single.md")},
		{in("memories.jsonl")},
		{in("bad.jsonl")},
		{in("bad.jsonl"), "--skip-bad"},
		{in("people.csv"), in("knows.csv")},
		{in("people.csv"), in("knows.csv"), "--skip-bad", "--json"},
		{in("chat.json"), "--format", "anthropic"},
		{in("nothing")},
		{in("chat.json"), "--format", "markdown", "--dry-run"},
	}
}

// TestTransferThroughTheOwner imports files and folders and exports what came of them:
// into a directory that is free, and through the server that has another one open. What
// is there then, what is told and the exit codes are the same.
func TestTransferThroughTheOwner(t *testing.T) {
	dir := t.TempDir()
	free, held := filepath.Join(dir, "free"), filepath.Join(dir, "held")
	s := serve(t, held)
	for i, args := range inputs(t, dir) {
		name := "n" + string(rune('a'+i))
		var said [2]string
		for k, data := range []string{free, held} {
			code, out, errs := command("", append([]string{"--data", data, "--namespace", name, "import"}, args...)...)
			errs = strings.NewReplacer("nothing was imported", "nothing was written", ": nothing", "; nothing", filepath.Join(dir, "notes")+": 1 link or device was not sent\n", "").Replace(errs)
			said[k] = strings.Join([]string{out, errs, string(rune('0' + code))}, "\n")
		}
		if said[0] != said[1] && !strings.Contains(said[0], "link.md") {
			t.Errorf("%v: through the owner\n%s\nhere\n%s", args, said[1], said[0])
		}
		for _, format := range []string{"jsonl", "csv", "markdown", "cypher"} {
			var got [2]string
			for k, data := range []string{free, held} {
				to := filepath.Join(dir, name+format+string(rune('0'+k)))
				code, _, errs := command("", "--data", data, "--namespace", name, "export", "--format", format, "--out", to)
				if code == exitNotFound {
					continue
				}
				if code != 0 {
					t.Fatalf("export: %d %s", code, errs)
				}
				got[k] = readFiles(t, to)
			}
			if got[0] != got[1] {
				t.Errorf("%v as %s: through the owner\n%s\nhere\n%s", args, format, got[1], got[0])
			}
		}
	}
	for _, flags := range [][]string{{"--ack"}, {"--batch", "5"}, {"--split", "conversation"}, {"--links", filepath.Join(dir, "links.jsonl")}, {"--no-text"}} {
		args := append([]string{"--data", held, "import", filepath.Join(dir, "chat.json"), "--format", "anthropic"}, flags...)
		if flags[0] == "--links" {
			args[3], args[5] = filepath.Join(dir, "memories.jsonl"), "memories"
		}
		if code, _, errs := command("", args...); code != exitUsage || !strings.Contains(errs, flags[0]) {
			t.Errorf("%v: %d %s", flags, code, errs)
		}
	}
	t.Setenv("ENGRAM_TOKEN", s.token)
	if code, out, errs := command("", "--data", s.url, "--namespace", "na", "export"); code != 0 || !strings.Contains(out, `"end":{"nodes":3`) {
		t.Errorf("by URL: %d %s %s", code, out, errs)
	}
	t.Setenv("ENGRAM_TOKEN", "engram_wrong")
	if code, _, errs := command("", "--data", held, "import", filepath.Join(dir, "single.md")); code != exitRefused || !strings.Contains(errs, "token") {
		t.Errorf("with a wrong token: %d %s", code, errs)
	}
}

// TestImportFromAPipe: what cannot be read twice is imported whole.
func TestImportFromAPipe(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	var out, errs bytes.Buffer
	in := struct{ io.Reader }{strings.NewReader(`{"id":"a","text":"one"}` + "\n" + `{"id":"b","text":"two"}` + "\n")}
	code := run(context.Background(), []string{"--data", data, "import", "-"}, in, &out, &errs)
	if code != 0 || !strings.Contains(errs.String(), "imported 2 memories") {
		t.Errorf("%d %s", code, errs.String())
	}
}
