// Under the race detector a process takes several times the memory.

//go:build linux && !race

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"engram/benchmarks"
	"engram/server/importer"
)

// TestImportSize imports a chat export, a folder of Markdown and memories: all of it
// arrives, within a budget of memory that the file of the graph and a little for each
// node and edge make up. ENGRAM_LONG takes a chat of 500 MB, 100,000 notes and a million
// memories.
func TestImportSize(t *testing.T) {
	sizes := map[string]int{"chat": 2, "markdown": 1000, "memories": 3000}
	if os.Getenv("ENGRAM_LONG") != "" {
		sizes = map[string]int{"chat": 500, "markdown": 100_000, "memories": 1_000_000}
	}
	for kind, name := range map[string]string{"chat": "conversations.json", "markdown": "notes", "memories": "memories.jsonl"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			counts, err := benchmarks.GenerateInput(filepath.Join(dir, "in"), kind, sizes[kind], 1)
			must(t, err)
			data := filepath.Join(dir, "data")
			cmd := exec.Command(os.Args[0], "--data", data, "import", "--json", filepath.Join(dir, "in", name))
			cmd.Env = append(os.Environ(), asProgram+"=1")
			start := time.Now()
			out, err := cmd.Output()
			must(t, err)
			var r importer.Report
			must(t, json.Unmarshal(out, &r))
			memories := r.Memories
			if kind == "markdown" {
				memories = r.Nodes
			}
			if memories != counts.Memories || r.Conversations != counts.Conversations || r.Skipped+r.LinksMissing+r.LinksOutside+r.ProblemCount != 0 {
				t.Errorf("%+v of %+v", r, counts)
			}
			if code, told, errs := command("", "--data", data, "query", "--json", "MATCH (n:Memory) RETURN count(*) AS n"); told != `{"n":`+strconv.Itoa(counts.Memories)+"}\n" {
				t.Errorf("%d %s %s, want %d", code, told, errs, counts.Memories)
			}
			info, err := os.Stat(graphFile(data))
			must(t, err)
			elements := int64(r.Created + r.EdgesCreated)
			budget := info.Size() + 192<<20 + 150*elements
			t.Logf("%d bytes, %d nodes and edges in %.1f s: the largest resident size was %d MiB of %d, %d MiB of which may be the file's", counts.Bytes, elements,
				time.Since(start).Seconds(), maxResident(cmd)>>20, budget>>20, info.Size()>>20)
			if maxResident(cmd) > budget {
				t.Errorf("the import took %d MiB; its budget is %d", maxResident(cmd)>>20, budget>>20)
			}
		})
	}
}
