package engram_test

import (
	"fmt"
	"strings"
	"testing"

	"engram"
)

// TestNoVerdicts holds that statements which may not reach verdicts are refused where
// they ask for them, which is told, and see none of them otherwise, whatever way they
// take; and that nothing breaks where such statements write.
func TestNoVerdicts(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	must := func(statement string) *engram.Result {
		t.Helper()
		res, err := db.Query(t.Context(), statement, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	must("CREATE INDEX reasons FOR (n:Memory) ON (n.reason)")
	must(`CREATE (c:Candidate {id: 'c', text: 'a plan'}), (m:Memory {id: 'm', content: 'an open word', reason: 'open', importance: 0.5}), (m)-[:ABOUT]->(c),
(:Verdict {id: 'v1', content: 'hushword held', reason: 'hushword', number: 1, importance: 0.9})-[:JUDGES {why: 'hushword'}]->(c),
(:Memory:Verdict {id: 'v2', content: 'hushword again', reason: 'hushword', number: 2, importance: 0.9})-[:JUDGES]->(c)`)

	var told []string
	ctx := engram.WithLimits(t.Context(), engram.Limits{NoVerdicts: true, Withheld: func(statement string) { told = append(told, statement) }})
	refused := []string{
		"MATCH (v:Verdict) RETURN v", "MATCH (v) WHERE v:Verdict RETURN v.content", "MATCH (c:Candidate)<--(v:Memory&Verdict) RETURN v", "RECALL 'hushword' INCLUDING VERDICTS YIELD node RETURN node",
		"RETURN EXISTS { MATCH (:Verdict) }", "RETURN [(c:Candidate)<--(v:Verdict) | v.reason]", "CREATE (:Verdict {id: 'mine'})", "MERGE (:Verdict {id: 'v1'})", "MATCH (c:Candidate) SET c:Verdict",
		"MATCH (v:Verdict) CALL (v) { DETACH DELETE v } IN TRANSACTIONS", "EXPLAIN MATCH (v:Verdict) RETURN v",
	}
	for _, s := range refused {
		if res, err := db.Query(ctx, s, nil); !engram.IsCode(err, engram.CodeWithheld) {
			t.Errorf("%s: %v, error %v", s, res, err)
		}
	}
	if strings.Join(told, "\n") != strings.Join(refused, "\n") {
		t.Errorf("told of %q", told)
	}
	for s, want := range map[string]string{
		"MATCH (n) RETURN n.id ORDER BY n.id":                                                            "[[c] [m]]",
		"MATCH (n) RETURN count(n)":                                                                      "[[2]]",
		"MATCH (n:Memory) RETURN count(n)":                                                               "[[1]]",
		"MATCH (n {id: 'v1'}) RETURN n":                                                                  "[]",
		"MATCH (n) WHERE n.id IN ['v1', 'v2'] RETURN n":                                                  "[]",
		"MATCH (n:Memory {reason: 'hushword'}) RETURN n":                                                 "[]",
		"MATCH (n) WHERE n.importance > 0.8 RETURN n":                                                    "[]",
		"MATCH (n) WHERE any(l IN labels(n) WHERE l STARTS WITH 'Verd') RETURN n":                        "[]",
		"MATCH (c {id: 'c'})<--(x) RETURN x.id":                                                          "[[m]]",
		"MATCH (c {id: 'c'})--(x) RETURN x.id":                                                           "[[m]]",
		"MATCH (m {id: 'm'})-[*1..3]-(x) RETURN DISTINCT x.id":                                           "[[c]]",
		"MATCH (c {id: 'c'}) RETURN COUNT { (c)--() }":                                                   "[[1]]",
		"MATCH ()-[r:JUDGES]->() RETURN r.why":                                                           "[]",
		"MATCH ()-[r]->() RETURN type(r)":                                                                "[[ABOUT]]",
		"MATCH (m {id: 'm'}), p = shortestPath((m)-[*..4]-(x {id: 'v1'})) RETURN p":                      "[]",
		"RECALL 'hushword' YIELD node RETURN node.id":                                                    "[]",
		"RECALL 'open word' INCLUDING TELEMETRY LIMIT 1 YIELD node RETURN node.id":                       "[[m]]",
		"MATCH (n) RETURN labels(n)[0] AS l, count(*) ORDER BY l":                                        "[[Candidate 1] [Memory 1]]",
		"UNWIND ['v1', 'm'] AS id OPTIONAL MATCH (n {id: id}) RETURN n.content":                          "[[<nil>] [an open word]]",
		"MATCH (n) SET n.seen = true RETURN count(n)":                                                    "[[2]]",
		"MATCH (a {id: 'm'}) MERGE (b:Memory {reason: 'hushword'}) ON CREATE SET b.id = 'b' RETURN b.id": "[[b]]",
		"MATCH (n:Memory) WHERE n.reason = 'hushword' AND n.id <> 'b' RETURN n":                          "[]",
		"MATCH (n) CALL (n) { SET n.again = true } IN TRANSACTIONS RETURN count(n)":                      "[[2]]",
		"MATCH (n) WHERE n.text CONTAINS 'hush' OR n.content CONTAINS 'hush' OR n.reason = 'x' RETURN n": "[]",
		"MATCH (n) WHERE elementId(n) = 'v1' RETURN n":                                                   "[]",
		"MATCH (n) WITH collect(n) AS all UNWIND all AS n RETURN count(DISTINCT n.importance)":           "[[1]]",
		"MATCH (c {id: 'c'}) RETURN size([(c)--(x) | x])":                                                "[[1]]",
		"MATCH (n) WHERE NOT (n)--() RETURN n.id":                                                        "[]",
	} {
		res, err := db.Query(ctx, s, nil)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		rows := [][]any{}
		for _, row := range res.Rows {
			values := []any{}
			for _, v := range row {
				values = append(values, v.Any())
			}
			rows = append(rows, values)
		}
		if strings.Contains(s, "MERGE") {
			must("MATCH (b {id: 'b'}) DETACH DELETE b")
		}
		if got := fmt.Sprint(rows); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
	if err := db.View(ctx, func(tx *engram.Tx) error {
		res, err := tx.Query(ctx, "MATCH (n) RETURN n.id", nil)
		if err == nil && len(res.Rows) != 2 {
			t.Errorf("in a transaction: %d rows", len(res.Rows))
		}
		if all, err := tx.Query(t.Context(), "MATCH (n) RETURN n.id", nil); err != nil || len(all.Rows) != 4 {
			t.Errorf("the next statement of the transaction, without the limit: %v", err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if _, err := db.Query(ctx, "CREATE (:Memory {id: 'v1'})", nil); !engram.IsCode(err, engram.CodeConstraintViolated) && !engram.IsCode(err, engram.CodeExists) {
		t.Errorf("an id that a verdict has: %v", err)
	}
	if _, err := db.Query(ctx, "MATCH (c:Candidate) DETACH DELETE c", nil); !engram.IsCode(err, engram.CodeConstraintViolated) {
		t.Errorf("what a verdict judges is deleted by who cannot see it: %v", err)
	}
	if got := must("MATCH (v:Verdict) RETURN v.content, v.seen, v.again, COUNT { (v)--() } ORDER BY v.id").Rows; len(got) != 2 || got[0][0].Any() != "hushword held" || got[0][1].Any() != nil || got[0][2].Any() != nil || got[0][3].Any() != int64(1) {
		t.Errorf("what is left: %v", got)
	}
	must("CREATE INDEX numbers FOR (v:Verdict) ON (v.number)")
	if got := must("MATCH (v:Verdict {number: 2}) RETURN v.id").Rows; len(got) != 1 {
		t.Errorf("by an index made later: %v", got)
	}
}

// TestWithoutLabels holds that nodes with any of some labels are as if they were not there,
// and count once where they have several; that no node gets one; and that contexts add up.
func TestWithoutLabels(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Query(t.Context(), `CREATE (:A {id: 'a'})-[:R]->(:B {id: 'b'}), (:A:B {id: 'ab'})-[:R]->(:C {id: 'c'}), (:A:C {id: 'ac'})-[:R]->(:D {id: 'd'})-[:R]->(:C {id: 'c2'}), (:Verdict {id: 'v'})`, nil); err != nil {
		t.Fatal(err)
	}
	ctx := engram.WithLimits(engram.WithLimits(t.Context(), engram.Limits{Without: []string{"B"}, NoVerdicts: true}), engram.Limits{Without: []string{"A", "Nowhere"}})
	for s, want := range map[string]string{
		"MATCH (n) RETURN n.id ORDER BY n.id":       "[['c'] ['c2'] ['d']]",
		"MATCH (n) RETURN count(n)":                 "[[3]]",
		"MATCH (n:C) RETURN count(n)":               "[[2]]",
		"MATCH (n:A) RETURN count(n)":               "[[0]]",
		"MATCH (n:B) RETURN count(n)":               "[[0]]",
		"MATCH ()-[r]->() RETURN count(r)":          "[[1]]",
		"MATCH (d {id: 'd'})--(x) RETURN x.id":      "[['c2']]",
		"MATCH (n {id: 'ab'}) RETURN n":             "[]",
		"MATCH (n:C) WHERE NOT (n)--() RETURN n.id": "[['c']]",
	} {
		res, err := db.Query(ctx, s, nil)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if got := fmt.Sprint(res.Rows); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
	for _, s := range []string{"CREATE (:B)", "MATCH (d:D) SET d:A", "MERGE (:Nowhere {id: 'x'})"} {
		if _, err := db.Query(ctx, s, nil); !engram.IsCode(err, engram.CodeWithheld) {
			t.Errorf("%s: %v", s, err)
		}
	}
	if res, err := db.Query(t.Context(), "MATCH (n) RETURN count(n)", nil); err != nil || fmt.Sprint(res.Rows) != "[[8]]" {
		t.Errorf("afterwards: %v, %v", res, err)
	}
}
