package graph

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"engram/graph/internal/text"
	"engram/graph/schema"
	"engram/graph/value"
)

// declaredField is the field of the text index for what full-text indexes add to
// a document. The name is none of a property that people use.
const declaredField = "*"

// fullTextBytes is up to how much text one transaction analyses for a new
// full-text index.
const fullTextBytes = 8 << 20

// textDefs are the full-text indexes, those that are being dropped included.
type textDefs []*indexDef

// key reports whether an index is by a property.
func (t textDefs) key(k value.KeyID) bool {
	return slices.ContainsFunc(t, func(d *indexDef) bool { return slices.Contains(d.keys, k) })
}

// label reports whether an index is about a label.
func (t textDefs) label(l value.LabelID) bool {
	return slices.ContainsFunc(t, func(d *indexDef) bool { return slices.Contains(d.owners, l) })
}

// wants reports whether a property of a node is part of its text. An index that
// is being filled has the nodes up to where it came, so that the documents are a
// function of the state.
func (t textDefs) wants(id value.NodeID, labels []value.LabelID, k value.KeyID) bool {
	for _, d := range t {
		has := d.State == schema.Online || d.State == schema.Populating && uint64(id) <= d.storedDef.After
		if has && slices.Contains(d.keys, k) && slices.ContainsFunc(d.owners, func(l value.LabelID) bool { return slices.Contains(labels, l) }) {
			return true
		}
	}
	return false
}

// textOf is the text of a value: a string or a list of strings.
func textOf(v value.Value) string {
	switch v.Kind() {
	case value.KindString:
		return v.AsString()
	case value.KindList:
		var lines []string
		for _, e := range v.AsList() {
			if e.Kind() == value.KindString && e.AsString() != "" {
				lines = append(lines, e.AsString())
			}
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// changedDocs makes the documents that the transaction changed, in ascending
// order of the nodes.
func (tx *Tx) changedDocs() ([]text.Doc, error) {
	ids := maps.Clone(tx.w.retext)
	for id, e := range tx.w.nodes {
		if e.text && !(e.added && e.deleted) {
			if ids == nil {
				ids = map[value.NodeID]struct{}{}
			}
			ids[id] = struct{}{}
		}
	}
	var docs []text.Doc
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		e := tx.w.nodes[id]
		if e == nil {
			rec, err := tx.node(id)
			if err != nil {
				return nil, err
			}
			e = &nodeEdit{rec: rec, deleted: rec == nil}
		}
		doc, err := tx.document(id, e)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// buildText notes the documents that a new full-text index changes; those of
// many nodes, or of much text, are left to the background.
func (tx *Tx) buildText(d *indexDef) error {
	if d.Edge {
		return fail(NotSupported, "a full-text index is about nodes; the texts of relationships are not searched")
	}
	return tx.populateText(d)
}

// populateText goes on with filling a full-text index.
func (tx *Tx) populateText(d *indexDef) error {
	last, done, err := tx.retext(d)
	if err != nil {
		return err
	}
	state := schema.Populating
	if done {
		state, last = schema.Online, 0
	}
	tx.setDef(tx.inState(d, state, last))
	return tx.charge(64)
}

// dropText goes on with taking the words of a full-text index that is being
// dropped out of the documents. They are found until then.
func (tx *Tx) dropText(d *indexDef) error {
	last, done, err := tx.retext(d)
	if err != nil {
		return err
	}
	if done {
		tx.dropDef(d.ID)
	} else {
		tx.setDef(tx.inState(d, schema.Dropping, last))
	}
	return tx.charge(64)
}

// retext notes the next documents that a definition changes. It returns the last
// node, and whether there is none behind it.
func (tx *Tx) retext(d *indexDef) (last uint64, done bool, err error) {
	last = d.storedDef.After
	n, bytes := tx.db.opts.IndexChunk, 0
	err = tx.eachOf(d, last, n, func(el element) error {
		if bytes > fullTextBytes {
			return errStop
		}
		last, n = el.id, n-1
		touched := false
		for _, p := range el.props {
			if !slices.Contains(d.keys, p.Key) {
				continue
			}
			v, err := tx.fetchValue(el, p)
			if err != nil {
				return err
			}
			bytes += sizeOf(v)
			touched = touched || textOf(v) != ""
		}
		if touched {
			tx.w.noteText(value.NodeID(el.id))
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return last, false, nil
	}
	return last, n > 0, err
}

func (w *writes) noteText(id value.NodeID) {
	if w.retext == nil {
		w.retext = map[value.NodeID]struct{}{}
	}
	w.retext[id] = struct{}{}
}
