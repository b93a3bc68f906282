package engram_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"engram"
)

func TestChanges(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	from := db.Seq()
	for _, statement := range []string{
		"CREATE (a:Person:Old {id: 'a', name: 'Ann'})-[:KNOWS]->(b {id: 'b'})",
		"MATCH (a {id: 'a'}) SET a.name = 'Anna'",
		"MATCH (b {id: 'b'}) SET b:Person",
		"MATCH ()-[r:KNOWS]->() DELETE r",
		"MATCH (b {id: 'b'}) DELETE b",
	} {
		if _, err := db.Query(ctx, statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for from < db.Seq() {
		waited, cancel := context.WithTimeout(ctx, 20*time.Second)
		changes, upTo, err := db.Changes(waited, from)
		cancel()
		if err != nil || upTo <= from || len(changes) == 0 {
			t.Fatalf("%+v, %d, %v", changes, upTo, err)
		}
		for _, c := range changes {
			got = append(got, fmt.Sprint(c.NodesCreated, c.NodesChanged, c.NodesDeleted, len(c.EdgesCreated), c.EdgesDeleted))
		}
		from = upTo
	}
	// b and the edge are gone by now: who made them is not told who they were, and the
	// label that b got is a change of nobody.
	want := []string{"[{a [Old Person]}] [] 0 0 0", "[] [a] 0 0 0", "[] [] 0 0 1", "[] [] 1 0 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	waited, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := db.Changes(waited, from); !engram.IsCode(err, engram.CodeCanceled) {
		t.Errorf("nothing new: %v", err)
	}
}

func TestChangesWait(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	from := db.Seq()
	type answer struct {
		changes []engram.Change
		upTo    uint64
		err     error
	}
	answers := make(chan answer, 1)
	wait := func(after uint64) {
		changes, upTo, err := db.Changes(ctx, after)
		answers <- answer{changes, upTo, err}
	}
	go wait(from)
	if _, err := db.Query(ctx, "CREATE (a:A {id: 'a'})-[:R]->(b:B {id: 'b'})", nil); err != nil {
		t.Fatal(err)
	}
	a := <-answers
	if a.err != nil || len(a.changes) != 1 || len(a.changes[0].NodesCreated) != 2 || len(a.changes[0].EdgesCreated) != 1 {
		t.Fatalf("%+v", a)
	}
	if e := a.changes[0].EdgesCreated[0]; e.From != "a" || e.To != "b" || e.Type != "R" || e.ID == "" {
		t.Errorf("%+v", e)
	}
	go wait(a.upTo)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; !engram.IsCode(a.err, engram.CodeClosed) {
		t.Errorf("closed meanwhile: %v", a.err)
	}
}
