package importer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// titles finds the titles of memories in texts.
type titles struct {
	byWords  map[string][]string // ids of the memories with that title
	maxWords int
}

const (
	// maxTitleWords leaves out titles that are sentences.
	maxTitleWords = 12
	// minTitleLetters is what a title of one word needs: shorter ones are words of
	// the language too often.
	minTitleLetters = 4
	// maxSameTitle is how many memories may share a title before it names none.
	maxSameTitle = 3
)

// add notes the title of a memory, also without what stands in brackets at its
// end: that only tells it from others of the same name.
func (t *titles) add(id, title string) {
	t.addForm(id, title)
	if open := strings.LastIndexByte(title, '('); open > 0 && strings.HasSuffix(strings.TrimSpace(title), ")") {
		t.addForm(id, title[:open])
	}
}

func (t *titles) addForm(id, title string) {
	words := splitWords(title)
	if len(words) == 0 || len(words) > maxTitleWords || len(words) == 1 && !names(words[0]) {
		return
	}
	key := strings.Join(words, " ")
	if t.byWords == nil {
		t.byWords = map[string][]string{}
	}
	if ids := t.byWords[key]; len(ids) > 0 && ids[len(ids)-1] == id {
		return
	}
	t.byWords[key] = append(t.byWords[key], id)
	t.maxWords = max(t.maxWords, len(words))
}

// names reports whether a single word may name something: it is long enough and
// begins with a capital or a digit.
func names(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return utf8.RuneCountInString(word) >= minTitleLetters && (unicode.IsUpper(first) || unicode.IsDigit(first))
}

// in returns the ids of the memories whose titles stand in a text, each once, in
// order of appearance; of titles that begin at the same word the longest. A
// memory does not mention itself.
func (t *titles) in(id, text string) []string {
	words := splitWords(text)
	var found []string
	seen := map[string]bool{id: true}
	for from := range words {
		for n := min(t.maxWords, len(words)-from); n > 0; n-- {
			ids := t.byWords[strings.Join(words[from:from+n], " ")]
			if len(ids) == 0 || len(ids) > maxSameTitle {
				continue
			}
			for _, other := range ids {
				if !seen[other] {
					seen[other] = true
					found = append(found, other)
				}
			}
			break
		}
	}
	return found
}

func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
