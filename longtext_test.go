package engram_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"engram"
)

// TestLongTexts stores and recalls a text of a megabyte with 100,000 words, no two the
// same: what looks at every word for every other one would take minutes.
func TestLongTexts(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "w%08d ", i)
	}
	long := map[string]any{"text": b.String(), "other": "the of and " + b.String() + "Zebra"}
	ctx := context.Background()
	for _, s := range []struct{ text, want string }{
		{"CREATE (:Memory {id: 'z', content: 'a zebra'})", "[]"},
		{"REMEMBER $text {id: 'long'} AS m RETURN created", "[[true]]"},
		{"REMEMBER $text AS m RETURN m.id, created", "[['long' false]]"},
		{"REMEMBER $other {id: 'longer'} AS m RETURN created", "[[true]]"},
		{"MATCH ({id: 'longer'})-[r:RELATED]->(m) RETURN m.id, r.weight > 0.99", "[['long' true]]"},
		{"RECALL 'w00099999' YIELD node AS m, lexical RETURN m.id, lexical > 0.99 ORDER BY m.id", "[['long' true] ['longer' true]]"},
		{"RECALL $other YIELD node AS m RETURN m.id ORDER BY m.id", "[['long'] ['longer']]"},
	} {
		res, err := db.Query(ctx, s.text, long)
		if err != nil {
			t.Fatalf("%s: %v", s.text, err)
		}
		if got := fmt.Sprint(res.Rows); got != s.want {
			t.Errorf("%s\n got %s\nwant %s", s.text, got, s.want)
		}
	}
}
