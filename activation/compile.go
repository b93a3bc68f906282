package activation

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Passage is a text that may go into a prompt.
type Passage struct {
	ID         ID
	Text       string
	Structural bool // it belongs into the first part, before all others
}

// Compiled is a text for a prompt.
type Compiled struct {
	Text   string
	Tokens int  // by EstimateTokens
	Nodes  []ID // whose texts are in it, in order
	Cut    bool // the last of a part is not whole
}

// The heads of the two parts of a compiled text.
const (
	StructuralHead = "[LAYER 0 - STRUCTURAL]"
	ContextHead    = "[ENGRAM CONTEXT]"
)

// EstimateTokens estimates how many tokens a model makes of a text: four ASCII
// characters are one, two characters of other alphabets, and each character from
// U+2E80 on (Chinese, Japanese, Korean, emoji) is one by itself. Rounded up.
func EstimateTokens(text string) int { return (quarters(text) + 3) / 4 }

// quarters is the estimate in quarters of a token.
func quarters(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			n++
		case r < 0x2E80:
			n += 2
		default:
			n += 4
		}
	}
	return n
}

// Compile puts passages into a text of at most budget tokens: structural ones
// first, each part in the given order under its head. A passage is one line, its
// white space made single spaces. One that does not fit is left out and the next
// one tried, but a structural one, and the very first, is cut: between two
// characters as people see them, at a space when one is near. Without passages,
// or without room for any, the text is empty.
func Compile(passages []Passage, budget int) Compiled {
	c := &compiler{left: 4 * max(budget, 0)}
	c.part(StructuralHead, passages, true)
	c.part(ContextHead, passages, false)
	text := strings.TrimSuffix(c.text.String(), "\n")
	return Compiled{Text: text, Tokens: EstimateTokens(text), Nodes: c.nodes, Cut: c.cut}
}

type compiler struct {
	text  strings.Builder
	left  int // quarters of tokens
	nodes []ID
	cut   bool
}

func (c *compiler) part(head string, passages []Passage, structural bool) {
	open := false
	for _, p := range passages {
		if p.Structural != structural {
			continue
		}
		words := strings.Fields(strings.ToValidUTF8(p.Text, "\uFFFD"))
		if len(words) == 0 {
			continue
		}
		line := "- " + strings.Join(words, " ") + "\n"
		if !open {
			line = head + "\n" + line
		}
		if quarters(line) > c.left {
			if !structural && len(c.nodes) > 0 {
				continue
			}
			least := len("- ")
			if !open {
				least += len(head) + 1
			}
			var ok bool
			if line, ok = shorten(line, least, c.left); !ok {
				continue
			}
			c.cut = true
		}
		open = true
		c.left -= quarters(line)
		c.text.WriteString(line)
		c.nodes = append(c.nodes, p.ID)
	}
}

// near is how many characters a space may stand before the end of the room to be
// where a line is cut.
const near = 24

// ellipsis ends what was cut.
const ellipsis = "…"

// shorten cuts a line to a room in quarters of tokens, and keeps more than its
// first least bytes; false when there is no room for that.
func shorten(line string, least, room int) (string, bool) {
	room -= quarters(ellipsis + "\n")
	rest, state := line, -1
	at, space, behind := 0, 0, 0 // bytes that fit, to the last space, characters since
	for rest != "" {
		var ch string
		ch, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		room -= quarters(ch)
		if behind++; ch == " " && at > least {
			space, behind = at, 0
		}
		if room < 0 {
			break
		}
		at += len(ch)
	}
	if space > least && behind <= near {
		at = space
	}
	if at <= least {
		return "", false
	}
	return line[:at] + ellipsis + "\n", true
}
