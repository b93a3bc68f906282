package query_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"engram/query/internal/tck"
)

// leastChanged is how many tokens of a scenario have to be others before it counts
// as a renamed one.
const leastChanged = 3

// TestTCKRenamed runs the scenarios of the TCK with other names and values (see
// tck.Renamed): an engine that reads the TCK's text fails here. All of them have to
// pass; -short takes a third of them.
func TestTCKRenamed(t *testing.T) {
	if _, err := os.Stat(filepath.Join(tckDefault, "features")); err != nil {
		t.Skipf("no openCypher TCK at %s", tckDefault)
	}
	scenarios, err := tck.Load(filepath.Join(tckDefault, "features"))
	if err != nil {
		t.Fatal(err)
	}
	graphs := filepath.Join(tckDefault, "graphs")
	ran := 0
	for i := range scenarios {
		s, changed, err := tck.Renamed(&scenarios[i], graphs)
		if err != nil {
			t.Fatal(err)
		}
		if changed < leastChanged || testing.Short() && i%3 != 0 {
			continue
		}
		ran++
		t.Run(s.ID(), func(t *testing.T) {
			if failure := tck.Run(context.Background(), &s, newTCKSession(t), graphs); failure != nil {
				t.Errorf("%s\n%s", failure, statements(&s))
			}
		})
	}
	t.Logf("%d scenarios in other words", ran)
	if ran < 100 {
		t.Errorf("only %d scenarios were renamed", ran)
	}
}

// statements shows what a scenario runs.
func statements(s *tck.Scenario) string {
	var text string
	for _, step := range s.Steps {
		text += step.Text + "\n" + step.Doc + "\n"
	}
	return text
}
