package engram_test

import (
	"context"
	"testing"

	"engram"
)

// TestLayersStay closes and opens a database with layers, a self and pillars.
func TestLayersStay(t *testing.T) {
	dir := t.TempDir()
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"CREATE (:Person {id: 'me'}), (:Value {id: 'v1'}), (:Value {id: 'v2'})", "[]"},
		{"CREATE LAYER pirate {kind: 4, priority: 9, transparent: false}", "[]"},
		{"CREATE LAYER gone", "[]"},
		{"DROP LAYER gone", "[]"},
		{"MATCH (n {id: 'me'}) DECLARE SELF n", "[]"},
		{"MATCH (n:Value) DECLARE PILLAR n AS n.id RETURN count(*)", "[[2]]"},
		{"DROP PILLAR 'v2'", "[]"},
	})
	if r, err := db.Check(context.Background()); err != nil || len(r.Problems) > 0 {
		t.Errorf("check: %v, %v", r, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engram.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	layers := "SHOW LAYERS WHERE kind > 2 RETURN name, kind, priority, suppressible, transparent, injectable"
	pillars := "SHOW PILLARS YIELD kind, name, node RETURN kind, name, node.id"
	runSteps(t, db, []step{
		{layers, "[[pirate 4 9 true false true]]"},
		{pillars, "[[self null me] [pillar v1 v1]]"},
		{"MATCH (n {id: 'v1'}) DELETE n", "[]"},
		{pillars, "[[self null me]]"},
		{"CREATE (n:Value {id: 'v3'}) WITH n DECLARE PILLAR n AS 'v1'", "[]"},
		{pillars, "[[self null me] [pillar v1 v3]]"},
	})
	if r, err := db.Check(context.Background()); err != nil || len(r.Problems) > 0 {
		t.Errorf("check: %v, %v", r, err)
	}
}
