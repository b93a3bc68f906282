package embed

import "math"

// Embed returns the vector of a text, and whether the text has any word that is
// known. It allocates nothing; a sentence takes a few microseconds. The sum is one
// of whole numbers, so the order of words does not matter, and all that follows
// is rounded as IEEE 754 says, without fused operations.
func (m *Model) Embed(text string) (Vector, bool) {
	var sum [Dim]int64
	t := tokens{text: text}
	for t.next() {
		if i := m.look(&t); i >= 0 {
			add(&sum, (*[Dim]int8)(m.codes[i*Dim:]), m.weights[i])
		}
	}
	var norm float64
	for _, s := range sum {
		norm += float64(float64(s) * float64(s))
	}
	if norm == 0 {
		return Vector{}, false
	}
	var out Vector
	norm = math.Sqrt(norm)
	for j, s := range sum {
		out[j] = float32(float64(s) / norm)
	}
	return out, true
}

// Knows reports whether a word of a text is in the table, or is a form of one that is.
// A text of which it knows none has no vector.
func (m *Model) Knows(text string) bool {
	t := tokens{text: text}
	for t.next() {
		if m.look(&t) >= 0 {
			return true
		}
	}
	return false
}

func add(sum *[Dim]int64, codes *[Dim]int8, weight int64) {
	for j, c := range codes {
		sum[j] += weight * int64(c)
	}
}

// look returns the number of the current word or of what it is a form of, or -1.
func (m *Model) look(t *tokens) int {
	if i := m.find(t.word(), t.hash); i >= 0 {
		return i
	}
	if w := t.word(); !lastLetters[w[len(w)-1]] {
		return -1
	}
	var buf [maxWord + 1]byte
	for _, e := range endings {
		stem, ok := cut(t.word(), e.suffix)
		if !ok {
			continue
		}
		form := append(append(buf[:0], stem...), e.instead...)
		if i := m.find(form, hash(form)); i >= 0 {
			return i
		}
		if n := len(stem); e.doubles && n > minStem && stem[n-1] == stem[n-2] {
			if i := m.find(stem[:n-1], hash(stem[:n-1])); i >= 0 {
				return i
			}
		}
	}
	return -1
}

// minStem is how long a stem has to be.
const minStem = 3

// endings are tried in order on words that are not in the table: forms of English
// words whose base form usually is.
var endings = [...]struct {
	suffix, instead string
	doubles         bool // the last letter may have been doubled: plan, planning
}{
	{"ies", "y", false},
	{"es", "", false},
	{"s", "", false},
	{"ings", "", true},
	{"ing", "e", false},
	{"ing", "", true},
	{"ied", "y", false},
	{"ed", "e", false},
	{"ed", "", true},
	{"iest", "y", false},
	{"est", "e", false},
	{"est", "", true},
	{"ier", "y", false},
	{"er", "e", false},
	{"er", "", true},
	{"ily", "y", false},
	{"ly", "", false},
	{"iness", "y", false},
	{"ness", "", false},
}

// lastLetters are those that an ending may end with.
var lastLetters = func() (last [256]bool) {
	for _, e := range endings {
		last[e.suffix[len(e.suffix)-1]] = true
	}
	return last
}()

func cut(word []byte, suffix string) ([]byte, bool) {
	n := len(word) - len(suffix)
	if n < minStem || string(word[n:]) != suffix {
		return nil, false
	}
	return word[:n], true
}
