package benchmarks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	crowdName = "crowd"
	// keptWords are the most frequent words, which no copy exchanges: they make
	// sentences of the rest.
	keptWords = 150
	// Words are exchanged with others of about their frequency: within the next 50,
	// the 65 after those, and so on.
	firstGroup, groupGrowth = 50, 1.3
)

// exchangedIn are the properties of memories in which words are exchanged.
var exchangedIn = []string{"text", "title", "speaker"}

var word = regexp.MustCompile(`\p{L}+`)

// crowd puts all conversations into one namespace, among copies of themselves in
// which words are exchanged for others about as frequent, until there are at least n
// memories. So a question meets the frequencies, lengths and structure of the set in
// a namespace of any size, while its evidence stands in the first copy only. The same
// set and n give the same bytes.
func (s *recallSetFiles) crowd(n int) (*recallSetFiles, error) {
	var memories []map[string]any
	c := &conversation{name: crowdName}
	for _, from := range s.conversations {
		for line := range bytes.Lines(from.memories) {
			m := map[string]any{}
			if err := json.Unmarshal(line, &m); err != nil {
				return nil, err
			}
			memories = append(memories, m)
		}
		for _, q := range from.questions {
			q.Conversation = crowdName
			q.Evidence = slices.Clone(q.Evidence)
			for i := range q.Evidence {
				q.Evidence[i] = inCopy(0, q.Evidence[i])
			}
			c.questions = append(c.questions, q)
		}
	}
	groups := wordGroups(memories)
	for copied := 0; copied == 0 || copied*len(memories) < n && len(memories) > 0; copied++ {
		if err := c.addCopy(s, memories, copied, exchanges(groups, uint64(copied))); err != nil {
			return nil, err
		}
	}
	return &recallSetFiles{conversations: []*conversation{c}, byName: map[string]*conversation{crowdName: c}}, nil
}

func inCopy(copied int, id any) string { return fmt.Sprintf("%d/%v", copied, id) }

func (c *conversation) addCopy(s *recallSetFiles, memories []map[string]any, copied int, other map[string]string) error {
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for _, m := range memories {
		changed := map[string]any{}
		for k, v := range m {
			if text, ok := v.(string); ok && slices.Contains(exchangedIn, k) {
				v = exchanged(text, other)
			}
			changed[k] = v
		}
		changed["id"], changed["conversation"] = inCopy(copied, m["id"]), crowdName
		if m["session"] != nil {
			changed["session"] = fmt.Sprintf("%d/%v/%v", copied, m["conversation"], m["session"])
		}
		if err := out.Encode(changed); err != nil {
			return err
		}
	}
	c.memories = append(c.memories, lines.Bytes()...)
	lines.Reset()
	for _, from := range s.conversations {
		for line := range bytes.Lines(from.links) {
			link := map[string]any{}
			if err := json.Unmarshal(line, &link); err != nil {
				return err
			}
			link["a"], link["b"] = inCopy(copied, link["a"]), inCopy(copied, link["b"])
			if err := out.Encode(link); err != nil {
				return err
			}
		}
	}
	c.links = append(c.links, lines.Bytes()...)
	return nil
}

// wordGroups are the words of the memories, in groups of about the same frequency,
// without the most frequent ones.
func wordGroups(memories []map[string]any) [][]string {
	count := map[string]int{}
	for _, m := range memories {
		for _, k := range exchangedIn {
			text, _ := m[k].(string)
			for _, w := range word.FindAllString(strings.ToLower(text), -1) {
				count[w]++
			}
		}
	}
	words := make([]string, 0, len(count))
	for w := range count {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	words = words[min(keptWords, len(words)):]
	var groups [][]string
	for size := float64(firstGroup); len(words) > 0; size *= groupGrowth {
		n := min(int(size), len(words))
		groups, words = append(groups, words[:n]), words[n:]
	}
	return groups
}

// exchanges gives every word another one of its group; copy 0 keeps all.
func exchanges(groups [][]string, copied uint64) map[string]string {
	other := map[string]string{}
	if copied == 0 {
		return other
	}
	random := rand.New(rand.NewPCG(copied, 11))
	for _, g := range groups {
		circle := random.Perm(len(g))
		for i, k := range circle {
			other[g[k]] = g[circle[(i+1)%len(circle)]]
		}
	}
	return other
}

// exchanged keeps capitals at the beginning of words.
func exchanged(text string, other map[string]string) string {
	if len(other) == 0 {
		return text
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		to, ok := other[strings.ToLower(w)]
		first, _ := utf8.DecodeRuneInString(w)
		if !ok {
			return w
		}
		if r, size := utf8.DecodeRuneInString(to); unicode.IsUpper(first) {
			return string(unicode.ToUpper(r)) + to[size:]
		}
		return to
	})
}
