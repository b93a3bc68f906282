package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/query/internal/fault"
)

// FuzzParse holds the parser to what is true of any text: it returns, an error
// is a fault with a place within the text that renders, tokens cover the text in
// order, and tokens joined by single spaces give the same tokens again.
func FuzzParse(f *testing.F) {
	for _, text := range scriptStatements(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Parse(text)
		if err != nil {
			checkFault(t, text, err)
		}
		tokens, err := tokenize(text)
		if err != nil {
			return
		}
		joined, last := []string{}, 0
		for i := range tokens {
			tok := &tokens[i]
			if tok.Pos.Offset < last || text[tok.Pos.Offset:end(tok)] != tok.Value {
				t.Fatalf("token %q at %d does not lie behind %d in the text", tok.Value, tok.Pos.Offset, last)
			}
			if tok.Type == tBad {
				return // may swallow what follows
			}
			last = end(tok)
			joined = append(joined, tok.Value)
		}
		again, err := tokenize(strings.Join(joined, " "))
		if err != nil || len(again) != len(tokens) {
			t.Fatalf("again: %d tokens, %v; first: %d", len(again), err, len(tokens))
		}
		for i := range tokens {
			if again[i].Type != tokens[i].Type || again[i].Value != tokens[i].Value {
				t.Fatalf("token %d is %q, then %q", i, tokens[i].Value, again[i].Value)
			}
		}
	})
}

func checkFault(t *testing.T, text string, err error) {
	e := fault.As(err)
	if e == nil {
		t.Fatalf("%v is no fault", err)
	}
	if e.Message == "" || e.Type == "" {
		t.Fatalf("%#v says nothing", e)
	}
	if e.Span.Known() && (e.Span.Offset > len(text) || e.Span.End < e.Span.Offset || e.Span.End > len(text)) {
		t.Fatalf("%v has the span %v in a text of %d bytes", err, e.Span, len(text))
	}
	if e.Render(text) == "" {
		t.Fatalf("%v renders as nothing", err)
	}
}

// scriptStatements returns the statements of the golden files.
func scriptStatements(tb testing.TB) []string {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		tb.Fatal(err)
	}
	var list []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\nparse\n") {
			statement, _, found := strings.Cut(strings.TrimPrefix(block, "parse\n"), "\n----")
			if found {
				list = append(list, statement)
			}
		}
	}
	if len(list) < 100 {
		tb.Fatalf("only %d statements found in the golden files", len(list))
	}
	return list
}
