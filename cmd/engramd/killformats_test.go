package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"engram/benchmarks"
)

// killInputs writes something of each format to import.
func killInputs(t *testing.T, dir string) map[string][]string {
	t.Helper()
	generate := func(kind string, size int) string {
		_, err := benchmarks.GenerateInput(filepath.Join(dir, kind), kind, size, 5)
		must(t, err)
		return filepath.Join(dir, kind)
	}
	in := map[string][]string{
		"openai":   {filepath.Join(generate("chat", 1), "conversations.json")},
		"markdown": {filepath.Join(generate("markdown", 250), "notes")},
		"memories": {filepath.Join(generate("memories", 500), "memories.jsonl")},
		"csv":      {filepath.Join(dir, "nodes.csv"), filepath.Join(dir, "edges.csv")},
		"bundle":   {filepath.Join(dir, "bundle")},
		"memory":   {filepath.Join(dir, "memory.json")},
		"jsonl":    {filepath.Join(dir, "graph.jsonl")},
		"backup":   {filepath.Join(dir, "backup")},
	}
	writeGraph(t, in["csv"], 500, 1000)
	shorten(t, in["openai"][0], 12)
	bundle, memory := map[string]string{"index.md": "---\nid: all\ntitle: All\n---\n"}, ""
	for i := range 20 {
		bundle[fmt.Sprintf("t%d/index.md", i)] = fmt.Sprintf("---\nid: topic-%d\naliases: [T%d]\nnext: \"[[T%d]]\"\n---\nTopic %d", i, i, (i+1)%20, i)
		for k := range 10 {
			bundle[fmt.Sprintf("t%d/n%d.md", i, k)] = fmt.Sprintf("---\nlabels: [Memory, Fact]\nsource: book %d\n---\n# Fact %d of %d\n[[T%d]] and [one](../t%d/n%d.md)", k, k, i, (i*k)%20, k, i)
		}
	}
	writeFiles(t, filepath.Join(dir, "bundle"), bundle)
	for i := range 150 {
		memory += fmt.Sprintf(`{"type":"entity","name":"E%d","entityType":"t","observations":["one of %d","two of %d"]}`+"\n", i, i, i)
	}
	for i := range 150 {
		memory += fmt.Sprintf(`{"type":"relation","from":"E%d","to":"E%d","relationType":"knows"}`+"\n", i, i*7%155) // some of nobody
	}
	must(t, os.WriteFile(in["memory"][0], []byte(memory), 0o600))
	data := filepath.Join(dir, "origin")
	for _, args := range [][]string{
		{"import", in["csv"][0], in["csv"][1]},
		{"query", "MATCH (a {id: 'node-1'}), (b {id: 'node-2'}) CREATE (a)-[:TWICE {n: 1}]->(b), (a)-[:TWICE {n: 2}]->(b)"},
		{"query", "CREATE INDEX by_size IF NOT EXISTS FOR (n:Kind1) ON (n.size)"},
		{"export", "--out", in["jsonl"][0]},
		{"backup", filepath.Join(dir, "backups")},
	} {
		if code, _, errs := command("", append([]string{"--data", data}, args...)...); code != 0 {
			t.Fatalf("%v: %s", args, errs)
		}
	}
	made, err := filepath.Glob(filepath.Join(dir, "backups", "*"))
	must(t, err)
	if len(made) != 1 {
		t.Fatalf("backups: %v", made)
	}
	in["backup"] = made
	return in
}

// shorten leaves the first conversations of a chat export.
func shorten(t *testing.T, file string, n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	var chats []json.RawMessage
	must(t, json.Unmarshal(text, &chats))
	text, err = json.Marshal(chats[:n])
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
}

// sortedExport tells all of a namespace, in an order that does not depend on numbers.
func sortedExport(t *testing.T, data string) string {
	t.Helper()
	code, out, errs := command("", "--data", data, "export")
	if code != 0 {
		t.Fatal(errs)
	}
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestKillImports kills imports of every format with SIGKILL, at several points, into a
// namespace that is empty and one that is not, and starts them again: what is there in
// the end is what an import brings that was left alone, and a further one writes nothing.
func TestKillImports(t *testing.T) {
	kills := 2
	if testing.Short() {
		kills = 1
	}
	if os.Getenv("ENGRAM_LONG") != "" {
		kills = 30
	}
	dir := t.TempDir()
	in := killInputs(t, dir)
	const seed = 9
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		for _, before := range []string{"", "CREATE (:Before {id: 'before'})"} {
			t.Run(name+" "+before, func(t *testing.T) {
				args := append([]string{"import", "--ack", "--batch", "40"}, in[name]...)
				data := func(kind string) string { return filepath.Join(dir, kind+name+fmt.Sprint(len(before))) }
				for _, d := range []string{data("whole"), data("killed")} {
					if before == "" {
						break
					}
					if code, _, errs := command("", "--data", d, "query", before); code != 0 {
						t.Fatal(errs)
					}
				}
				code, out, errs := command("", append([]string{"--data", data("whole")}, args...)...)
				acks := strings.Count(out, "ACK ")
				if code != 0 || acks < 2*kills && kills < 10 {
					t.Fatalf("%d acknowledgements: %d %s", acks, code, errs)
				}
				want, hit := sortedExport(t, data("whole")), 0
				for range kills {
					cmd := exec.Command(os.Args[0], append([]string{"--data", data("killed")}, args...)...)
					cmd.Env = append(os.Environ(), asProgram+"=1")
					if killAfter(t, cmd, random.IntN(max(acks/(kills+1), 1))+1, time.Duration(random.IntN(int(2*time.Millisecond)))) {
						hit++
					}
				}
				if hit == 0 {
					t.Error("no kill hit the import")
				}
				if code, _, errs := command("", append([]string{"--data", data("killed")}, args...)...); code != 0 {
					t.Fatalf("after %d kills: %d %s", hit, code, errs)
				}
				if got := sortedExport(t, data("killed")); got != want {
					t.Errorf("after %d kills the graph differs: %d bytes, want %d", hit, len(got), len(want))
				}
				code, _, errs = command("", append([]string{"--data", data("killed"), "import"}, in[name]...)...)
				if code != 0 || strings.Contains(errs, "transaction") || sortedExport(t, data("killed")) != want {
					t.Errorf("once more: %d %s", code, errs)
				}
				if code, out, errs := command("", "--data", data("killed"), "check"); code != 0 {
					t.Errorf("check: %s %s", out, errs)
				}
			})
		}
	}
}
