package workload

import (
	"context"
	"testing"

	"engram/graph"
)

// TestModelAndDatabaseAgree runs the workload without a fault.
func TestModelAndDatabaseAgree(t *testing.T) {
	ctx := context.Background()
	db, err := graph.OpenMemory(Options())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(ctx) }()
	m := New(7)
	for range 150 {
		if err := m.Step(ctx, db); err != nil {
			t.Fatalf("transaction %d: %v", m.Done(), err)
		}
	}
	if n, err := Verify(ctx, db, 7, 150, 150); n != 150 || err != nil {
		t.Fatalf("Verify = %d, %v", n, err)
	}
	if _, err := Verify(ctx, db, 8, 150, 150); err == nil {
		t.Error("a model of another seed is the same")
	}
	if _, err := Verify(ctx, db, 7, 151, 151); err == nil {
		t.Error("a missing transaction is not noticed")
	}
	used, learned := 0, 0
	for _, n := range m.nodes {
		used += int(n.used.Uses)
	}
	for _, e := range m.edges {
		if e.learned > 0 {
			learned++
		}
	}
	if used < 20 || learned < 5 {
		t.Errorf("the workload hardly learns: %d uses, %d edges", used, learned)
	}
	if len(m.nodes) < 40 || len(m.edges) < 40 {
		t.Errorf("the workload is poor: %d nodes, %d edges", len(m.nodes), len(m.edges))
	}
}
