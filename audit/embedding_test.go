package audit_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/audit"
	"engram/graph"
)

// remote is a model behind an endpoint: it makes vectors when it is asked to, and says
// nothing to texts with "mute" in them.
type remote struct{}

func (remote) Model() string { return "remote-4" }
func (remote) Dim() int      { return 4 }

func (remote) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		if !strings.Contains(s, "mute") {
			out[i] = []float32{1, float32(len(s)), float32(strings.Count(s, "a")), 2}
		}
	}
	return out, nil
}

func TestEmbeddingCoverage(t *testing.T) {
	p := plant(t, &graph.Options{Embedder: remote{}})
	note := []string{"Note"}
	p.node("a", note, "content", "a garden by the river")
	p.node("b", note, "title", "A train in summer")
	if made, waiting, err := p.db.EmbedMissing(context.Background(), 10); made != 2 || waiting != 0 || err != nil {
		t.Fatal(made, waiting, err)
	}
	p.node("c", note, "content", "she plays the piano")
	p.node("bare", note, "importance", 0.5)
	p.node("empty", note, "content", "")
	f := p.find("embedding_coverage")
	same(t, f, "c")
	measures(t, f, "texts", 3, "without_text", 2, "with_vector", 2, "waiting", 1, "missing", 0, "coverage", 2.0/3)
	if f.Nodes.Items[0].Why != "its vector is still to be made" || f.Status != audit.Notice {
		t.Errorf("%s: %+v", f.Status, f.Nodes.Items)
	}
	if !slices.Equal(f.Parts, []audit.Part{{"model", "remote-4", 2, "searched"}}) {
		t.Errorf("models %v", f.Parts)
	}
	// What waits is not missing in the index.
	measures(t, p.find("index_divergence"), "vector_missing", 0, "vector_extra", 0)
	_, _, err := p.db.EmbedMissing(context.Background(), 10)
	p.ok(err)
	if f = p.find("embedding_coverage"); f.Status != audit.OK || f.Nodes.Total != 0 {
		t.Errorf("with all vectors: %s, %v", f.Status, ids(f))
	}
}

func TestEmbeddingOfAnotherModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	onDisk(t, dir, &graph.Options{Embedder: remote{}}, func(p *planted) {
		p.node("a", []string{"Note"}, "content", "a garden by the river")
		_, _, err := p.db.EmbedMissing(context.Background(), 10)
		p.ok(err)
	})
	onDisk(t, dir, nil, func(p *planted) {
		f := p.find("embedding_coverage")
		if len(f.Parts) != 2 || f.Parts[1] != (audit.Part{Group: "model", Name: "remote-4", Count: 1, Note: "outdated: of another model, not searched"}) || f.Status != audit.Notice {
			t.Errorf("%s: models %v", f.Status, f.Parts)
		}
		measures(t, f, "with_vector", 1)
	})
}

func TestWithoutVectors(t *testing.T) {
	p := plant(t, &graph.Options{NoEmbedder: true})
	p.node("a", []string{"Note"}, "content", "a garden by the river")
	r := p.run(audit.Options{Only: []string{"embedding_coverage"}})
	if f := r.Finding("embedding_coverage"); f.Status != audit.Deferred || len(r.Deferred) != 1 || r.Deferred[0].Finding != f.Name {
		t.Errorf("%s: %+v", f.Status, r.Deferred)
	}
	measures(t, p.find("index_divergence"), "vector_missing", nil, "text_missing", 0)
}
