package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"engram/graph"
	"engram/graph/value"
	"engram/query"
)

// benchDB makes a graph of nodes with an id, a label, a number and a text, and
// of five edges a node over five types.
func benchDB(b *testing.B, nodes int) *graph.DB {
	b.Helper()
	db, err := graph.OpenMemory(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close(context.Background()) })
	load, err := db.Load(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	ids := make([]value.NodeID, nodes)
	for i := range ids {
		props := []value.Prop{
			{Key: "content", Value: value.String(fmt.Sprintf("the content of node %d, a little longer than a word", i))},
			{Key: "created_at", Value: value.Int(1_577_836_800 + int64(i))},
			{Key: "id", Value: value.String(fmt.Sprintf("n%d", i))},
			{Key: "importance", Value: value.Float(rnd.Float64())},
		}
		if ids[i], err = load.Node([]string{fmt.Sprintf("L%d", i%5)}, props); err != nil {
			b.Fatal(err)
		}
	}
	for range 5 * nodes {
		props := []value.Prop{{Key: "weight", Value: value.Float(.5)}}
		if _, err := load.Edge(ids[rnd.IntN(nodes)], ids[rnd.IntN(nodes)], fmt.Sprintf("T%d", rnd.IntN(5)), props); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := load.Close(); err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkRead measures statements from text through the plan cache on 100,000
// nodes and 500,000 edges, with a snapshot of its own for each.
func BenchmarkRead(b *testing.B) {
	const nodes = 100_000
	db := benchDB(b, nodes)
	for _, q := range []struct{ name, text string }{
		{"point", "MATCH (n {id: $id}) RETURN n"},
		{"hop1", "MATCH (a {id: $id})-[r:T1]->(b) RETURN b.id, r.weight"},
		{"hop2fixed", "MATCH (a {id: $id})-->()-->(b) RETURN count(DISTINCT b)"},
		{"hop2", "MATCH (a {id: $id})-[*1..2]->(b) WHERE b <> a RETURN count(DISTINCT b)"},
		{"hop3", "MATCH (a {id: $id})-[*1..3]->(b) WHERE b <> a RETURN count(DISTINCT b)"},
		{"sp", "MATCH p = shortestPath((a {id: $id})-[*..6]->(b {id: $to})) RETURN length(p)"},
		{"agg", "MATCH (n) WHERE n.created_at >= $low AND n.created_at < $high RETURN labels(n)[0] AS label, count(*), avg(n.importance)"},
		{"agg_prop", "MATCH (n) WHERE n.created_at >= $low AND n.created_at < $high RETURN labels(n)[0] AS label, count(*), avg(size(n.content))"},
		{"exists", "MATCH (n:L1) WHERE (n)-[:T1]->(:L2) RETURN count(*)"},
		{"degree", "MATCH (n:L1) WHERE (n)-[:T1]->() RETURN count(*)"},
		{"optional", "MATCH (n:L1) OPTIONAL MATCH (n)-[:T1]->(m:L2) RETURN count(m)"},
		{"top", "MATCH (n) RETURN n.id ORDER BY n.importance DESC LIMIT 10"},
		{"distinct", "MATCH (n) RETURN DISTINCT n.created_at % 100 AS k"},
	} {
		b.Run(q.name, func(b *testing.B) {
			e := query.New(nil)
			rnd := rand.New(rand.NewPCG(3, 4))
			params := map[string]value.Value{"low": value.Int(1_577_836_800 + 20_000), "high": value.Int(1_577_836_800 + 60_000)}
			b.ReportAllocs()
			for b.Loop() {
				params["id"] = value.String(fmt.Sprintf("n%d", rnd.IntN(nodes)))
				params["to"] = value.String(fmt.Sprintf("n%d", rnd.IntN(nodes)))
				tx, err := db.Snapshot()
				if err != nil {
					b.Fatal(err)
				}
				p, err := e.Prepare(q.text, tx)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Run(context.Background(), tx, params, nil); err != nil {
					b.Fatal(err)
				}
				tx.Rollback()
			}
		})
	}
}

// BenchmarkPrepare measures a statement's way from text to plan, with and
// without the cache.
func BenchmarkPrepare(b *testing.B) {
	const text = "MATCH (a:Person {id: $id})-[r:KNOWS]->(b:Person) WHERE b.age > 30 RETURN b.name AS name, r.since ORDER BY name LIMIT 10"
	for _, c := range []struct {
		name string
		size int
	}{{"cached", 0}, {"uncached", -1}} {
		b.Run(c.name, func(b *testing.B) {
			e := query.New(&query.Options{PlanCache: c.size})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Prepare(text, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
