package bind_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// FuzzBind binds whatever parses: it must not panic, every error must be a fault
// with a place, and what binds must print. Seeds are the golden statements.
func FuzzBind(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\nbind\n")[1:] {
			statement, _, _ := strings.Cut(block, "\n----")
			f.Add(statement)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		stmt, err := parseAndBind(text, procedures{})
		if err != nil {
			e := fault.As(err)
			if e == nil {
				t.Fatalf("%q: the error is no fault: %v", text, err)
			}
			if !e.Span.Known() {
				t.Fatalf("%q: the error has no place: %v", text, err)
			}
			return
		}
		if bound.Dump(stmt) == "" && stmt.Query != nil && len(stmt.Query.Parts[0].Clauses) > 0 {
			t.Fatalf("%q: nothing printed", text)
		}
	})
}
