package engram_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"engram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory opens a database in memory and closes it at the end of the test.
func memory(t testing.TB, o *engram.Options) *engram.DB {
	t.Helper()
	db, err := engram.OpenMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// query runs a statement and ends the test when it fails.
func query(t testing.TB, db *engram.DB, text string, params map[string]any) *engram.Result {
	t.Helper()
	res, err := db.Query(context.Background(), text, params)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res
}

// number returns the only value of a result.
func number(t testing.TB, db *engram.DB, text string) int64 {
	t.Helper()
	res := query(t, db, text, nil)
	if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
		t.Fatalf("%s: %v", text, res.Rows)
	}
	return res.Rows[0][0].AsInt()
}

func TestStatementsEndToEnd(t *testing.T) {
	db := memory(t, nil)
	res := query(t, db, "CREATE (a:Person {id: 'ada', name: $name})-[r:KNOWS {weight: 0.5}]->(b:Person {id: 'bob'}) RETURN a, r, b",
		map[string]any{"name": "Ada"})
	if res.Counters.NodesCreated != 2 || res.Counters.EdgesCreated != 1 {
		t.Errorf("counters: %+v", res.Counters)
	}
	if n := res.Rows[0][0].AsNode(); n == nil || n.ElementID != "ada" || n.Labels[0] != "Person" {
		t.Errorf("node a is %+v", n)
	}
	res = query(t, db, "MATCH (a {id: 'ada'})-[r:KNOWS]->(b) RETURN a.name, r.weight, b.id", nil)
	if len(res.Rows) != 1 || res.Rows[0][0].AsString() != "Ada" || res.Rows[0][1].AsFloat() != .5 || res.Rows[0][2].AsString() != "bob" {
		t.Errorf("rows: %v", res.Rows)
	}
	query(t, db, "MATCH (n {id: 'ada'}) DETACH DELETE n", nil)
	if n := number(t, db, "MATCH (n) RETURN count(n)"); n != 1 {
		t.Errorf("%d nodes are left", n)
	}
}
