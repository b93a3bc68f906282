package graph

import (
	"engram/graph/internal/store"
	"engram/graph/value"
)

// TextField is one searched property of a node.
type TextField struct {
	Name string // of the property
	Text string
}

// TextChange is what a transaction did to the document of one node.
type TextChange struct {
	Node   value.NodeID
	Fields []TextField // in the order of Options.TextFields; none: no document
	Labels []string
}

// TextFollower is the searchable copy of the text.
type TextFollower interface {
	// Publish is called once for every durable transaction, in order of seq,
	// before anybody can see it. It must be quick and must not call the graph.
	Publish(seq store.Seq, changes []TextChange)
	// Search ranks nodes for the words of text as of seq, best first, ties by
	// external id.
	Search(seq store.Seq, text string, limit int, keep func(value.NodeID) bool,
		externalID func(value.NodeID) (string, error)) ([]value.TextHit, error)
}

// SearchText implements the query's reader: it ranks nodes by BM25 for the words
// of text. It sees what was committed at the transaction's snapshot, not the
// transaction's own writes.
func (tx *Tx) SearchText(text string, limit int, keep func(value.NodeID) bool) ([]value.TextHit, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	if tx.db.opts.Text == nil {
		return nil, fail(NotSupported, "this database has no text search")
	}
	alive := func(id value.NodeID) bool { return tx.NodeExists(id) && (keep == nil || keep(id)) }
	hits, err := tx.db.opts.Text.Search(tx.seq, text, limit, alive, tx.ElementID)
	return hits, wrap(err)
}

// textChange makes the document of a node that the transaction changed.
func (tx *Tx) textChange(id value.NodeID, e *nodeEdit) (TextChange, error) {
	change := TextChange{Node: id}
	if e.deleted {
		return change, nil
	}
	fields := make([]string, len(tx.db.opts.TextFields))
	for _, p := range e.rec.Props {
		i, ok := tx.keys.text[p.Key]
		if !ok {
			continue
		}
		v, err := tx.nodeValue(id, p)
		if err != nil {
			return change, err
		}
		fields[i] = v.AsString()
	}
	labels := make([]string, len(e.rec.Labels))
	for i, l := range e.rec.Labels {
		labels[i] = tx.LabelName(l)
	}
	return tx.db.document(id, fields, labels), nil
}

// document makes the document of a node from its text fields, in the order of
// Options.TextFields; without text it has neither fields nor labels.
func (db *DB) document(id value.NodeID, fields, labels []string) TextChange {
	change := TextChange{Node: id}
	for i, text := range fields {
		if text != "" {
			change.Fields = append(change.Fields, TextField{Name: db.opts.TextFields[i], Text: text})
		}
	}
	if len(change.Fields) > 0 {
		change.Labels = labels
	}
	return change
}
