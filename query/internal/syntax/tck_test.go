package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/query/internal/fault"
	"engram/query/internal/syntax"
	"engram/query/internal/tck"
)

// tckDir returns the folder that holds the TCK.
func tckDir(t *testing.T) string {
	dir := os.Getenv("ENGRAM_TCK")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "tck")
	}
	if _, err := os.Stat(filepath.Join(dir, "features")); err != nil {
		t.Skipf("no openCypher TCK at %s; set ENGRAM_TCK to its folder", dir)
	}
	return dir
}

// TestTCKParses parses every statement of the TCK. One that is expected to fail
// at compile time may fail here, but then in the way that is expected.
func TestTCKParses(t *testing.T) {
	scenarios, err := tck.Load(filepath.Join(tckDir(t), "features"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		for i, step := range s.Steps {
			if step.Doc == "" {
				continue
			}
			want := ""
			if strings.HasPrefix(step.Text, "executing") && i+1 < len(s.Steps) {
				_, want, _ = strings.Cut(s.Steps[i+1].Text, "should be raised at compile time: ")
			}
			_, err := syntax.Parse(step.Doc)
			if err == nil {
				continue
			}
			if f := fault.As(err); f == nil || want == "" || f.Detail != want {
				t.Errorf("%s\n%s\n%vwant %q", s.ID(), step.Doc, err, want)
			}
		}
	}
}
