package engram_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"engram"
)

func memoryDB(t *testing.T) *engram.DB {
	t.Helper()
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestCallInTransactions(t *testing.T) {
	ctx := context.Background()
	db := memoryDB(t)
	seq := db.Seq()
	res, err := db.Query(ctx, `UNWIND range(1, 25) AS i
		CALL { WITH i CREATE (n:Item {n: i}) RETURN n } IN TRANSACTIONS OF $size ROWS
		RETURN count(n) AS made, sum(n.n) AS total, max(i) AS last`, map[string]any{"size": 10})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(res.Columns, res.Rows); got != "[made total last] [[25 325 25]]" {
		t.Errorf("got %s", got)
	}
	if res.Counters.NodesCreated != 25 || res.Counters.PropertiesSet != 25 {
		t.Errorf("counters %+v", res.Counters)
	}
	if got := db.Seq() - seq; got < 3 || got > 4 { // one may reserve ids
		t.Errorf("%d transactions, want 3", got)
	}
	// Nodes are handed on as they are in each transaction, not as they were.
	res, err = db.Query(ctx, `MATCH (n:Item) CALL { WITH n SET n.n = n.n * 2 } IN TRANSACTIONS OF 4 ROWS RETURN sum(n.n)`, nil)
	if err != nil || fmt.Sprint(res.Rows) != "[[650]]" {
		t.Errorf("got %v, %v", res, err)
	}
	res, err = db.Query(ctx, `MATCH (n:Item) WHERE n.n > 40 CALL { WITH n DETACH DELETE n } IN TRANSACTIONS`, nil)
	if err != nil || res.Counters.NodesDeleted != 5 || len(res.Rows) != 0 {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestCallInTransactionsOnError(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ onError, kept, rows string }{
		{"", "[[3]]", ""},
		{"ON ERROR FAIL", "[[3]]", ""},
		{"ON ERROR CONTINUE", "[[6]]", "[[1 true] [2 true] [3 true] [4 false] [0 false] [5 false] [6 true] [7 true] [8 true]]"},
		{"ON ERROR BREAK", "[[3]]", "[[1 true] [2 true] [3 true] [4 false] [0 false] [5 false] [6 false] [7 false] [8 false]]"},
	} {
		db := memoryDB(t)
		res, err := db.Query(ctx, `UNWIND [1, 2, 3, 4, 0, 5, 6, 7, 8] AS i
			CALL { WITH i CREATE (n {v: 100 / i}) RETURN n } IN TRANSACTIONS OF 3 ROWS `+c.onError+` RETURN i, n IS NOT NULL`, nil)
		if c.rows == "" {
			var e *engram.Error
			if err == nil || !strings.Contains(err.Error(), "divided by 0") {
				t.Errorf("%s: got %v, %v", c.onError, res, err)
			} else if e, _ = err.(*engram.Error); !strings.Contains(e.Hint, "3 rows before are committed") {
				t.Errorf("%s: hint %q", c.onError, e.Hint)
			}
		} else if err != nil || fmt.Sprint(res.Rows) != c.rows || len(res.Notices) != 1 {
			t.Errorf("%s: got %v, %v", c.onError, res, err)
		}
		left, err := db.Query(ctx, "MATCH (n) RETURN count(n)", nil)
		if err != nil || fmt.Sprint(left.Rows) != c.kept {
			t.Errorf("%s: kept %v, %v", c.onError, left, err)
		}
	}
}

func TestCallInTransactionsRefused(t *testing.T) {
	ctx := context.Background()
	db := memoryDB(t)
	for text, want := range map[string]string{
		"CREATE (a) WITH a CALL { WITH a CREATE (b) } IN TRANSACTIONS":                        "writes",
		"CALL { CREATE (b) RETURN b } IN TRANSACTIONS RETURN b UNION MATCH (b) RETURN b":      "without UNION",
		"CALL { CALL { CREATE (b) } IN TRANSACTIONS }":                                        "outermost",
		"UNWIND [1] AS i CALL { WITH i CREATE (b) } IN TRANSACTIONS OF 0 ROWS":                "positive integer",
		"UNWIND [1] AS i CALL { WITH i CREATE (b) } IN TRANSACTIONS OF 1 + 1 ROWS":            "number or a parameter",
		"UNWIND [1] AS i CALL { WITH i CREATE (b) } IN TRANSACTIONS OF $missing ROWS":         "positive integer",
		"PROFILE UNWIND [1] AS i CALL { WITH i CREATE (b) } IN TRANSACTIONS":                  "PROFILE",
		"UNWIND [1] AS i CALL { WITH j CREATE (b) } IN TRANSACTIONS":                          "j",
		"UNWIND [1] AS i CALL { WITH i CREATE (b) RETURN b } IN TRANSACTIONS RETURN b, wrong": "wrong",
	} {
		if _, err := db.Query(ctx, text, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to say %q", text, err, want)
		}
	}
	err := db.Update(ctx, func(tx *engram.Tx) error {
		_, err := tx.Query(ctx, "CALL { CREATE (b) } IN TRANSACTIONS", nil)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "transactions of its own") {
		t.Errorf("inside a transaction: %v", err)
	}
	res, err := db.Query(ctx, "EXPLAIN UNWIND [1] AS i CALL { WITH i CREATE (b) } IN TRANSACTIONS", nil)
	if err != nil || !strings.Contains(res.Plan.String(), "InTransactions") {
		t.Errorf("explain: %v, %v", res, err)
	}
	if n, _ := db.Query(ctx, "MATCH (n) RETURN count(n)", nil); fmt.Sprint(n.Rows) != "[[0]]" {
		t.Errorf("something was written: %v", n.Rows)
	}
}

func TestSession(t *testing.T) {
	ctx := context.Background()
	db := memoryDB(t)
	s := engram.NewSession(db)
	defer s.Close()
	do := func(text string) string {
		t.Helper()
		res, err := s.Query(ctx, text, nil)
		if err != nil {
			return string(err.(*engram.Error).Code)
		}
		return fmt.Sprint(res.Rows)
	}
	count := "MATCH (n) RETURN count(n)"
	for i, step := range []struct{ text, want string }{
		{"COMMIT", "InvalidArgument"},
		{"begin;", "[]"},
		{"BEGIN", "InvalidArgument"},
		{"CREATE (n)", "[]"},
		{count, "[[1]]"},
		{"rollback transaction", "[]"},
		{count, "[[0]]"},
		{"BEGIN TRANSACTION", "[]"},
		{"CREATE (n)", "[]"},
		{"COMMIT", "[]"},
		{count, "[[1]]"},
		{"BEGIN READ", "[]"},
		{"CREATE (n)", "ReadOnly"},
		{count, "[[1]]"},
		{"COMMIT", "[]"},
		{"BEGIN", "[]"},
		{"CREATE (n)", "[]"},
		{"RETURN 1 / 0", "ArithmeticError"},
		{count, "TxDone"},
		{"COMMIT", "TxDone"},
		{count, "[[1]]"},
	} {
		if got := do(step.text); got != step.want {
			t.Errorf("step %d, %s: got %s, want %s", i, step.text, got, step.want)
		}
	}
	do("BEGIN")
	if !s.InTransaction() {
		t.Error("not in a transaction after BEGIN")
	}
	s.Close()
	if _, err := db.Query(ctx, "CREATE (n)", nil); err != nil || s.InTransaction() {
		t.Errorf("after Close: %v", err)
	}
}
