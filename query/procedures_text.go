package query

import (
	"context"
	"slices"
	"strings"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/physical"
)

// defaultHits is how many nodes text.search finds unless told otherwise.
const defaultHits = 10

// textSearch is text.search(query, limit, index): the nodes that say the words of
// a text, best first. With an index only those that say one of the words in a
// property that the index is about.
var textSearch = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "text.search",
		Args: []bind.Field{
			{Name: "query", Type: bound.OneOf(value.KindString)},
			{Name: "limit", Type: bound.OneOf(value.KindInt)},
			{Name: "index", Type: bound.OneOf(value.KindString)},
		},
		Optional: 2,
		Outputs:  searchOutputs,
	},
	Call: func(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
		return searchText(g, "text.search", args[0], args[1], args[2])
	},
}

// queryNodes is text.search in the words of Neo4j. Without a limit it gives all.
var queryNodes = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "db.index.fulltext.queryNodes",
		Args: []bind.Field{
			{Name: "indexName", Type: bound.OneOf(value.KindString)},
			{Name: "queryString", Type: bound.OneOf(value.KindString)},
			{Name: "options", Type: bound.OneOf(value.KindMap)},
		},
		Optional: 1,
		Outputs:  searchOutputs,
	},
	Call: callQueryNodes,
}

var searchOutputs = []bind.Field{
	{Name: "node", Type: bound.OneOf(value.KindNode)},
	{Name: "score", Type: bound.OneOf(value.KindFloat)},
}

func callQueryNodes(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
	const name = "db.index.fulltext.queryNodes"
	limit, skip := value.Int(maxHits), int64(0)
	if !args[2].IsNull() {
		for _, o := range args[2].AsMap().Entries {
			switch o.Key {
			case "limit":
				limit = o.Value
			case "skip":
				if o.Value.Kind() != value.KindInt || o.Value.AsInt() < 0 {
					return nil, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue", "the option skip of %s is a count", name)
				}
				skip = o.Value.AsInt()
			default:
				return nil, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue",
					"%s has the options limit and skip, not %s", name, o.Key)
			}
		}
	}
	if limit.Kind() == value.KindInt {
		limit = value.Int(min(limit.AsInt(), maxHits) + min(skip, maxHits))
	}
	rows, err := searchText(g, name, args[1], limit, args[0])
	return rows[min(int(min(skip, maxHits)), len(rows)):], err
}

// maxHits is the most that a search is asked for.
const maxHits = 1 << 30

func searchText(g access.Reader, procedure string, words, limit, index value.Value) ([][]value.Value, error) {
	if words.IsNull() {
		return nil, nil
	}
	for _, a := range []struct {
		v    value.Value
		kind value.Kind
	}{{words, value.KindString}, {limit, value.KindInt}, {index, value.KindString}} {
		if !a.v.IsNull() && a.v.Kind() != a.kind {
			return nil, fault.AtRuntime(fault.TypeError, "InvalidArgumentType",
				"%s needs %s, but got %s", procedure, a.kind.Named(), a.v.Kind().Named())
		}
	}
	n := int64(defaultHits)
	if !limit.IsNull() {
		n = limit.AsInt()
	}
	if n < 0 {
		return nil, fault.AtRuntime(fault.ArgumentError, "NegativeIntegerArgument",
			"the limit of %s cannot be negative, but is %d", procedure, n)
	}
	var within *searchedIndex
	var keep func(value.NodeID) bool
	if !index.IsNull() {
		var err error
		if within, err = findTextIndex(g, index.AsString(), words.AsString()); err != nil {
			return nil, err
		}
		keep = within.has
	}
	hits, err := g.SearchText(words.AsString(), int(min(n, maxHits)), keep)
	if err == nil && within != nil {
		err = within.err
	}
	if err != nil {
		return nil, err
	}
	rows := make([][]value.Value, len(hits))
	for i, h := range hits {
		rows[i] = []value.Value{value.NodeRef(h.Node), value.Float(h.Score)}
	}
	return rows, nil
}

// searchedIndex tells which nodes say words in the properties of a full-text index.
type searchedIndex struct {
	g      access.Reader
	terms  access.TextAnalyser
	labels []value.LabelID
	keys   []value.KeyID
	wanted []string // what the words are searched as
	err    error    // of reading a property
}

// findTextIndex finds a full-text index by its name.
func findTextIndex(g access.Reader, name, words string) (*searchedIndex, error) {
	_, defs := definitions(g)
	var known []string
	for _, d := range defs {
		if d.Kind != schema.FullText {
			continue
		}
		known = append(known, d.Name)
		if d.Name != name {
			continue
		}
		analyser, ok := g.(access.TextAnalyser)
		if !ok {
			return nil, fault.AtRuntime(fault.NotSupported, "NotSupported", "this graph can't search within an index")
		}
		s := &searchedIndex{g: g, terms: analyser, wanted: analyser.SearchTerms(words)}
		for _, l := range d.Owners() {
			if id, ok := g.Label(l); ok {
				s.labels = append(s.labels, id)
			}
		}
		for _, k := range d.Keys {
			if id, ok := g.Key(k); ok {
				s.keys = append(s.keys, id)
			}
		}
		return s, nil
	}
	err := fault.AtRuntime(fault.ArgumentError, "IndexNotFound", "there is no full-text index %s", name)
	if near := fault.NearestName(name, known); near != "" {
		return nil, err.WithHint("Did you mean %s?", near)
	}
	if len(known) > 0 {
		return nil, err.WithHint("There are %s.", strings.Join(known, ", "))
	}
	return nil, err.WithHint("Make one with CREATE FULLTEXT INDEX, or search everything with text.search($words).")
}

// has reports whether the index is about a node that says one of the words there.
func (s *searchedIndex) has(id value.NodeID) bool {
	if s.err != nil || !slices.ContainsFunc(s.labels, func(l value.LabelID) bool { return s.g.HasLabel(id, l) }) {
		return false
	}
	for _, k := range s.keys {
		v, err := s.g.NodeProp(id, k)
		if err != nil {
			s.err = err
			return false
		}
		if s.says(v) {
			return true
		}
	}
	return false
}

func (s *searchedIndex) says(v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return slices.ContainsFunc(s.terms.SearchTerms(v.AsString()), func(t string) bool { return slices.Contains(s.wanted, t) })
	case value.KindList:
		return slices.ContainsFunc(v.AsList(), s.says)
	}
	return false
}
