package graph

import (
	"cmp"
	"slices"
	"strings"

	"engram/graph/internal/text"
	"engram/graph/value"
)

// RankText is SearchText for a caller that ranks the hits by more than text. Hits
// come without words; where the least score has more nodes than there is room
// for, none of them is a hit, as long as apart others are; and the order of equal
// scores is of no meaning. That is what sparing to read their ids costs.
func (tx *Tx) RankText(query string, limit, apart int, keep func(value.NodeID) bool) ([]value.TextHit, error) {
	hits, err := tx.searchText(text.Query{Text: query, Limit: limit, Apart: apart}, keep)
	if err != nil {
		return nil, err
	}
	out := make([]value.TextHit, len(hits))
	for i, h := range hits {
		out[i] = value.TextHit{Node: h.Node, Score: h.Score}
	}
	return out, nil
}

// searchText searches for what the transaction sees.
func (tx *Tx) searchText(q text.Query, keep func(value.NodeID) bool) ([]text.Hit, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.textView()
	if err != nil {
		return nil, wrap(err)
	}
	var bad error
	if q.Apart == 0 || keep != nil {
		q.Keep = func(id value.NodeID) bool { return tx.NodeExists(id) && (keep == nil || keep(id)) }
	}
	q.Tie = func(a, b value.NodeID) int {
		x, err := tx.ElementID(a)
		y, err2 := tx.ElementID(b)
		bad = cmp.Or(bad, err, err2)
		return strings.Compare(x, y)
	}
	hits, err := view.Search(q)
	if err = cmp.Or(err, bad); err != nil {
		return nil, wrap(err)
	}
	if q.Keep == nil {
		hits = slices.DeleteFunc(hits, func(h text.Hit) bool { return !tx.NodeExists(h.Node) })
	}
	return hits, nil
}

// MatchedWords returns, for each of some nodes, the words of a query that its text
// has, as typed, those first that weigh most.
func (tx *Tx) MatchedWords(query string, nodes []value.NodeID) ([][]string, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.textView()
	if err != nil {
		return nil, wrap(err)
	}
	hits, err := view.Explain(text.Query{Text: query}, nodes)
	if err != nil {
		return nil, wrap(err)
	}
	out := make([][]string, len(nodes))
	words := tx.foundWords(query, hits)
	for _, h := range hits {
		if tx.NodeExists(h.Node) {
			out[slices.Index(nodes, h.Node)] = matched(words, h.Terms)
		}
	}
	return out, nil
}

// TextFieldHas reports whether a word of a text is in a text field of any node.
func (tx *Tx) TextFieldHas(field, words string) (bool, error) {
	if err := tx.check(); err != nil {
		return false, err
	}
	view, err := tx.textView()
	if err != nil {
		return false, wrap(err)
	}
	has, err := view.FieldHas(field, words)
	return has, wrap(err)
}
