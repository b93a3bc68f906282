package query_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"engram/graph"
	"engram/graph/value"
	"engram/query"
)

// A comparison that the scan makes in memory finds what the same comparison
// finds row by row, whatever kinds of values the property has, own writes and
// nodes that are gone included.
func TestScanComparesInMemory(t *testing.T) {
	db, err := graph.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.Background()) }()
	rnd := rand.New(rand.NewPCG(1, 2))
	numbers := []value.Value{
		value.Int(0), value.Int(5), value.Float(5), value.Float(5.5), value.Int(-7), value.Int(math.MaxInt64), value.Int(math.MinInt64),
		value.Float(math.Inf(1)), value.Float(math.NaN()), value.Int(1<<53 + 1), value.Float(1 << 53),
	}
	values := append([]value.Value{
		value.Null, value.String("5"), value.Bool(true), value.OfDate(value.Date{Days: 5}), value.List([]value.Value{value.Int(5)}),
	}, numbers...)
	tx, err := db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	engine := query.New(nil)
	run := func(text string, params map[string]value.Value) string {
		t.Helper()
		plan, err := engine.Prepare(text, tx)
		if err != nil {
			t.Fatal(err)
		}
		res, err := plan.Run(context.Background(), tx, params, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := tx.EndStatement(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.Rows)
	}
	for i := range 3000 {
		label := []string{"A", "B"}[rnd.IntN(2)]
		run("CREATE (:"+label+" {importance: $v, n: $n})", map[string]value.Value{"v": values[rnd.IntN(len(values))], "n": value.Int(int64(i))})
	}
	run("MATCH (n) WHERE n.n % 7 = 0 DELETE n", nil)
	run("MATCH (n) WHERE n.n % 11 = 0 SET n.importance = $v", map[string]value.Value{"v": value.Int(5)})
	for _, low := range append(numbers, value.Null, value.String("a")) {
		for _, high := range []value.Value{value.Int(6), value.Float(5.5), value.Int(math.MinInt64), value.Null} {
			params := map[string]value.Value{"low": low, "high": high}
			for _, where := range []string{
				"%s >= $low AND %s < $high", "%s > $low AND $high >= %s", "%s = $low", "$low < %s", "%s <> $low AND %s <= $high", "%s >= $low AND %s > $high",
			} {
				fast := fmt.Sprintf(where, "n.importance", "n.importance")
				slow := fmt.Sprintf(where, "v", "v")
				for _, label := range []string{"", ":A"} {
					got := run("MATCH (n"+label+") WHERE "+cut(fast)+" RETURN count(*), min(n.n), max(n.n), sum(n.n)", params)
					want := run("MATCH (n"+label+") WITH n, n.importance AS v WHERE "+cut(slow)+" RETURN count(*), min(n.n), max(n.n), sum(n.n)", params)
					if got != want {
						t.Errorf("%s for %v: got %s, want %s", fast, params, got, want)
					}
				}
			}
		}
	}
}

// cut drops what Sprintf says about arguments that were not used.
func cut(s string) string {
	for i := range s {
		if s[i] == '%' {
			return s[:i]
		}
	}
	return s
}
