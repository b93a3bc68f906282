package chatbridge_test

import (
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestBrowseTellsWhatItCuts holds that a section tells how much it holds where it does not
// show all, and that an excerpt says that it was cut.
func TestBrowseTellsWhatItCuts(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-ALL", "steps": [{"calls": [{"name": "browse", "arguments": {}}]}, {"calls": [{"name": "browse", "arguments": {"path": "Thing"}}]},
		{"calls": [{"name": "browse", "arguments": {"path": "Thing/gone"}}]}, {"text": "end"}]}]}`)
	w.rows("UNWIND range(100, 159) AS i CREATE (:Thing {id: 't' + toString(i), content: CASE i WHEN 100 THEN '" + strings.Repeat("é", 100) + "' ELSE 'short' END})")
	out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-ALL"})
	if out.Status != "done" {
		t.Fatalf("%+v", out.Failure)
	}
	for i, want := range []string{"Thing | 60\n", "[cut here: 120 of 200 bytes are shown]\nThing/t101 | short\n", "there is no path Thing/gone"} {
		if got := out.ToolsUsed[i].Result; !strings.Contains(got, want) {
			t.Errorf("want %q in %s", want, got)
		}
	}
	if got := out.ToolsUsed[1].Result; !strings.HasSuffix(got, "[50 of 60 nodes are shown: ask for the others by query or recall]\n") {
		t.Errorf("it ends with %s", got)
	}
}
