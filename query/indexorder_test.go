package query_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/schema"
	"engram/graph/value"
	"engram/query"
)

// wild makes values of all kinds that can be stored, many of them close to each
// other in an index: strings that begin alike, with zeros, or too long for a key;
// moments at one instant; lists and durations, whose keys have an order of their own.
// Most are of the kind mostly.
func wild(r *rand.Rand, mostly int) value.Value {
	small := r.Int64N(6)
	kind := r.IntN(16)
	if r.IntN(4) > 0 {
		kind = mostly
	}
	switch kind {
	case 0:
		return value.Null
	case 1:
		return value.Float([]float64{0, 1, 1.5, -2, 1 << 53}[r.IntN(5)])
	case 2:
		return value.Int(1<<53 + small)
	case 3:
		return value.Bool(small > 2)
	case 4:
		return value.OfDate(value.Date{Days: small})
	case 5:
		return value.OfDateTime(value.DateTime{Seconds: small, Offset: int32(r.IntN(3)) * 3600})
	case 6:
		return value.OfDuration(value.Duration{Months: r.Int64N(2), Days: r.Int64N(400)})
	case 7:
		return value.List([]value.Value{value.Int(small), value.Int(1)}[:r.IntN(3)])
	case 8:
		return value.String(strings.Repeat("x", 250+r.IntN(40)) + fmt.Sprint(small))
	case 9:
		return value.String(strings.Repeat("\x00", 190+r.IntN(80)) + fmt.Sprint(small))
	case 10:
		return value.Float([]float64{0, math.NaN()}[r.IntN(2)])
	case 11:
		return value.String(string(rune('a' + small)))
	}
	return value.Int(small)
}

// orderKinds are the kinds of wild that are worth a graph of their own.
var orderKinds = []int{6, 7, 8, 9, 15}

// orderGraph fills a stored graph: 500 nodes of A, some of B too,
// with indexes on one property and on two.
func orderGraph(t *testing.T, r *rand.Rand, mostly int) *graph.DB {
	ctx := context.Background()
	db, err := graph.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(ctx) })
	write := func(fn func(tx *graph.Tx) error) {
		t.Helper()
		tx, err := db.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if err = fn(tx); err == nil {
			err = tx.EndStatement()
		}
		if err == nil {
			_, err = tx.Commit(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e := query.New(nil)
	run := func(text string, params map[string]value.Value) {
		write(func(tx *graph.Tx) error {
			plan, err := e.Prepare(text, tx)
			if err == nil {
				_, err = plan.Run(ctx, tx, params, nil)
			}
			return err
		})
	}
	for _, keys := range [][]string{{"v"}, {"full"}, {"c", "v"}} {
		write(func(tx *graph.Tx) error {
			return tx.CreateSchema(schema.Def{Kind: schema.Range, Owner: "A", Keys: keys})
		})
	}
	var rows []value.Value
	for i := range 500 {
		full := wild(r, mostly)
		for full.IsNull() {
			full = wild(r, mostly)
		}
		rows = append(rows, value.Map([]value.Prop{
			{Key: "c", Value: value.Int(r.Int64N(3))}, {Key: "full", Value: full}, {Key: "n", Value: value.Int(int64(i))}, {Key: "v", Value: wild(r, mostly)},
		}))
	}
	run("UNWIND $rows AS row CREATE (n:A) SET n = row", map[string]value.Value{"rows": value.List(rows)})
	run("MATCH (n:A) WHERE n.n % 9 = 0 DELETE n", nil)
	run("MATCH (n:A) WHERE n.n % 5 = 0 SET n:B", nil)
	run("MATCH (n:A) WHERE n.n % 13 = 0 SET n.v = 3", nil)
	run("MATCH (n:A), (m:B) WHERE m.n = n.n + 1 CREATE (n)-[:R]->(m), (n)-[:R]->(n)", nil)
	return db
}

func orderStatement(r *rand.Rand) string {
	pattern := []string{"(n:A)", "(n:A:B)", "(n:A)-[:R]->(m)"}[r.IntN(3)]
	key := []string{"n.v", "n.full"}[r.IntN(2)]
	where := []string{
		"", "", " WHERE n.n % 2 = 0", " WHERE n.c = 1", " WHERE n.v IS NOT NULL", " WHERE n.v >= 1", " WHERE n.v < 4",
		" WHERE n.v STARTS WITH 'x'", " WHERE n.full >= 'a'", " WHERE n.c = 2 AND n.v > 0",
	}[r.IntN(10)]
	desc := []string{"", " DESC"}
	keys := key + desc[r.IntN(2)]
	if r.IntN(3) == 0 {
		keys += ", n.c" + desc[r.IntN(2)]
	}
	skip := ""
	if r.IntN(3) == 0 {
		skip = fmt.Sprintf(" SKIP %d", r.IntN(90))
	}
	return fmt.Sprintf("MATCH %s%s RETURN n.n, %s ORDER BY %s%s LIMIT %d", pattern, where, key, keys, skip, 1+r.IntN(12))
}

// TestOrderOfIndexesIsTheSorts compares rows that were read in the order of an index
// with those that were sorted, exactly: which of equal ones come first, too. It does
// so in a transaction for one statement, in a long one and in one that has written.
func TestOrderOfIndexesIsTheSorts(t *testing.T) {
	graphs, each := 4*len(orderKinds), 80
	if testing.Short() {
		graphs, each = len(orderKinds), 40
	}
	sorted := query.New(&query.Options{Disable: query.AllRules &^ rule(t, "PushFilters")})
	quick := query.New(nil)
	inOrder := 0
	for seed := range uint64(graphs) {
		r := rand.New(rand.NewPCG(seed, 7))
		db := orderGraph(t, r, orderKinds[int(seed)%len(orderKinds)])
		for name, tx := range openOrder(t, db) {
			for range each {
				text := orderStatement(r)
				want, plan := rowsOf(t, sorted, tx, text)
				if strings.Contains(plan, "in order") {
					t.Fatalf("the rule is on:\n%s", plan)
				}
				got, plan := rowsOf(t, quick, tx, text)
				if strings.Contains(plan, "in order") {
					inOrder++
				}
				if got != want {
					t.Errorf("seed %d, %s: %s\n%sgot\n%swant\n%s", seed, name, text, plan, got, want)
				}
			}
			tx.Rollback()
		}
	}
	if inOrder < graphs*each {
		t.Errorf("only %d of %d statements were read in order", inOrder, 3*graphs*each)
	}
}

// openOrder opens the three kinds of transactions.
func openOrder(t *testing.T, db *graph.DB) map[string]*graph.Tx {
	short, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	long, err := db.LongSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	writing, err := db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range []*graph.Tx{short, long, writing} {
		t.Cleanup(tx.Rollback)
	}
	rowsOf(t, query.New(nil), writing, "MATCH (n:A) WHERE n.n % 4 = 1 SET n.v = n.n % 3")
	if err := writing.EndStatement(); err != nil {
		t.Fatal(err)
	}
	return map[string]*graph.Tx{"short": short, "long": long, "writing": writing}
}

func rowsOf(t *testing.T, e *query.Engine, tx *graph.Tx, text string) (rows, plan string) {
	t.Helper()
	p, err := e.Prepare(text, tx)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	res, err := p.Run(context.Background(), tx, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return listRows(res.Rows), p.String()
}

// rule is the set of one rule.
func rule(t *testing.T, name string) query.Rules {
	t.Helper()
	for i, n := range query.RuleNames() {
		if n == name {
			return query.Rules(1) << i
		}
	}
	t.Fatalf("no rule %s", name)
	return 0
}

// TestOrderReadsLittle: the newest of many are found without looking at the others.
func TestOrderReadsLittle(t *testing.T) {
	ctx := context.Background()
	db, err := graph.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(ctx) }()
	tx, err := db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.CreateSchema(schema.Def{Kind: schema.Range, Owner: "Note", Keys: []string{"at"}}); err != nil {
		t.Fatal(err)
	}
	rowsOf(t, query.New(nil), tx, "UNWIND range(1, 30000) AS i CREATE (:Note {at: (i * 7919) % 30011, even: i % 2})")
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	read, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Rollback()
	for _, text := range []string{
		"MATCH (n:Note) RETURN n.at ORDER BY n.at LIMIT 10",
		"MATCH (n:Note) RETURN n.at ORDER BY n.at DESC LIMIT 10",
		"MATCH (n:Note) WHERE n.even = 0 RETURN n.at ORDER BY n.at DESC LIMIT 10",
		"MATCH (n:Note) WHERE n.at < 20000 RETURN n.at ORDER BY n.at DESC SKIP 20 LIMIT 10",
	} {
		for off, enough := range map[query.Rules]bool{0: true, rule(t, "ReadInOrder"): false} {
			p, err := query.New(&query.Options{Disable: off}).Prepare(text, read)
			if err != nil {
				t.Fatal(err)
			}
			res, err := p.Run(ctx, read, nil, &query.RunOptions{Budget: query.Budget{Steps: 5000}})
			if enough && (err != nil || len(res.Rows) != 10) || !enough && err == nil {
				t.Errorf("%s, without rules %q, in 5,000 steps: %v", text, off, err)
			}
		}
	}
}

// A plan is kept while the graph changes: what was true of all nodes when it was
// made need not be when it runs.
func TestOrderOfAnOlderPlan(t *testing.T) {
	ctx := context.Background()
	db, err := graph.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(ctx) }()
	e := query.New(nil)
	write := func(texts ...string) {
		t.Helper()
		tx, err := db.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for _, text := range texts {
			rowsOf(t, e, tx, text)
		}
		if err := tx.EndStatement(); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	newest := "MATCH (n:Note) RETURN n.at ORDER BY n.at DESC LIMIT 2"
	read := func(text string) (rows, plan string) {
		t.Helper()
		tx, err := db.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		return rowsOf(t, e, tx, text)
	}
	write("CREATE INDEX at FOR (n:Note) ON (n.at)")
	write("UNWIND range(1, 300) AS i CREATE (:Note {at: i})")
	for _, step := range []struct{ write, want string }{
		{"", "[300]\n[299]\n"},
		{"CREATE (:Note)", "[null]\n[300]\n"},
		{"MATCH (n:Note) WHERE n.at IS NULL DELETE n", "[300]\n[299]\n"},
		{"DROP INDEX at", "[300]\n[299]\n"},
	} {
		if step.write != "" {
			write(step.write)
		}
		rows, plan := read(newest)
		if rows != step.want || strings.Contains(plan, "in order") == strings.Contains(step.write, "DROP") {
			t.Errorf("after %q: %s%s", step.write, rows, plan)
		}
	}
}
