package graph

import (
	"engram/graph/internal/text"
	"engram/graph/value"
)

// SearchTerms returns what SearchText looks for in a text; nothing when that
// could be in no document, as of words like "the" and "of".
func (tx *Tx) SearchTerms(query string) []string { return tx.db.text.Terms(query) }

// wordBytes is about what a word takes besides its letters while it is counted.
const wordBytes = 256

// TermFrequency returns each word of a text that is searched for, as it is typed
// and once, in order, with the number of nodes that have it. It sees what the
// transaction sees, as SearchText does. spend is told of the nodes that were looked at
// and the bytes that are about to be held, word by word; its error ends the counting.
func (tx *Tx) TermFrequency(query string, spend func(nodes, bytes int) error) ([]value.TermCount, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.textView()
	if err != nil {
		return nil, wrap(err)
	}
	var spent error
	words := tx.queryWords(query, func(w string) bool {
		if spent == nil {
			spent = spend(1, len(w)+wordBytes)
		}
		return spent == nil
	})
	if spent != nil {
		return nil, spent
	}
	out := make([]value.TermCount, 0, len(words))
	for _, w := range words {
		n, looked := int64(0), 0
		_, err := view.Search(text.Query{
			Text: w.typed, Limit: 1,
			Keep: func(id value.NodeID) bool {
				if looked++; tx.NodeExists(id) {
					n++
				}
				return false
			},
		})
		if err != nil {
			return nil, wrap(err)
		}
		if err := spend(looked+1, 0); err != nil {
			return nil, err
		}
		out = append(out, value.TermCount{Term: w.typed, Nodes: n})
	}
	return out, nil
}
