package engram_test

import (
	"context"
	"testing"
	"time"

	"engram"
)

func TestLimitsReadOnly(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	if _, err := db.Query(ctx, "REMEMBER 'Ann moved to Lisbon' {id: 'm'} ALONE", nil); err != nil {
		t.Fatal(err)
	}
	read := engram.WithLimits(engram.WithLimits(ctx, engram.Limits{ReadOnly: true}), engram.Limits{})
	for _, statement := range []string{
		"CREATE (n)", "PROFILE CREATE (n)", "RECALL 'Lisbon' REINFORCE", "MATCH (n) CALL { WITH n SET n.x = 1 } RETURN 1",
		"UNWIND [1] AS x CALL { WITH x CREATE (:N) } IN TRANSACTIONS", "MATCH (n) FOREACH (i IN [1] | SET n.x = 1)",
		"CREATE INDEX FOR (n:N) ON (n.x)", "REINFORCE n", "CALL embed.backfill(1)",
	} {
		if statement == "REINFORCE n" {
			statement = "MATCH (n) REINFORCE n"
		}
		if _, err := db.Query(read, statement, nil); !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("%s: %v, want %s", statement, err, engram.CodeReadOnly)
		}
		if _, _, err := db.QueryOnce(read, "k", statement, nil); !engram.IsCode(err, engram.CodeReadOnly) {
			t.Errorf("once %s: %v, want %s", statement, err, engram.CodeReadOnly)
		}
		if err := db.View(ctx, func(tx *engram.Tx) error { _, err := tx.Query(read, statement, nil); return err }); err == nil {
			t.Errorf("%s ran in a reading transaction", statement)
		}
	}
	if seq := db.Seq(); seq != db.Seq() {
		t.Errorf("seq %d", seq)
	}
	if s, err := db.Stats(ctx); err != nil || s.Learning.Pending != 0 {
		t.Errorf("learning %+v, %v", s.Learning, err)
	}
	for _, statement := range []string{"RECALL 'Lisbon'", "EXPLAIN CREATE (n)", "SHOW LEARNING", "MATCH (n) RETURN n"} {
		if _, err := db.Query(read, statement, nil); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestLimitsNarrow(t *testing.T) {
	db, err := engram.OpenMemory(&engram.Options{StatementRows: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		name      string
		limits    engram.Limits
		statement string
		code      engram.Code
	}{
		{"rows", engram.Limits{Rows: 3}, "UNWIND range(1, 4) AS x RETURN x", engram.CodeResourceExhausted},
		{"rows within", engram.Limits{Rows: 4}, "UNWIND range(1, 4) AS x RETURN x", ""},
		{"rows not widened", engram.Limits{Rows: 1000}, "UNWIND range(1, 101) AS x RETURN x", engram.CodeResourceExhausted},
		{"memory", engram.Limits{Memory: 1000}, "RETURN size(collect(range(1, 10000)))", engram.CodeResourceExhausted},
		{"steps", engram.Limits{Steps: 10}, "UNWIND range(1, 1000000) AS x RETURN count(x)", engram.CodeResourceExhausted},
		{"time", engram.Limits{Time: time.Nanosecond}, "UNWIND range(1, 1000000) AS x RETURN count(x)", engram.CodeResourceExhausted},
		{"time not widened", engram.Limits{Time: time.Hour}, "RETURN 1", ""},
	} {
		ctx := engram.WithLimits(context.Background(), c.limits)
		_, err := db.Query(ctx, c.statement, nil)
		if c.code == "" && err != nil || c.code != "" && !engram.IsCode(err, c.code) {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		}
		inTx := db.View(ctx, func(tx *engram.Tx) error { _, err := tx.Query(ctx, c.statement, nil); return err })
		if c.code == "" && inTx != nil || c.code != "" && !engram.IsCode(inTx, c.code) {
			t.Errorf("%s in a transaction: %v, want %q", c.name, inTx, c.code)
		}
	}
}

func TestQueryOnce(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	res, repeated, err := db.QueryOnce(ctx, "a", "CREATE (n {id: 'x'}) RETURN n.id", nil)
	if err != nil || repeated || len(res.Rows) != 1 || res.Counters.NodesCreated != 1 {
		t.Fatalf("first: %+v, %v, %v", res, repeated, err)
	}
	seq := db.Seq()
	res, repeated, err = db.QueryOnce(ctx, "a", "CREATE (n {id: 'x'}) RETURN n.id", nil)
	if err != nil || !repeated || len(res.Rows) != 0 || db.Seq() != seq {
		t.Errorf("again: %+v, %v, %v, seq %d", res, repeated, err, db.Seq())
	}
	if _, _, err := db.QueryOnce(ctx, "b", "CREATE (n {id: 'x'})", nil); !engram.IsCode(err, engram.CodeConstraintViolated) {
		t.Errorf("another key: %v", err)
	}
	if _, repeated, err := db.QueryOnce(ctx, "b", "CREATE (n {id: 'y'})", nil); err != nil || repeated {
		t.Errorf("what failed took the key: %v, %v", repeated, err)
	}
	for statement, key := range map[string]string{"CREATE (n)": "", "RETURN 1": "c", "UNWIND [1] AS x CALL { WITH x CREATE (:N) } IN TRANSACTIONS": "d"} {
		if _, _, err := db.QueryOnce(ctx, key, statement, nil); !engram.IsCode(err, engram.CodeInvalidArgument) {
			t.Errorf("%q with the key %q: %v", statement, key, err)
		}
	}
}
