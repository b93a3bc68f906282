package box

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// manySpaces in a row are told by their number: what stands behind them would be off the screen.
const manySpaces = 60

// Visible is a text in which what is not seen, or is taken for something else, stands
// escaped: control characters but for line ends and tabs, marks of direction, characters of
// no width, tags, very many spaces, letters that only look like those of the word they stand in.
func Visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && width == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == ' ':
			width = len(text[i:]) - len(strings.TrimLeft(text[i:], " "))
			if width > manySpaces {
				fmt.Fprintf(&b, ` \u{20}*%d `, width)
			} else {
				b.WriteString(text[i : i+width])
			}
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case unseen(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			width = wordLength(text[i:])
			b.WriteString(visibleWord(text[i : i+width]))
		default:
			b.WriteRune(r)
		}
		i += width
	}
	return b.String()
}

// ASCII is a text in which all that is not of plain ASCII stands escaped.
func ASCII(text string) string {
	var b strings.Builder
	for _, r := range Visible(text) {
		if r >= 0x80 {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector) ||
		r == 0x034F || r == 0x115F || r == 0x1160 || r == 0x17B4 || r == 0x17B5 || r == 0x2800 || r == 0x3164 || r == 0xFFA0
}

func wordLength(text string) int {
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || unseen(r) {
			return i
		}
	}
	return len(text)
}

// visibleWord escapes letters of other scripts in a word with Latin ones, such as the а of
// Cyrillic in pаypal, and those that are a plain letter in another dress, such as ｒ.
func visibleWord(word string) string {
	latin, plain := false, true
	for _, r := range word {
		plain = plain && r < 0x80
		latin = latin || unicode.Is(unicode.Latin, r)
	}
	if plain {
		return word
	}
	var b strings.Builder
	for _, r := range word {
		folded := norm.NFKC.String(string(r))
		dressed := r >= 0x80 && len(folded) == 1 // ASCII
		if dressed || latin && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
