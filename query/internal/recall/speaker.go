package recall

import (
	"strings"
	"unicode"

	"engram/graph/value"
	"engram/query/internal/access"
)

// speakers tells whether a query names the speaker of a memory.
type speakers struct {
	g     access.Reader
	key   value.KeyID // of the property speaker; 0: no memory has one
	words map[string]bool
	known map[string]bool // by speaker
}

// speaker gets ready to look at speakers, if the query may name one.
func (r *run) speaker() error {
	if r.t.Speaker == 0 || r.o.Query == "" {
		return nil
	}
	if ranker, ok := r.g.(access.TextRanker); ok {
		if named, err := ranker.TextFieldHas(speakerField, r.o.Query); err != nil || !named {
			return err
		}
	}
	if s := newSpeakers(r.g, r.o.Query); s.key != 0 && len(s.words) > 0 {
		r.speakers = s
	}
	return nil
}

// speakerField is the property that names who said a memory.
const speakerField = "speaker"

func newSpeakers(g access.Reader, query string) *speakers {
	s := &speakers{g: g, words: map[string]bool{}, known: map[string]bool{}}
	s.key, _ = g.Key(speakerField)
	for _, w := range nameWords(query) {
		s.words[w] = true
	}
	return s
}

// named reports whether a word of the speaker's name stands in the query.
func (s *speakers) named(id value.NodeID) (bool, error) {
	v, err := s.g.NodeProp(id, s.key)
	if err != nil || v.AsString() == "" {
		return false, err
	}
	name := v.AsString()
	is, ok := s.known[name]
	if !ok {
		for _, w := range nameWords(name) {
			is = is || s.words[w]
		}
		s.known[name] = is
	}
	return is, nil
}

// nameWords are the words of a text in lower case; initials are none.
func nameWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len([]rune(w)) > 1 {
			out = append(out, w)
		}
	}
	return out
}
