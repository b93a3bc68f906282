package bind_test

import (
	"testing"

	"engram/query/internal/bind"
	"engram/query/internal/syntax"
)

func BenchmarkBind(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"point", "MATCH (n {id: $id}) RETURN n"},
		{"line", "MATCH (a:Person {id: $id})-[:KNOWS]->(b)-[:KNOWS]->(c) WHERE c.age > 30 RETURN c.name AS name, count(DISTINCT b) AS n ORDER BY n DESC LIMIT 10"},
	} {
		b.Run(c.name, func(b *testing.B) {
			stmt, err := syntax.Parse(c.text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bind.Bind(stmt, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
