package engram_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"engram"
)

// TestRecallInATransaction: RECALL finds by meaning, too, in a transaction that writes:
// what was there and what the transaction itself wrote, changed and deleted, with the
// rows and scores to the bit that it gives after the commit.
func TestRecallInATransaction(t *testing.T) {
	db := memory(t, nil)
	ctx := t.Context()
	const statement = `RECALL 'lunch in the restaurant' AT datetime('2030-01-01T00:00Z') LIMIT 20
		YIELD node AS m, score, lexical, semantic, activation RETURN m.id, score, lexical, semantic, activation`
	type querier interface {
		Query(context.Context, string, map[string]any) (*engram.Result, error)
	}
	run := func(q querier, text string) *engram.Result {
		t.Helper()
		res, err := q.Query(ctx, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	recall := func(q querier) string {
		t.Helper()
		res := run(q, statement)
		if len(res.Notices) > 0 {
			t.Errorf("notices: %v", res.Notices)
		}
		var b strings.Builder
		for _, row := range res.Rows {
			fmt.Fprintln(&b, row)
		}
		return b.String()
	}
	// byMeaning reports whether a memory came up by nothing but its meaning.
	byMeaning := func(rows, id string) bool {
		for line := range strings.Lines(rows) {
			f := strings.Fields(strings.Trim(line, "[]\n"))
			if f[0] == "'"+id+"'" {
				return f[2] == "0.0" && f[3] > "0.75" && f[4] == "0.0"
			}
		}
		return false
	}
	for i, text := range []string{
		"dinner at the cafe", "a ship left the harbour", "taxes are due in April", "breakfast at the hotel", "the roof leaks when it rains",
	} {
		run(db, fmt.Sprintf("REMEMBER '%s' {id: 'm%d', created_at: datetime('2025-06-0%dT00:00Z')} ALONE", text, i, i+1))
	}
	outside := recall(db)
	if !byMeaning(outside, "m0") || !byMeaning(outside, "m3") {
		t.Fatalf("nothing is found by meaning, so this test tells nothing:\n%s", outside)
	}
	err := db.View(ctx, func(tx *engram.Tx) error {
		if got := recall(tx); got != outside {
			t.Errorf("in a reading transaction\n%swant\n%s", got, outside)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var inside string
	err = db.Update(ctx, func(tx *engram.Tx) error {
		if got := recall(tx); got != outside {
			t.Errorf("in a writing transaction\n%swant\n%s", got, outside)
		}
		run(tx, "REMEMBER 'a cafe for dinner' {id: 'new', created_at: datetime('2025-06-09T00:00Z')} ALONE")
		run(tx, "MATCH (m {id: 'm0'}) SET m.content = 'a kettle boils'")
		run(tx, "MATCH (m {id: 'm3'}) DETACH DELETE m")
		inside = recall(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !byMeaning(inside, "new") || strings.Contains(inside, "'m0'") || strings.Contains(inside, "'m3'") {
		t.Errorf("after its own writes\n%s", inside)
	}
	if got := recall(db); got != inside {
		t.Errorf("after the commit\n%swithin\n%s", got, inside)
	}
}
