package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Some providers stream tokens whose ends fall inside of a character, so that a chunk
// of JSON holds half of one. Bytes that are no UTF-8 stand as characters of a private
// area while JSON is decoded, and become bytes again afterwards.
const halves = 0xF700

// decode decodes JSON that may hold halves of characters; it tells whether it does.
func decode(raw string, v any) (halved bool, err error) {
	if utf8.ValidString(raw) {
		return false, json.Unmarshal([]byte(raw), v)
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRuneInString(raw[i:])
		if r == utf8.RuneError && n == 1 {
			r = halves + rune(raw[i])
		}
		b.WriteRune(r)
		i += n
	}
	return true, json.Unmarshal([]byte(b.String()), v)
}

// whole are the bytes that a decoded text stands for.
func whole(text string, halved bool) string {
	if !halved {
		return text
	}
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r >= halves+0x80 && r <= halves+0xFF {
			out = append(out, byte(r-halves))
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// emitter gives text on in whole characters.
type emitter struct {
	emit func(string)
	rest string
}

func (e *emitter) add(text string) {
	text = e.rest + text
	end := len(text)
	for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ { // the last character may be cut
		if c := text[len(text)-i:]; utf8.RuneStart(c[0]) {
			if !utf8.FullRuneInString(c) {
				end -= i
			}
			break
		}
	}
	e.rest = text[end:]
	if end > 0 && e.emit != nil {
		e.emit(strings.ToValidUTF8(text[:end], "\ufffd"))
	}
}

// flush gives on what never became a character.
func (e *emitter) flush() {
	if e.rest != "" && e.emit != nil {
		e.emit("\ufffd")
	}
	e.rest = ""
}

// check tells what is wrong with arguments, and makes "{}" of none.
func check(c *Call) {
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
		return
	}
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.Arguments), &o); err != nil || o == nil {
		c.Problem = "the arguments are not a JSON object"
	}
}

func addSource(sources []string, url string) []string {
	if url == "" || slices.Contains(sources, url) {
		return sources
	}
	return append(sources, url)
}
