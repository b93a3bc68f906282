package gold

import (
	"fmt"
	"slices"
	"strings"
)

const supersedes = "SUPERSEDES"

// exactRare asks by a word that only this memory has, and its next rarest.
func (m *maker) exactRare(i int) (*Question, error) {
	id := m.g.Memories[i].ID
	rare := m.rarest(id)
	if len(rare) < 2 || m.in[rare[0]] != 1 || len(rare[0]) < 4 {
		return nil, nil
	}
	return &Question{
		Question: rare[0] + " " + rare[1], Evidence: []string{id},
		Derived: fmt.Sprintf("%q is in this memory only, %q in %d", rare[0], rare[1], m.in[rare[1]]),
	}, nil
}

// phraseWords is how many words in a row a phrase has.
const phraseWords = 4

// phrase asks by words that stand in this row in this memory only.
func (m *maker) phrase(i int) (*Question, error) {
	all := words(m.g.Memories[i].Text)
	if len(all) < phraseWords {
		return nil, nil
	}
	at := m.random.IntN(len(all) - phraseWords + 1)
	phrase := strings.Join(all[at:at+phraseWords], " ")
	if len(content(phrase)) < 2 {
		return nil, nil
	}
	for k, text := range m.plain {
		if k != i && strings.Contains(text, " "+phrase+" ") {
			return nil, nil
		}
	}
	return &Question{
		Question: phrase, Evidence: []string{m.g.Memories[i].ID},
		Derived: fmt.Sprintf("words %d to %d, which stand in this row in no other memory", at+1, at+phraseWords),
	}, nil
}

// synonyms maps each word of the list to the next one of its line.
func synonyms() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(synonymsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		group := strings.Fields(line)
		for i, w := range group {
			if out[w] == "" {
				out[w] = group[(i+1)%len(group)]
			}
		}
	}
	return out
}

// lexicalReach is how far down a search for words is looked for what must not be
// found by words.
const lexicalReach = 50

// paraphrase asks by synonyms of the memory's rarest words that have any. It shares no content word with
// it, and a search for words does not find it.
func (m *maker) paraphrase(i int) (*Question, error) {
	x := m.g.Memories[i]
	var asked, how []string
	for _, w := range m.rarest(x.ID) {
		if s := m.synonym[w]; s != "" && len(asked) < 4 {
			asked, how = append(asked, s), append(how, w+" → "+s)
		}
	}
	if len(asked) < 2 || shares(asked, m.content[x.ID]) {
		return nil, nil
	}
	q := strings.Join(asked, " ")
	if found, err := m.finds(q, x.ID); found || err != nil {
		return nil, err
	}
	return &Question{Question: q, Evidence: []string{x.ID}, Derived: "synonyms: " + strings.Join(how, ", ")}, nil
}

// finds reports whether a search for words reaches a memory.
func (m *maker) finds(query, id string) (bool, error) {
	hits, err := m.g.Search(query, lexicalReach)
	return slices.Contains(hits, id), err
}

// associative asks by the rarest words of one end for the other, which has none of
// them.
func (m *maker) associative(e Edge) (*Question, error) {
	rare := m.rarest(e.From)
	if len(rare) < 2 || m.replaced[e.To] {
		return nil, nil
	}
	rare = rare[:min(3, len(rare))]
	if shares(rare, m.content[e.To]) {
		return nil, nil
	}
	q := strings.Join(rare, " ")
	if found, err := m.finds(q, e.To); found || err != nil {
		return nil, err
	}
	return &Question{
		Question: q, Evidence: []string{e.To},
		Derived: fmt.Sprintf("the rarest words of %s, which is joined to the evidence by %s", e.From, e.Type),
	}, nil
}

// superseded asks for what both ends speak of: the start, which replaces the end.
func (m *maker) superseded(e Edge) (*Question, error) {
	var both []string
	for _, w := range m.rarest(e.From) {
		if slices.Contains(m.content[e.To], w) {
			both = append(both, w)
		}
	}
	if len(both) == 0 {
		return nil, nil
	}
	return &Question{
		Question: strings.Join(both[:min(3, len(both))], " "), Evidence: []string{e.From}, Superseded: []string{e.To},
		Derived: fmt.Sprintf("words that it shares with %s, which it supersedes", e.To),
	}, nil
}

// nonsense asks by words that look like some and are none.
func (m *maker) nonsense() ([]Question, error) {
	syllable := func() string {
		pick := func(from string) string { return string(from[m.random.IntN(len(from))]) }
		return pick("bdfgklmnprstvz") + pick("aeiou") + pick("bdgklmnprstvx")
	}
	var out []Question
	for range 20 * m.each {
		if len(out) == m.each {
			break
		}
		a, b := syllable()+syllable()+"q", syllable()+"w"+syllable()
		if m.in[a]+m.in[b] > 0 {
			continue
		}
		q := "what about the " + a + " and the " + b
		hits, err := m.g.Search(q, 1)
		if err != nil {
			return nil, err
		}
		if len(hits) == 0 {
			out = append(out, Question{Question: q, Evidence: []string{}, Derived: "two words made at random that no memory has"})
		}
	}
	return out, nil
}
