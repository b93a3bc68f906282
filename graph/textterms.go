package graph

import (
	"engram/graph/internal/text"
	"engram/graph/value"
)

// SearchTerms returns what SearchText looks for in a text; nothing when that
// could be in no document, as of words like "the" and "of".
func (tx *Tx) SearchTerms(query string) []string { return tx.db.text.Terms(query) }

// TermFrequency returns each word of a text that is searched for, as it is typed
// and once, in order, with the number of nodes that have it. It sees what the
// transaction sees, as SearchText does.
func (tx *Tx) TermFrequency(query string) ([]value.TermCount, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.textView()
	if err != nil {
		return nil, wrap(err)
	}
	var out []value.TermCount
	for _, w := range tx.queryWords(query, func(string) bool { return true }) {
		n := int64(0)
		_, err := view.Search(text.Query{
			Text: w.typed, Limit: 1,
			Keep: func(id value.NodeID) bool {
				if tx.NodeExists(id) {
					n++
				}
				return false
			},
		})
		if err != nil {
			return nil, wrap(err)
		}
		out = append(out, value.TermCount{Term: w.typed, Nodes: n})
	}
	return out, nil
}
