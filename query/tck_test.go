package query_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"engram/query/internal/tck"

	_ "github.com/cockroachdb/datadriven" // the flag -rewrite
	"github.com/google/go-cmp/cmp"
)

// tckDefault is where the TCK is expected beside the module.
var tckDefault = filepath.Join("..", "..", "shared", "tck")

// tckSummary is printed at the very end of the run.
var tckSummary string

const tckScoreboard = "testdata/tck/scoreboard.txt"

// TestTCK runs the openCypher TCK, each scenario on a database of its own. A
// failing scenario is logged with its reason; what fails the test, for the
// default folder, is a difference from the scoreboard. Rewrite it with -rewrite.
func TestTCK(t *testing.T) {
	dir := os.Getenv("ENGRAM_TCK")
	if dir == "" {
		dir = tckDefault
	}
	if _, err := os.Stat(filepath.Join(dir, "features")); err != nil {
		t.Skipf("no openCypher TCK at %s (set ENGRAM_TCK to the folder that holds features/ and graphs/)", dir)
	}
	scenarios, err := tck.Load(filepath.Join(dir, "features"))
	if err != nil {
		t.Fatal(err)
	}
	score := &tck.Score{}
	for i := range scenarios {
		s := &scenarios[i]
		t.Run(s.ID(), func(t *testing.T) {
			failure := tck.Run(context.Background(), s, newTCKSession(t), filepath.Join(dir, "graphs"))
			score.Add(s, failure)
			if failure != nil {
				t.Logf("FAILED %s\n%s", s.ID(), failure)
			}
		})
	}
	tckSummary = score.Summary()
	if len(scenarios) == score.Total() && sameFolder(dir, tckDefault) {
		compareScoreboard(t, score.String())
	}
}

// compareScoreboard holds the scores against the golden file, or rewrites it.
func compareScoreboard(t *testing.T, got string) {
	t.Helper()
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(tckScoreboard), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(tckScoreboard, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(tckScoreboard)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the scoreboard changed (-rewrite accepts it):\n%s", diff)
	}
}

// sameFolder reports whether two paths lead to the same folder.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
