package activation_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"engram/activation"
)

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "abcd": 1, "abcde": 2, "über": 2, "привет": 3, "漢字": 2, "👍": 1, "a漢": 2,
	} {
		if got := activation.EstimateTokens(text); got != want {
			t.Errorf("%q has %d tokens, want %d", text, got, want)
		}
	}
}

func TestCompile(t *testing.T) {
	safety := activation.Passage{ID: 9, Text: "Never open the valve", Structural: true}
	first, second, short := activation.Passage{ID: 1, Text: "Ada moved\n to  Lisbon"}, activation.Passage{ID: 2, Text: "The boat needs new paint this spring"}, activation.Passage{ID: 3, Text: "Yes"}
	cases := []struct {
		name     string
		passages []activation.Passage
		budget   int
		want     string
		nodes    []activation.ID
		cut      bool
	}{
		{"nothing", nil, 100, "", nil, false},
		{"blank", []activation.Passage{{ID: 1, Text: " \n"}}, 100, "", nil, false},
		{"structure first", []activation.Passage{first, safety}, 100, "[LAYER 0 - STRUCTURAL]\n- Never open the valve\n[ENGRAM CONTEXT]\n- Ada moved to Lisbon", []activation.ID{9, 1}, false},
		{"only context", []activation.Passage{first}, 100, "[ENGRAM CONTEXT]\n- Ada moved to Lisbon", []activation.ID{1}, false},
		// 17 + 22 + 39 characters with line ends are 78: 20 tokens hold all, 12 the
		// first and the last.
		{"what does not fit is left out", []activation.Passage{first, second, short}, 12, "[ENGRAM CONTEXT]\n- Ada moved to Lisbon\n- Yes", []activation.ID{1, 3}, false},
		// 23 + 17 and two for the ellipsis: "Never open the" and no more.
		{"structure is cut", []activation.Passage{safety, short}, 11, "[LAYER 0 - STRUCTURAL]\n- Never open the…", []activation.ID{9}, true},
		{"the first is cut", []activation.Passage{second, short}, 9, "[ENGRAM CONTEXT]\n- The boat needs…", []activation.ID{2}, true},
		{"no room for a head", []activation.Passage{first}, 4, "", nil, false},
		{"no room", []activation.Passage{first}, 0, "", nil, false},
		{"a family is one character", []activation.Passage{{ID: 1, Text: "👨‍👩‍👧👨‍👩‍👧"}}, 12, "[ENGRAM CONTEXT]\n- 👨‍👩‍👧…", []activation.ID{1}, true},
	}
	for _, c := range cases {
		got := activation.Compile(c.passages, c.budget)
		if got.Text != c.want || !slices.Equal(got.Nodes, c.nodes) || got.Cut != c.cut {
			t.Errorf("%s: %q %v cut %v, want %q %v cut %v", c.name, got.Text, got.Nodes, got.Cut, c.want, c.nodes, c.cut)
		}
	}
}

// TestCompileKeepsItsBudget: whatever the texts, the budget holds, no character is
// cut, and structure comes first.
func TestCompileKeepsItsBudget(t *testing.T) {
	word := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"👨‍👩‍👧", "e\u0301\u0302", "🇵🇹🇩🇪", "각", "नमस्ते", "word", "\xff\xfe", "a\nb"}))
	rapid.Check(t, func(t *rapid.T) {
		passages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) activation.Passage {
			return activation.Passage{Text: strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "by")), Structural: rapid.Bool().Draw(t, "structural")}
		}), 0, 6).Draw(t, "passages")
		for i := range passages {
			passages[i].ID = activation.ID(i)
		}
		budget := rapid.IntRange(0, 80).Draw(t, "budget")
		got := activation.Compile(passages, budget)
		if n := activation.EstimateTokens(got.Text); n > budget || n != got.Tokens {
			t.Fatalf("%d tokens, said %d, of %d", n, got.Tokens, budget)
		}
		if (got.Text == "") != (len(got.Nodes) == 0) || !utf8.ValidString(got.Text) {
			t.Fatalf("text %q of %v", got.Text, got.Nodes)
		}
		var lines []string
		for _, l := range strings.Split(got.Text, "\n") {
			if l != "" && l != activation.StructuralHead && l != activation.ContextHead {
				lines = append(lines, strings.TrimPrefix(l, "- "))
			}
		}
		if len(lines) != len(got.Nodes) {
			t.Fatalf("%d lines for %v", len(lines), got.Nodes)
		}
		for i, id := range got.Nodes {
			p := passages[id]
			if i > 0 && p.Structural && !passages[got.Nodes[i-1]].Structural {
				t.Fatalf("structure stands behind context: %v", got.Nodes)
			}
			whole := strings.Join(strings.Fields(strings.ToValidUTF8(p.Text, "\uFFFD")), " ")
			if lines[i] != whole && !beginsWith(whole, strings.TrimSuffix(lines[i], "…")) {
				t.Fatalf("%q is cut within a character of %q", lines[i], whole)
			}
		}
	})
}

// beginsWith reports whether part is some characters, as people see them, from the
// start of whole.
func beginsWith(whole, part string) bool {
	at := 0
	for g := uniseg.NewGraphemes(whole); g.Next() && at < len(part); {
		at += len(g.Str())
	}
	return at == len(part) && strings.HasPrefix(whole, part)
}
