package graph_test

import (
	"context"
	"fmt"
	"testing"

	"engram/graph"
	"engram/graph/internal/store/mem"
	"engram/graph/value"
)

// TestOldIdempotencyKeysAreForgotten: the newest stay, also those from before an
// opening, and the file's keys are bounded.
func TestOldIdempotencyKeysAreForgotten(t *testing.T) {
	const keep = 50
	o := func() *graph.Options { return graph.Manual(&graph.Options{IdempotencyKeys: keep}) }
	driver := must(mem.New(must(graph.InitialPuts(nil))(t)...))(t)
	db := must(graph.OpenDriver(keeper{driver}, o()))(t)
	ctx := context.Background()
	name := func(i int) string { return fmt.Sprint("key-", i*7919%1000) } // in no order
	put := func(i int) uint64 {
		tx := must(db.Begin(ctx))(t)
		defer tx.Rollback()
		must(tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.Int(int64(i))}}))(t)
		return must(tx.CommitKey(ctx, name(i)))(t)
	}
	known := func(i int) bool {
		_, ok, err := db.Committed(name(i))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	tidy := func() {
		for db.TidyOnce(ctx) {
		}
		if err := db.TidyError(); err != nil {
			t.Fatal(err)
		}
	}
	const n = 300
	for i := range n {
		put(i)
		if i%7 == 0 {
			tidy()
		}
		if i == n/2 {
			closeDB(t, db)
			db = must(graph.OpenDriver(keeper{driver}, o()))(t)
		}
	}
	tidy()
	count := 0
	for i := range n {
		if known(i) {
			count++
		} else if i >= n-keep {
			t.Errorf("key %d of %d is forgotten", i, n)
		}
	}
	if count > keep+keep/10 {
		t.Errorf("%d keys are there; want %d and a tenth", count, keep)
	}
	before := db.Seq()
	if seq := put(n - 1); seq > before {
		t.Errorf("a key that is known was executed again, at %d", seq)
	}
	checkClean(t, db)
	closeDB(t, db)
}
