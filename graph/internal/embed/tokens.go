package embed

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokens walks the words of a text: letters folded to a-z, what an apostrophe
// splits off left out. Words with digits, with letters that do not fold, or longer
// than maxWord are passed over: the table has none.
type tokens struct {
	text string
	at   int
	hash uint32 // of the current word
	size int
	buf  [maxWord]byte
}

func (t *tokens) word() []byte { return t.buf[:t.size] }

// next finds the next word.
func (t *tokens) next() bool {
	for t.at < len(t.text) {
		if t.scan() {
			return true
		}
	}
	return false
}

// scan reads up to the end of a word, or over one character between words, and
// reports whether it read a word that may be in the table.
func (t *tokens) scan() bool {
	t.size, t.hash = 0, hashStart
	good := true
	for t.at < len(t.text) {
		c := t.text[t.at]
		switch {
		case c >= 'a' && c <= 'z':
			good = t.put(c) && good
			t.at++
		case c >= 'A' && c <= 'Z':
			good = t.put(c|0x20) && good
			t.at++
		case c >= '0' && c <= '9':
			good = false
			t.at++
		case c < utf8.RuneSelf:
			t.at++
			if c == '\'' {
				return t.contraction() && good && t.size > 0
			}
			return good && t.size > 0
		default:
			r, n := utf8.DecodeRuneInString(t.text[t.at:])
			t.at += n
			switch {
			case r == '’':
				return t.contraction() && good && t.size > 0
			case unicode.Is(unicode.Mn, r): // an accent on the letter before
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				good = t.fold(r) && good
			default:
				return good && t.size > 0
			}
		}
	}
	return good && t.size > 0
}

func (t *tokens) put(c byte) bool {
	if t.size == len(t.buf) {
		return false
	}
	t.buf[t.size] = c
	t.size++
	t.hash = (t.hash ^ uint32(c)) * hashPrime
	return true
}

// contraction passes over what an apostrophe splits off a word: 's, 're, n't. It
// reports whether what is before it is a word by itself; "don" in "don't" is not.
func (t *tokens) contraction() bool {
	rest := t.text[t.at:]
	for _, c := range [...]string{"s", "t", "m", "d", "re", "ve", "ll"} {
		if len(rest) < len(c) || !strings.EqualFold(rest[:len(c)], c) || startsWithLetter(rest[len(c):]) {
			continue
		}
		t.at += len(c)
		return c != "t"
	}
	return true
}

func startsWithLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// fold puts the letters that a Latin letter with a mark stands for.
func (t *tokens) fold(r rune) bool {
	two := ""
	switch r {
	case 'ß':
		two = "ss"
	case 'Æ', 'æ':
		two = "ae"
	case 'Œ', 'œ':
		two = "oe"
	case 'Þ', 'þ':
		two = "th"
	}
	if two != "" {
		return t.put(two[0]) && t.put(two[1])
	}
	if r < foldStart || int(r-foldStart) >= len(folded) || folded[r-foldStart] == '.' {
		return false
	}
	return t.put(folded[r-foldStart])
}

// folded has the base letters of U+00C0 to U+017F; a dot where there is none.
const (
	foldStart = 0xC0
	folded    = "aaaaaa.ceeeeiiii" + "dnooooo.ouuuuy.." + "aaaaaa.ceeeeiiii" + "dnooooo.ouuuuy.y" +
		"aaaaaaccccccccdd" + "ddeeeeeeeeeegggg" + "gggghhhhiiiiiiii" + "ii..jjkkklllllll" +
		"lllnnnnnnnnnoooo" + "oo..rrrrrrssssss" + "ssttttttuuuuuuuu" + "uuuuwwyyyzzzzzzs"
)
