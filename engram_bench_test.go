package engram_test

import (
	"context"
	"fmt"
	"testing"

	"engram"
	"engram/graph/value"
)

// benchDB is a graph of 20,000 nodes with 5 edges each, on disk.
func benchDB(b *testing.B) *engram.DB {
	b.Helper()
	db, err := engram.Open(b.TempDir(), &engram.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	l, err := db.Load(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	var ids []engram.NodeID
	for i := range 20_000 {
		id, err := l.Node([]string{"Memory"}, []engram.Prop{
			{Key: "id", Value: value.String(fmt.Sprint("m", i))},
			{Key: "content", Value: value.String("something that was said")},
			{Key: "importance", Value: value.Float(.5)},
			{Key: "created_at", Value: value.Int(int64(i))},
		})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	for i, id := range ids {
		for k := 1; k <= 5; k++ {
			if _, err := l.Edge(id, ids[(i*7+k*101)%len(ids)], "KNOWS", nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	if _, err := l.Close(); err != nil {
		b.Fatal(err)
	}
	return db
}

func benchQuery(b *testing.B, text string) {
	db := benchDB(b)
	ctx := context.Background()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		res, err := db.Query(ctx, text, map[string]any{"id": fmt.Sprint("m", i%20_000)})
		if err != nil || len(res.Rows) != 1 {
			b.Fatal(res, err)
		}
	}
}

func BenchmarkPointRead(b *testing.B) { benchQuery(b, "MATCH (n {id: $id}) RETURN n") }

func BenchmarkTwoHops(b *testing.B) {
	benchQuery(b, "MATCH (n {id: $id})-[:KNOWS]->()-[:KNOWS]->(m) RETURN count(DISTINCT m)")
}

func BenchmarkWrite(b *testing.B) {
	db := benchDB(b)
	ctx := context.Background()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := db.Query(ctx, "MATCH (a {id: $id}) CREATE (n:Memory {id: $new, content: 'new'})-[:KNOWS]->(a)",
			map[string]any{"id": fmt.Sprint("m", i%20_000), "new": fmt.Sprint("new", i)})
		if err != nil {
			b.Fatal(err)
		}
	}
}
