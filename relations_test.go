package engram_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"engram"
)

// step is a statement and its rows, or a part of its error.
type step struct{ text, want string }

func runSteps(t *testing.T, db *engram.DB, steps []step) {
	t.Helper()
	for _, s := range steps {
		res, err := db.Query(context.Background(), s.text, nil)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.ReplaceAll(fmt.Sprint(res.Rows), "'", "")
		}
		if err == nil && got != s.want || err != nil && (s.want == "" || !strings.Contains(got, s.want)) {
			t.Errorf("%s\n got %s\nwant %s", s.text, got, s.want)
		}
	}
}

func TestRelationTypes(t *testing.T) {
	dir := t.TempDir()
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"SHOW RELATION TYPES YIELD name, origin WHERE name STARTS WITH 'C' RETURN name, origin", "[[CAUSES built in] [CONTAINS built in] [CONTRADICTS built in]]"},
		{"CREATE RELATION TYPE KNOWS {meaning: 'They have met.', from: ['Person'], to: 'Person', weight: 0.5, forward: 0.9, backward: 0.8}", "[]"},
		{"CREATE RELATION TYPE KNOWS", "exists already"},
		{"CREATE RELATION TYPE KNOWS IF NOT EXISTS {weight: 9}", "[]"},
		{"CREATE RELATION TYPE X {wieght: 1}", "Did you mean weight?"},
		{"CREATE RELATION TYPE X {weight: -1}", "number from 0"},
		{"CREATE RELATION TYPE X {from: [1]}", "list of labels"},
		{"ALTER RELATION TYPE KNWS {weight: 1}", "Did you mean KNOWS?"},
		{"ALTER RELATION TYPE KNOWS {backward: null, transitive: true}", "[]"},
		{
			"SHOW RELATION TYPES YIELD * WHERE origin = 'declared' RETURN name, meaning, from, to, weight, forward, backward, inhibitory, transitive, mode, count",
			"[[KNOWS They have met. [Person] [Person] 0.5 0.9 1.0 false true open 0]]",
		},
		{"CREATE (:Person)-[:KNOWS]->(:Person)", "[]"},
		{"CREATE (:Person)-[:KNOWS]->(:Dog)", "the end of a KNOWS needs one of the labels [Person]"},
		{"CREATE ()-[:KNOWS]->(:Person)", "the start of a KNOWS"},
		{"CREATE ()-[:WHATEVER]->()", "[]"},
		{"ALTER RELATION TYPES SET MODE closed", "[]"},
		{"CREATE ()-[:WHATEVER]->()", "not declared"},
		{"CREATE (:Person)-[:KNOW]->(:Person)", "did you mean KNOWS?"},
		{"MERGE (a:Person)-[:CAUZES]->(b:Person)", "did you mean CAUSES?"},
		{"CREATE ()-[:CAUSES]->()", "[]"},
		{"DROP RELATION TYPE CAUSES", "built in"},
		{"DROP RELATION TYPE NOTHING", "no relation type NOTHING"},
		{"DROP RELATION TYPE NOTHING IF EXISTS", "[]"},
		{"ALTER RELATION TYPE CAUSES {forward: 0.25}", "[]"},
		{"MATCH (n) CALL { WITH n RETURN 1 AS x } RETURN count(*)", "[[6]]"},
	})
	if r, err := db.Check(context.Background()); err != nil || len(r.Problems) > 0 {
		t.Errorf("check: %v, %v", r, err)
	}
	// What a bulk load writes is held against it too.
	l, err := db.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a, _ := l.Node([]string{"Person"}, nil)
	b, _ := l.Node([]string{"Dog"}, nil)
	if _, err := l.Edge(a, b, "KNOWS", nil); err == nil || !strings.Contains(err.Error(), "[Person]") {
		t.Errorf("load: %v", err)
	}
	_, _ = l.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engram.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	runSteps(t, db, []step{
		{"SHOW RELATION TYPES YIELD * WHERE origin = 'declared' RETURN name, forward, mode", "[[CAUSES 0.25 closed] [KNOWS 0.9 closed]]"},
		{"CREATE ()-[:WHATEVER]->()", "not declared"},
		{"DROP RELATION TYPE CAUSES", "[]"},
		{"SHOW RELATION TYPES YIELD * WHERE name = 'CAUSES' RETURN forward, origin", "[[1.0 built in]]"},
		{"ALTER RELATION TYPES SET MODE open", "[]"},
		{"CREATE ()-[:WHATEVER]->()", "[]"},
		{"DROP RELATION TYPE KNOWS", "[]"},
		{"CREATE ()-[:KNOWS]->(:Dog)", "[]"},
		{"CREATE RELATION TYPE A {from: 'X'} RETURN 1", "stands alone"},
	})
	if r, err := db.Check(context.Background()); err != nil || len(r.Problems) > 0 {
		t.Errorf("check: %v, %v", r, err)
	}
}

// RECALL spreads as the vocabulary says.
func TestRelationTypesInRecall(t *testing.T) {
	db := memoryDB(t)
	recall := "RECALL 'crash' LIMIT 5 YIELD node RETURN node.id AS id ORDER BY id"
	runSteps(t, db, []step{
		{"CREATE (:Memory {id: 'a', content: 'the crash'})-[:LEADS]->(:Memory {id: 'b', content: 'something else'})", "[]"},
		{recall, "[[a] [b]]"},
		{"CREATE RELATION TYPE LEADS {forward: 0}", "[]"},
		{recall, "[[a]]"},
		{"ALTER RELATION TYPE LEADS {forward: 1, weight: 0}", "[]"},
		{recall, "[[a]]"},
		{"ALTER RELATION TYPE LEADS {weight: 1, inhibitory: true}", "[]"},
		{recall, "[[a]]"},
		{"DROP RELATION TYPE LEADS", "[]"},
		{recall, "[[a] [b]]"},
	})
}
