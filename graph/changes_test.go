package graph

import (
	"context"
	"testing"

	"engram/graph/value"
)

// TestChangesArePreparedOnce: whoever comes first, caller or committer, makes what the
// followers need, and the other one uses it.
func TestChangesArePreparedOnce(t *testing.T) {
	db, err := OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	tx, err := db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	k, err := tx.InternKey("content")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.CreateNode(nil, []value.KeyProp{{Key: k, Value: value.String("a red kite")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := tx.w.next.changed
	if c == nil || !c.ready || len(c.docs) != 1 || len(c.vectors) != 1 {
		t.Fatalf("what was published: %+v", c)
	}
	before := &c.vectors[0]
	tx.prepareWhileWaiting()
	if &c.vectors[0] != before {
		t.Error("it was made twice")
	}
}
