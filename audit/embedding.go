package audit

import (
	"fmt"
	"slices"
)

// embeddingCoverage counts the nodes that have a vector, by model.
func embeddingCoverage() rule {
	return rule{
		name:  "embedding_coverage",
		title: "Nodes with, without and with outdated vectors, by model.",
		begin: func(a *audit) (work, error) {
			t := a.texts()
			return work{end: func(f *Finding) error { return embeddingEnd(t, f) }}, nil
		},
	}
}

func embeddingEnd(t *textScan, f *Finding) error {
	a := t.a
	f.How = fmt.Sprintf("exact: over the %d of %d nodes that have text", t.n, a.tx.NodeCount(0))
	f.measure("texts", t.n, "nodes")
	f.measure("without_text", a.tx.NodeCount(0)-t.n, "nodes")
	if a.tx.OnlyReads() {
		f.Status, f.Note = Unknown, "The graph is open for reading only, where the vectors on disk are not opened. "+onlyReads
		f.measure("with_vector", nil, "nodes")
		return nil
	}
	c := t.vectors()
	if c.model == "" && c.err == nil {
		f.Status, f.Note = Deferred, "No vectors are kept of this graph, so nothing is found by its meaning."
		return nil
	}
	if c.err != nil {
		f.Status, f.Note = Unknown, fmt.Sprintf("The vectors of the model %s could not be looked at: %v.", c.model, c.err)
		f.measure("with_vector", nil, "nodes")
		return nil
	}
	f.measure("with_vector", c.with, "nodes")
	f.measure("coverage", share(c.with, t.n), "share")
	f.measure("waiting", len(c.waiting), "nodes")
	f.measure("without_meaning", c.silent, "nodes")
	f.measure("missing", len(c.rest), "nodes")
	f.part("model", c.model, c.with, "searched")
	others, err := a.tx.OtherVectors()
	if err != nil {
		return err
	}
	for _, o := range others {
		f.part("model", o.Model, int64(o.Entries), "outdated: of another model, not searched")
	}
	rest := slices.Concat(c.waiting, c.rest)
	slices.Sort(rest)
	noteEmbedding(t, f, c, len(rest), len(others))
	return a.listNodes(f, len(rest), a.slotIDs(rest), func(i int) string {
		if _, ok := slices.BinarySearch(c.waiting, rest[i]); ok {
			return "its vector is still to be made"
		}
		return "it has no vector"
	})
}

func noteEmbedding(t *textScan, f *Finding, c *census, rest, others int) {
	switch {
	case t.n == 0:
		f.Note = "No node has text, so there is nothing to make vectors of."
	case rest > 0:
		f.Status = Notice
		f.Note = fmt.Sprintf("%d of %d texts have a vector of the model %s; %d should have one and are found by their words only.", c.with, t.n, c.model, rest)
	default:
		f.Note = fmt.Sprintf("All texts that say anything to the model %s have a vector.", c.model)
	}
	if c.silent > 0 {
		f.Note += " " + amount(c.silent, "has", "have") + " no word that the model knows."
	}
	if others > 0 {
		f.Status = Notice
		f.Note += " Vectors of other models lie on disk; nobody searches them."
	}
}
