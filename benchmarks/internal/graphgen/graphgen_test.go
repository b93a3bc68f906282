package graphgen_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"engram/benchmarks/internal/graphgen"
)

// The sums are those the reference generator prints for the same size and seed.
var reference = map[string]map[string]string{
	"small": {
		"nodes.csv": "b64eaf1c6118fbc3", "edges.csv": "532e53dcd7eecc7a", "nodes.jsonl": "1fd124a7023d5b79",
		"edges.jsonl": "49a66aec15e2cca4", "writes.jsonl": "f0f13471498b6946", "queries.json": "237258451f251775",
	},
	"medium": {
		"nodes.csv": "fb703b3544e18126", "edges.csv": "4718943895ea5d78", "nodes.jsonl": "1c38902fdf486986",
		"edges.jsonl": "3d5fbb2ceb508e97", "writes.jsonl": "9fa52b02f3d0ded9", "queries.json": "3502af4b10ce8778",
	},
}

func TestSameBytesAsReference(t *testing.T) {
	for size, want := range reference {
		t.Run(size, func(t *testing.T) {
			dir := t.TempDir()
			if err := graphgen.Generate(dir, graphgen.Sizes[size], graphgen.DefaultSeed); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "meta.json"))
			if err != nil {
				t.Fatal(err)
			}
			var meta struct {
				Sums map[string]string `json:"sha256_16"`
			}
			if err := json.Unmarshal(text, &meta); err != nil {
				t.Fatal(err)
			}
			for name, sum := range want {
				if meta.Sums[name] != sum {
					t.Errorf("%s has sum %s, want %s", name, meta.Sums[name], sum)
				}
			}
		})
	}
}

func TestRefusesTooFewNodes(t *testing.T) {
	if err := graphgen.Generate(t.TempDir(), 1, 1); err == nil {
		t.Error("a graph of one node was generated")
	}
}
