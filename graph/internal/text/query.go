package text

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/graph/value"
)

// Query says what to look for.
type Query struct {
	// Text is analysed like the documents; every word weighs 1, a repeated one
	// more.
	Text string
	// Terms are further words with weights of their own.
	Terms []Term
	// Weights, when not nil, replace the weights of Options.Fields; a field that
	// is missing here is not searched.
	Weights map[string]float64
	// MaxTerms keeps the rarest terms of a long query; 0 means 32, below 0 all.
	MaxTerms int
	// Limit is how many hits are wanted; 0 means none.
	Limit int
	// Keep, when not nil, tells which nodes may be hits. It is called only for
	// those that would be. It does not change scores.
	Keep func(value.NodeID) bool
	// Tie orders nodes of equal score; nil orders them by id. It is called only
	// for such nodes.
	Tie func(a, b value.NodeID) int
	// Apart, when above 0, spares asking Tie: if there is no room for all nodes that
	// have the least score of a hit, none of them is one, as long as Apart others
	// are. Hits of equal scores come in order of id then. With Keep it is not used.
	Apart int
	// Explain fills Hit.Terms.
	Explain bool
}

// Term is a piece of a query.
type Term struct {
	Text   string
	Weight float64 // 0 or less: left out
}

// Hit is one result.
type Hit struct {
	Node  value.NodeID
	Score float64
	Terms []TermScore // with Query.Explain, in the order they were added up
}

// TermScore is what one term in one field gave a hit.
type TermScore struct {
	Field  string
	Term   string // as indexed
	Freq   uint32 // in the field of the hit
	Length uint32 // of that field
	Docs   uint64 // documents with the word in any field
	Score  float64
}

// DefaultMaxTerms is how many terms of a query are looked up: more than a
// question has, so that only pasted paragraphs are cut.
const DefaultMaxTerms = 32

// group is one word of the query with what stands for it in fields of each kind.
type group struct {
	key    string
	weight float64            // of all the words that it stands for
	forms  [3]map[string]bool // by Kind: terms
	items  []*item
	docs   uint64 // of all items, to tell rare words from frequent ones
	with   uint64 // documents that have the word in any field
}

func (g *group) add(k Kind, term string) {
	if g.forms[k] == nil {
		g.forms[k] = map[string]bool{}
	}
	g.forms[k][term] = true
}

// groups analyses a query; the result is in order of key.
func (ix *Index) groups(q *Query) []*group {
	byKey := map[string]*group{}
	of := func(key string) *group {
		g := byKey[key]
		if g == nil {
			g = &group{key: key}
			byKey[key] = g
		}
		return g
	}
	parts := q.Terms
	if q.Text != "" {
		parts = append([]Term{{q.Text, 1}}, parts...)
	}
	for _, p := range parts {
		if !(p.Weight > 0) {
			continue
		}
		p.Text = leading(p.Text)
		words := ix.analyzer.tokens(Words, p.Text)
		for _, w := range words {
			stem := ix.analyzer.stemOf(w)
			g := of(stem)
			g.weight += p.Weight
			g.add(English, stem)
			g.add(Words, w)
			g.add(Exact, w)
		}
		if whole := ix.analyzer.tokens(Exact, p.Text); len(words) > 1 && len(whole) == 1 {
			g := of(whole[0])
			g.weight += p.Weight
			g.add(Exact, whole[0])
		}
	}
	out := make([]*group, 0, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		out = append(out, byKey[key])
	}
	return out
}

// maxQueryBytes is how much of a text is searched for: the rarest words of so much of
// it are enough to find what is like it, and each costs a look-up in every field.
const maxQueryBytes = 64 << 10

// leading is the part of a text that is searched for, whole words if it has any.
func leading(text string) string {
	if len(text) <= maxQueryBytes {
		return text
	}
	end := strings.LastIndexFunc(text[:maxQueryBytes], unicode.IsSpace)
	if end <= 0 {
		for end = maxQueryBytes; end > 0 && !utf8.RuneStart(text[end]); end-- {
		}
	}
	return text[:end]
}

// Terms returns the English terms of a text, each once, in order: empty when a
// query for it could match nothing.
func (ix *Index) Terms(text string) []string {
	terms := ix.analyzer.tokens(English, text)
	slices.Sort(terms)
	return slices.Compact(terms)
}

// weight returns the weight of a field in a query.
func (ix *Index) weight(q *Query, field int) float64 {
	if q.Weights == nil {
		return ix.fields[field].Weight
	}
	return q.Weights[ix.fields[field].Name]
}

// expand makes the items of a group: its terms in every searched field.
func (g *group) expand(ix *Index, q *Query) {
	for f := range ix.fields {
		w := ix.weight(q, f)
		if !(w > 0) {
			continue
		}
		forms := g.forms[ix.fields[f].Kind]
		for _, term := range slices.Sorted(maps.Keys(forms)) {
			g.items = append(g.items, &item{field: f, term: term, weight: w})
		}
	}
}

// only is the item that has documents, when no other one has.
func (g *group) only() *item {
	var found *item
	for _, it := range g.items {
		if it.docs == 0 {
			continue
		}
		if found != nil {
			return nil
		}
		found = it
	}
	return found
}

// rarest keeps the groups with fewest documents, in order of key.
func rarest(groups []*group, limit int) []*group {
	groups = slices.DeleteFunc(groups, func(g *group) bool { return g.docs == 0 })
	if limit == 0 {
		limit = DefaultMaxTerms
	}
	if limit < 0 || len(groups) <= limit {
		return groups
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		if a.docs != b.docs {
			if a.docs < b.docs {
				return -1
			}
			return 1
		}
		return strings.Compare(a.key, b.key)
	})
	groups = groups[:limit]
	slices.SortFunc(groups, func(a, b *group) int { return strings.Compare(a.key, b.key) })
	return groups
}
