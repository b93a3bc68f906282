package engram_test

import (
	"context"
	"testing"

	"engram"
)

// TestVersionsStay supersedes by three ways, closes and opens the database, and deletes
// what superseded: once of so many relationships that they are deleted at once.
func TestVersionsStay(t *testing.T) {
	dir := t.TempDir()
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"REMEMBER 'the office is in Rome' {id: 'rome', valid_from: datetime('2010-01-01T00:00Z')} ALONE AS m RETURN created", "[[true]]"},
		{"REMEMBER 'the office is in Oslo' {id: 'oslo', valid_from: datetime('2020-01-01T00:00Z')} ALONE AS m RETURN created", "[[true]]"},
		{"MATCH (r {id: 'rome'}), (o {id: 'oslo'}) CREATE (o)-[:SUPERSEDES]->(r)", "[]"},
		{"UNWIND range(1, 10100) AS i MATCH (o {id: 'oslo'}) CREATE (o)-[:ABOUT]->(:Thing)", "[]"},
		{"REMEMBER 'the tide is high' {id: 'tide'} ALONE AS m RETURN created", "[[true]]"},
		{"MATCH (m {id: 'tide'}) SET m.content = 'the tide is low'", "[]"},
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engram.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	runSteps(t, db, []step{
		{"RECALL 'office' YIELD node RETURN node.id", "[[oslo]]"},
		{"RECALL 'office' AS OF datetime('2019-12-31T23:59:59Z') YIELD node RETURN node.id", "[[rome]]"},
		{"RECALL 'office' AS OF datetime('2020-01-01T00:00Z') YIELD node RETURN node.id", "[[oslo]]"},
		{"MATCH (r {id: 'rome'}), (o {id: 'oslo'}) CREATE (r)-[:SUPERSEDES]->(o)", "oslo supersedes rome already"},
		{"MATCH (o {id: 'oslo'}) DETACH DELETE o", "[]"},
		{"MATCH (m {id: 'rome'}) RETURN m.status, m.valid_to", "[[active null]]"},
		{"RECALL 'office' YIELD node RETURN node.id", "[[rome]]"},
		{"RECALL 'tide' YIELD node RETURN node.content", "[[the tide is low]]"},
		{"MATCH (m {id: 'tide'})-[:SUPERSEDES]->(o) RETURN o.id, o.content, o.status, o.valid_to = m.valid_from", "[[tide~1 the tide is high superseded true]]"},
	})
	if r, err := db.Check(context.Background()); err != nil || len(r.Problems) > 0 {
		t.Errorf("check: %v, %v", r, err)
	}
}
