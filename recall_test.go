package engram_test

import (
	"context"
	"path/filepath"
	"testing"

	"engram"
)

func TestRememberThenRecall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	query(t, db, "REMEMBER 'Ada moved to Lisbon in May' ALONE", nil)
	query(t, db, "REMEMBER 'The boat needs new paint' ALONE", nil)
	ask := func() string {
		t.Helper()
		res := query(t, db, "RECALL 'where did Ada move to?' LIMIT 1 YIELD node AS m RETURN m.content", nil)
		if len(res.Rows) != 1 {
			t.Fatalf("%d rows", len(res.Rows))
		}
		return res.Rows[0][0].AsString()
	}
	if got := ask(); got != "Ada moved to Lisbon in May" {
		t.Errorf("it recalls %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engram.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := ask(); got != "Ada moved to Lisbon in May" {
		t.Errorf("after reopening it recalls %q", got)
	}
	_, err = db.Query(context.Background(), "RECALL '' RETURN node", nil)
	if !engram.IsCode(err, engram.CodeNothingToSearch) {
		t.Errorf("recalling nothing: %v", err)
	}
}
