package engram_test

import (
	"fmt"
	"testing"

	"engram"
)

// rulesGraph has something for every rule of recall to work on.
var rulesGraph = []string{
	`CREATE (s1:Session {id: 's1'}), (s2:Session {id: 's2'})`,
	`UNWIND [['a', 's1', 'Ann', 'Today Ann rented a blue boat'], ['b', 's1', 'Bob', 'Today the harbour was empty'],
	  ['c', 's1', 'Ann', 'A boat came in late today'], ['d', 's2', 'Bob', 'Today we painted the shed'],
	  ['e', 's2', 'Cid', 'Supper was cold today'], ['f', 's2', 'Cid', 'Rain all day today'], ['g', 's2', 'Cid', 'Stew today']] AS m
	MATCH (s {id: m[1]}) CREATE (s)-[:CONTAINS]->(:Memory {id: m[0], speaker: m[2], content: m[3]})`,
	`UNWIND [['a', 'f'], ['f', 'g'], ['d', 'g']] AS p MATCH (x {id: p[0]}), (y {id: p[1]}) CREATE (x)-[:TEMPORALLY_PRECEDES]->(y)`,
	`UNWIND [['a', 'e'], ['e', 'b']] AS p MATCH (x {id: p[0]}), (y {id: p[1]}) CREATE (x)-[:MENTIONS]->(y)`,
	`MATCH (x {id: 'c'}), (y {id: 'b'}) CREATE (x)-[:ANSWERS]->(y)`,
	`MATCH (x {id: 'g'}) SET x.importance = 0.9`,
	`MATCH (x {id: 'c'}) SET x.title = 'Blue boat (harbour)'`,
	`MATCH (x {id: 'f'}) SET x.created_at = datetime('2001-01-01')`,
	`MATCH (x {id: 'b'}) SET x.date = date('2026-01-01')`,
	`MATCH (x {id: 'a'}), (y {id: 'e'}) CREATE (x)-[:CONTRADICTS {weight: 0.5}]->(y)`,
	`CREATE (:Memory {id: 'h', content: 'We painted the shed today'})`,            // as d said
	`MATCH (x {id: 'a'}), (y {id: 'e'}) REINFORCE x REINFORCE y`, `SHOW LEARNING`, // the second writes what waits
}

// TestRecallRules switches every rule of recall off, one at a time: each changes
// what is recalled, or it has nothing to do in recall.
func TestRecallRules(t *testing.T) {
	recall := func(off ...string) string {
		db := memory(t, &engram.Options{RecallOff: off})
		for _, s := range rulesGraph {
			query(t, db, s, nil)
		}
		res := query(t, db, "RECALL 'what did Ann say of the blue boat today' DEPTH 3 AT datetime('2026-01-01') LIMIT 20 YIELD node AS m, score RETURN m.id, score", nil)
		return fmt.Sprint(res.Rows)
	}
	all := recall()
	if again := recall(); again != all {
		t.Errorf("twice the same gives %s and %s", all, again)
	}
	for _, rule := range engram.RecallRules() {
		if rule.About == "" {
			t.Errorf("%s does not say what it does", rule.Name)
		}
		if got := recall(rule.Name); got == all {
			t.Errorf("without %s (%s) the same is recalled: %s; let rulesGraph show what it does", rule.Name, rule.About, got)
		}
	}
}
