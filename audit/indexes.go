package audit

import (
	"fmt"
	"strings"

	"engram/graph/value"
)

// indexDivergence compares the indexes that searches use with the records.
func indexDivergence() rule {
	return rule{
		name:  "index_divergence",
		title: "The full-text and the vector index against the records: missing, stale and extra documents, and how far each is.",
		thresholds: []Threshold{{
			Name: "compare_content", Default: 0, Min: 0, Max: 1,
			Meaning: "1 also analyses each text anew and compares words and vector with the indexes, some ten microseconds a node.",
		}},
		begin: func(a *audit) (work, error) {
			w := &indexWork{a: a, texts: a.texts()}
			return work{end: w.end}, nil
		},
	}
}

// onlyReads tells how what lies on disk is seen.
const onlyReads = "A process that writes to the graph sees them, such as a console, in which AUDIT STRUCTURE can be typed."

type indexWork struct {
	a     *audit
	texts *textScan
	found []hit // nodes of which an index has something else than the records
}

func (w *indexWork) end(f *Finding) error {
	a := w.a
	f.How = fmt.Sprintf("exact: over the %d of %d nodes that have text", w.texts.n, a.tx.NodeCount(0))
	text, vectors := a.tx.Followers()
	f.measure("texts", w.texts.n, "nodes")
	if a.tx.OnlyReads() {
		f.Status, f.Note = Unknown, "The graph is open for reading only, where searches make indexes of their own in memory: those on disk were not looked at. "+onlyReads
		for _, m := range []string{"text_missing", "text_extra", "vector_missing", "vector_extra"} {
			f.measure(m, nil, "nodes")
		}
		return nil
	}
	f.measure("seq", int64(a.tx.Seq()), "transactions")
	f.measure("text_applied", int64(text.Applied), "transactions")
	f.measure("vector_applied", int64(vectors.Applied), "transactions")
	var unknown []string
	if err := w.words(f); err != nil {
		unknown = append(unknown, fmt.Sprintf("The full-text index could not be compared: %v.", err))
	}
	if err := w.vectors(f); err != nil {
		unknown = append(unknown, fmt.Sprintf("The vectors could not be compared: %v.", err))
	}
	if err := w.contents(f); err != nil {
		unknown = append(unknown, fmt.Sprintf("The contents could not be compared: %v.", err))
	}
	for _, behind := range []error{text.Err, vectors.Err} {
		if behind != nil {
			f.Status = Notice
			unknown = append(unknown, fmt.Sprintf("An index is not written to disk at present: %v.", behind))
		}
	}
	w.note(f, unknown)
	return a.listHits(f, w.found)
}

func (w *indexWork) note(f *Finding, unknown []string) {
	switch {
	case len(w.found) > 0:
		f.Status = Defect
		f.Note = "Searches see something else than what is stored. Opening the graph with its copies made anew settles it."
	case len(unknown) > 0:
		if f.Status == OK {
			f.Status = Unknown
		}
	default:
		f.Note = "The indexes have just the nodes that have text, as of this snapshot."
	}
	if f.Measure("text_stale") == nil && f.Status != Unknown {
		unknown = append(unknown, "Whether they have the same words was not compared; the threshold compare_content does.")
	}
	f.Note = strings.TrimSpace(f.Note + " " + strings.Join(unknown, " "))
}

func (w *indexWork) words(f *Finding) error {
	c := w.texts.words()
	if c.err != nil {
		f.measure("text_missing", nil, "nodes")
		f.measure("text_extra", nil, "nodes")
		return c.err
	}
	f.measure("text_missing", len(c.rest), "nodes")
	w.lack(c, "the full-text index does not have it")
	if !c.certain {
		f.measure("text_extra", nil, "nodes")
		return fmt.Errorf("a full-text index is being dropped, so its words may still be there")
	}
	f.measure("text_extra", len(c.extra), "nodes")
	w.found = append(w.found, c.extra...)
	return nil
}

func (w *indexWork) vectors(f *Finding) error {
	c := w.texts.vectors()
	if c.err != nil || c.model == "" {
		f.measure("vector_missing", nil, "nodes")
		f.measure("vector_extra", nil, "nodes")
		return c.err
	}
	f.measure("vector_missing", len(c.rest), "nodes")
	f.measure("vector_extra", len(c.extra), "nodes")
	w.lack(c, "the vector index does not have it")
	w.found = append(w.found, c.extra...)
	return nil
}

func (w *indexWork) lack(c *census, why string) {
	for _, s := range c.rest {
		w.found = append(w.found, hit{w.a.shape.NodeID(s), why})
	}
}

// contents compares what the indexes say of each node with its record.
func (w *indexWork) contents(f *Finding) error {
	var words, vectors any
	defer func() {
		f.measure("text_stale", words, "nodes")
		f.measure("vector_stale", vectors, "nodes")
	}()
	if w.a.threshold("compare_content") < 1 {
		return nil
	}
	var nWords, nVectors int64
	var chunk []value.NodeID
	flush := func() error {
		if w.a.ctx.Err() != nil {
			return canceled(w.a.ctx)
		}
		err := w.a.tx.IndexedOtherwise(chunk, func(id value.NodeID, words, vector bool) {
			if words {
				nWords++
				w.found = append(w.found, hit{id, "the full-text index has other words of it"})
			}
			if vector {
				nVectors++
				w.found = append(w.found, hit{id, "its vector is not that of its text"})
			}
		})
		chunk = chunk[:0]
		return err
	}
	for s := range w.a.shape.Slots() {
		if !w.texts.has.has(s) {
			continue
		}
		if chunk = append(chunk, w.a.shape.NodeID(s)); len(chunk) == checkEvery {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	words, vectors = nWords, nVectors
	return nil
}
