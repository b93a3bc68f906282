//go:build !race

package engram_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"engram"
)

// Allocations per statement are the same on every machine, so they are bounded
// here as times cannot be: from text to result, the plan known. Who lowers one for
// good lowers its bound, too. (The race detector empties pools at random.)
func TestAllocationsOfReads(t *testing.T) {
	db, err := engram.Open(t.TempDir(), &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	query(t, db, "UNWIND range(0, 399) AS i CREATE (:Memory {id: 'm' + i, content: 'something that was said', importance: 0.5})", nil)
	query(t, db, "MATCH (a:Memory), (b:Memory) WHERE toInteger(substring(b.id, 1)) IN [x IN [1, 3] | (toInteger(substring(a.id, 1)) * 7 + x) % 400] "+
		"CREATE (a)-[:KNOWS {weight: 0.1234}]->(b)", nil)
	for _, c := range []struct {
		name, text string
		rows       int
		most       float64
	}{
		{"nothing", "RETURN 1", 1, 12},
		{"point", "MATCH (n {id: $id}) RETURN n", 1, 25},
		{"hop1", "MATCH (a {id: $id})-[r:KNOWS]->(b) RETURN b.id, r.weight", 2, 23},
		{"hop2", "MATCH (a {id: $id})-[*1..2]->(b) WHERE b <> a RETURN count(DISTINCT b)", 1, 15},
		{"plan", "EXPLAIN MATCH (a {id: $id})-[r:KNOWS]->(b) WHERE b.importance > 0 RETURN b.id, r.weight ORDER BY r.weight LIMIT 10", 0, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := make([]map[string]any, 100)
			for i := range params {
				params[i] = map[string]any{"id": fmt.Sprint("m", i)}
			}
			i := 0
			got := math.Inf(1)
			for range 5 { // the least counts: the background works now and then
				got = min(got, testing.AllocsPerRun(100, func() {
					res, err := db.Query(ctx, c.text, params[i%len(params)])
					if err != nil || len(res.Rows) != c.rows {
						t.Fatal(res, err)
					}
					i++
				}))
			}
			if got > c.most {
				t.Errorf("%s: %v allocations, more than %v", c.name, got, c.most)
			}
		})
	}
}
