package engram_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"engram"
)

// TestTimeTravel tells one thing three times and asks what held when.
func TestTimeTravel(t *testing.T) {
	start := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)
	var months atomic.Int64
	db := memory(t, &engram.Options{Now: func() time.Time { return start.AddDate(0, int(months.Load()), 0) }, LearnEvery: -1})
	ask := func(options string) step {
		return step{"RECALL 'where is the office' " + options + " YIELD node AS m RETURN m.id ORDER BY m.id", ""}
	}
	want := func(s step, want string) step { s.want = want; return s }
	runSteps(t, db, []step{{"REMEMBER 'The office is in Lisbon' {id: 'lisbon'} ALONE AS m RETURN m.id", "[[lisbon]]"}})
	months.Add(6)
	runSteps(t, db, []step{
		{"REMEMBER 'The office is in Porto' {id: 'porto'} ALONE AS m RETURN m.id", "[[porto]]"},
		{"MATCH (a {id: 'lisbon'}), (b {id: 'porto'}) SUPERSEDE a BY b BECAUSE 'moved' YIELD changed RETURN changed", "[[true]]"},
	})
	months.Add(6)
	runSteps(t, db, []step{
		{"REMEMBER 'The office is in Faro' {id: 'faro'} ALONE AS m RETURN m.id", "[[faro]]"},
		{"MATCH (a {id: 'porto'}), (b {id: 'faro'}) SUPERSEDE a BY b YIELD changed RETURN changed", "[[true]]"},
		want(ask(""), "[[faro]]"),
		want(ask("AS OF datetime('2024-03-01')"), "[[lisbon]]"),
		want(ask("AS OF datetime('2024-09-01')"), "[[porto]]"),
		want(ask("AS OF datetime('2025-09-01')"), "[[faro]]"),
		want(ask("INCLUDING SUPERSEDED"), "[[faro] [lisbon] [porto]]"),
		want(ask("AT datetime('2024-09-01') INCLUDING SUPERSEDED"), "[[lisbon] [porto]]"),
		want(ask("BETWEEN date('2024-08-01') AND date('2024-08-02') INCLUDING SUPERSEDED"), "[[porto]]"), // Lisbon ended in July
		{
			"EXPLAIN RECALL 'office' NOT 'lisbon' YIELD reason RETURN reason",
			"[[it is superseded by faro; INCLUDING SUPERSEDED, or AS OF a time when it held, finds it]]",
		},
	})
}

// TestWhereReachesBeyondThePool: a filter that only the least fitting memories pass
// finds them among thousands that fit better.
func TestWhereReachesBeyondThePool(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "UNWIND range(1, 3000) AS i CREATE (:Memory {content: 'heron heron ' + toString(i), n: i})", nil)
	query(t, db, "CREATE (:Memory {id: 'far', content: 'one heron among very many other words that nobody asked for', n: 0, layer: 'safety', valid_from: date('2020-01-01')})", nil)
	runSteps(t, db, []step{
		{"RECALL 'heron' WHERE node.n = 0 LIMIT 1 YIELD node RETURN node.id", "[[far]]"},
		{"RECALL 'heron' IN LAYERS ['safety'] YIELD node RETURN node.id", "[[far]]"},
		{"RECALL 'heron' BETWEEN date('2020-01-01') AND date('2020-02-01') YIELD node RETURN node.id", "[[far]]"},
		{"RECALL 'heron' WHERE node.n > 2990 AND node.n < 2993 YIELD node AS m RETURN m.n ORDER BY m.n", "[[2991] [2992]]"},
	})
}

// TestRecallNeverWrites: no statement that recalls makes a transaction, moves working
// memory or the counters of use.
func TestRecallNeverWrites(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "CREATE (a:Memory {id: 'a', content: 'the crash'})-[:RELATED]->(:Memory {id: 'b', content: 'the reason'})", nil)
	seq := db.Seq()
	for _, s := range []string{
		"RECALL 'crash' YIELD node, receipt RETURN node.id", "EXPLAIN RECALL 'crash' NOT 'b'", "COMPILE 'crash'",
		"MATCH (a {id: 'a'}) ACTIVATE a OF CONVERSATION 'one'", "RECALL 'crash' YIELD receipt WITH receipt LIMIT 1 REPLAY receipt YIELD change RETURN change",
	} {
		if w, err := engram.Writes(s); err != nil || w {
			t.Errorf("%s: writes %v, %v", s, w, err)
		}
		query(t, db, s, nil)
	}
	if db.Seq() != seq {
		t.Errorf("%d transactions were made", db.Seq()-seq)
	}
	runSteps(t, db, []step{
		{"SHOW WORKING MEMORY YIELD node RETURN count(*)", "[[0]]"},
		{"SHOW WORKING MEMORY OF CONVERSATION 'one' YIELD node RETURN node.id", "[[a] [b]]"},
		{"RECALL 'crash' REINFORCE YIELD node RETURN count(*)", "[[2]]"},
		{"SHOW WORKING MEMORY YIELD node RETURN count(*)", "[[0]]"},
	})
}

// TestReceiptsAreKept stores a receipt, reopens the database and replays it: the
// same rows to the bit, and the number of the snapshot.
func TestReceiptsAreKept(t *testing.T) {
	dir := t.TempDir()
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	query(t, db, "UNWIND range(1, 40) AS i CREATE (:Memory {id: 'm' + toString(i), content: 'ferry ' + toString(i) + ' to the ' + toString(i % 7), n: i})", nil)
	query(t, db, "MATCH (a:Memory), (b:Memory) WHERE b.n = a.n + 1 CREATE (a)-[:TEMPORALLY_PRECEDES]->(b)", nil)
	seq := db.Seq()
	query(t, db, "RECALL 'ferry 3 to the 3' WHERE node.n <> $n YIELD receipt WITH receipt LIMIT 1 CREATE (:Receipt {id: 'r', receipt: receipt})", map[string]any{"n": 38})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engram.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	res := query(t, db, "MATCH (r {id: 'r'}) REPLAY r.receipt YIELD id, score, was_score, change RETURN id, score = was_score AS equal, change", nil)
	if len(res.Rows) != 10 {
		t.Fatalf("%d rows", len(res.Rows))
	}
	for _, row := range res.Rows {
		if !row[1].AsBool() || row[2].AsString() != "same" {
			t.Errorf("%v", row)
		}
	}
	res = query(t, db, "MATCH (r {id: 'r'}) RETURN r.receipt", nil)
	if text := res.Rows[0][0].AsString(); !strings.Contains(text, fmt.Sprintf(`"seq":%d,`, seq)) || !strings.Contains(text, `"n":38`) {
		t.Errorf("the receipt is %s; want seq %d and $n", text, seq)
	}
}

// TestWorkingMemoryOfManyAtOnce has conversations activate at the same time.
func TestWorkingMemoryOfManyAtOnce(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "CREATE (a:Memory {id: 'a', content: 'x'})-[:RELATED]->(:Memory {id: 'b', content: 'y'})", nil)
	done := make(chan error)
	for i := range 4 {
		go func() {
			var err error
			for range 20 {
				if _, bad := db.Query(context.Background(), "MATCH (a {id: 'a'}) ACTIVATE a DEPTH 1 OF CONVERSATION $c", map[string]any{"c": fmt.Sprint(i % 2)}); bad != nil {
					err = bad
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	runSteps(t, db, []step{{"SHOW WORKING MEMORY OF CONVERSATION '1' YIELD node, weight, count RETURN node.id, weight, count", "[[a 1.0 2] [b 1.0 2]]"}})
}
