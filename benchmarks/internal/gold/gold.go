// Package gold makes questions with known answers from a graph of memories, each by
// a rule that is told with it. Nothing is made up: a question's words come from the
// memories themselves, from their relations, or from a list of synonyms.
package gold

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
)

// Memory is a text of the graph.
type Memory struct{ ID, Text string }

// Edge joins two memories.
type Edge struct{ From, To, Type string }

// Question asks for what Evidence names; nothing in the category nonsense.
type Question struct {
	ID           string   `json:"id"`
	Conversation string   `json:"conversation"`
	Question     string   `json:"question"`
	Category     string   `json:"category"`
	Evidence     []string `json:"evidence"`
	// Superseded is what the evidence replaces: it should not come before it.
	Superseded []string `json:"superseded,omitempty"`
	Derived    string   `json:"derived"` // how the question came about
}

// Categories are all kinds of questions, in the order in which they are made.
var Categories = []string{"exact-rare", "phrase", "paraphrase", "associative", "nonsense", "superseded"}

// Graph is what questions are made of.
type Graph struct {
	Memories []Memory // by id
	Edges    []Edge   // in a fixed order
	// Search returns the ids of the first memories that a search for words finds.
	Search func(query string, limit int) ([]string, error)
}

//go:embed synonyms.txt
var synonymsText string

// maker makes questions.
type maker struct {
	g       Graph
	each    int // at most of one category
	random  *rand.Rand
	text    map[string]string
	content map[string][]string
	in      map[string]int // word: memories it is in
	plain   []string       // words of each memory, joined
	synonym map[string]string
	// replaced are the memories that others supersede: recall leaves them out, so that
	// only superseded asks about them.
	replaced map[string]bool
}

// Make makes up to each questions of every category. The same graph and seed give
// the same questions.
func Make(g Graph, each int, seed uint64) ([]Question, error) {
	m := &maker{
		g: g, each: each, random: rand.New(rand.NewPCG(seed, 5)), text: map[string]string{}, content: map[string][]string{}, in: map[string]int{},
		synonym: synonyms(), replaced: map[string]bool{},
	}
	for _, e := range g.Edges {
		if e.Type == supersedes {
			m.replaced[e.To] = true
		}
	}
	for _, x := range g.Memories {
		c := content(x.Text)
		m.text[x.ID], m.content[x.ID] = x.Text, c
		for _, w := range c {
			m.in[w]++
		}
		m.plain = append(m.plain, " "+strings.Join(words(x.Text), " ")+" ")
	}
	var all []Question
	for _, c := range Categories {
		made, err := m.category(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		for i := range made {
			made[i].ID, made[i].Category = fmt.Sprintf("%s-%d", c, i+1), c
		}
		all = append(all, made...)
	}
	return all, nil
}

func (m *maker) category(name string) ([]Question, error) {
	switch name {
	case "associative":
		return m.overEdges(func(e Edge) bool { return e.Type != supersedes }, m.associative)
	case "superseded":
		return m.overEdges(func(e Edge) bool { return e.Type == supersedes }, m.superseded)
	case "nonsense":
		return m.nonsense()
	}
	rule := map[string]func(int) (*Question, error){"exact-rare": m.exactRare, "phrase": m.phrase, "paraphrase": m.paraphrase}[name]
	var out []Question
	for _, i := range m.random.Perm(len(m.g.Memories)) {
		if len(out) == m.each {
			break
		}
		if m.replaced[m.g.Memories[i].ID] {
			continue
		}
		q, err := rule(i)
		if err != nil {
			return nil, err
		}
		if q != nil {
			out = append(out, *q)
		}
	}
	return out, nil
}

// overEdges makes questions of edges, turn by turn of each type, so that frequent
// types do not crowd out the others.
func (m *maker) overEdges(want func(Edge) bool, rule func(Edge) (*Question, error)) ([]Question, error) {
	byType := map[string][]Edge{}
	var types []string
	for _, i := range m.random.Perm(len(m.g.Edges)) {
		e := m.g.Edges[i]
		if !want(e) || m.text[e.From] == "" || m.text[e.To] == "" || e.From == e.To {
			continue
		}
		if byType[e.Type] == nil {
			types = append(types, e.Type)
		}
		byType[e.Type] = append(byType[e.Type], e)
	}
	sort.Strings(types)
	var out []Question
	for left := true; left && len(out) < m.each; {
		left = false
		for _, t := range types {
			for len(byType[t]) > 0 && len(out) < m.each {
				left = true
				e := byType[t][0]
				byType[t] = byType[t][1:]
				q, err := rule(e)
				if err != nil {
					return nil, err
				}
				if q != nil {
					out = append(out, *q)
					break
				}
			}
		}
	}
	return out, nil
}

// rarest returns the content words of a text, those in the fewest memories first.
func (m *maker) rarest(id string) []string {
	out := slices.Clone(m.content[id])
	slices.SortStableFunc(out, func(a, b string) int {
		if m.in[a] != m.in[b] {
			return m.in[a] - m.in[b]
		}
		return strings.Compare(a, b)
	})
	return out
}
