package engram_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"engram"
)

// read reads all rows that are left, and closes them.
func read(t testing.TB, rows *engram.Rows) [][]engram.Value {
	t.Helper()
	var out [][]engram.Value
	for row, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

// openRows runs a statement and ends the test when it fails.
func openRows(t testing.TB, db *engram.DB, text string) *engram.Rows {
	t.Helper()
	rows, err := db.Rows(context.Background(), text, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

// clock is a clock that calls look at every reading: a statement reads it every
// few thousand steps.
type clock struct{ look func() }

func (c *clock) now() time.Time {
	if c.look != nil {
		c.look()
	}
	return time.Now()
}

// TestRowsOfThreeMillion reads a result that memory has no room for, while the
// heap is measured from inside the statement and between the rows.
func TestRowsOfThreeMillion(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const n, memoryBudget, bound = 3_000_000, 8 << 20, 48 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	c, peak, looks := &clock{}, uint64(0), 0
	dir := t.TempDir()
	db := memory(t, &engram.Options{StatementMemory: memoryBudget, Now: c.now, SpoolDir: dir})
	runtime.GC()
	before := heap()
	look := func() { looks++; peak = max(peak, heap()) }
	c.look = look
	rows := openRows(t, db, "UNWIND range(0, 2999) AS a UNWIND range(0, 999) AS b RETURN a * 1000 + b AS i, 'row ' + b AS text")
	c.look = nil
	if looks < n/10_000 {
		t.Errorf("the heap was looked at %d times only", looks)
	}
	if rows.Count() != n || strings.Join(rows.Columns(), " ") != "i text" {
		t.Errorf("%d rows, columns %v", rows.Count(), rows.Columns())
	}
	i := int64(0)
	for rows.Next() {
		row := rows.Row()
		if row[0].AsInt() != i || row[1].AsString() != fmt.Sprintf("row %d", i%1000) {
			t.Fatalf("row %d is %v", i, row)
		}
		if i++; i%100_000 == 0 {
			look()
		}
	}
	if err := rows.Err(); err != nil || i != n {
		t.Errorf("%d rows, %v", i, err)
	}
	if peak > before+bound {
		t.Errorf("the heap grew by %d MB", (peak-before)>>20)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left: %v, %v", files, err)
	}
	if _, err := db.Query(context.Background(), "UNWIND range(0, 2999) AS a UNWIND range(0, 999) AS b RETURN a, b", nil); !engram.IsCode(err, engram.CodeResourceExhausted) {
		t.Errorf("kept in memory: %v", err)
	}
}

// everyKind returns more than a megabyte of each kind of value.
const everyKind = `MATCH p = (a:A)-[r:R]->(b) UNWIND range(1, 3000) AS i
RETURN i, i / 7.0, -0.0, 0.0 / 0.0, i % 2 = 0, null, 'text ' + i, [i, [a, 'x']], {k: i, n: b}, a, r, b, p, labels(a),
	date('2020-02-29') + duration({days: i}), localtime('12:00:00.5') + duration({seconds: i}), time('12:00+01:30'),
	localdatetime('2020-01-01T00:00') + duration({seconds: i}), datetime('2020-06-01T12:00[Europe/Stockholm]') + duration({days: i}),
	duration({months: i, days: -i, seconds: i})`

func shown(rows [][]engram.Value) string {
	var b strings.Builder
	for _, row := range rows {
		for _, v := range row {
			fmt.Fprintf(&b, "%v %v %s|", v.Kind(), v, v.AppendJSON(nil))
			if v.Kind() == engram.KindFloat {
				fmt.Fprintf(&b, "%x|", math.Float64bits(v.AsFloat()))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// graphOfRows makes what everyKind matches.
func graphOfRows(t testing.TB, db *engram.DB) {
	t.Helper()
	query(t, db, "CREATE (:A:Z {id: 'a', t: date('2020-01-01'), l: [1.5, -0.0]})-[:R {id: 'r', w: 0.1}]->(:B {id: 'b'})", nil)
}

// TestRowsAreTheRowsOfQuery compares the two doors, in and outside of
// transactions, for results that stay in memory and such that don't.
func TestRowsAreTheRowsOfQuery(t *testing.T) {
	db := memory(t, &engram.Options{SpoolDir: t.TempDir()})
	graphOfRows(t, db)
	ctx := context.Background()
	session := engram.NewSession(db)
	defer session.Close()
	for _, text := range []string{everyKind, everyKind + " LIMIT 10", "RETURN 1 LIMIT 0", "MATCH (n:A) SET n.x = 1"} {
		want := query(t, db, text, nil)
		var viewed, updated *engram.Rows
		err := db.View(ctx, func(tx *engram.Tx) (err error) {
			if !strings.Contains(text, "SET") {
				viewed, err = tx.Rows(ctx, text, nil)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(ctx, func(tx *engram.Tx) (err error) { updated, err = tx.Rows(ctx, text, nil); return err }); err != nil {
			t.Fatal(err)
		}
		asked, err := session.Rows(ctx, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, rows := range map[string]*engram.Rows{"alone": openRows(t, db, text), "view": viewed, "update": updated, "session": asked} {
			if rows == nil {
				continue
			}
			if rows.Count() != int64(len(want.Rows)) || fmt.Sprint(rows.Columns()) != fmt.Sprint(want.Columns) {
				t.Errorf("%s, %s: %d rows of %v", name, text, rows.Count(), rows.Columns())
			}
			got := shown(read(t, rows))
			if got != shown(want.Rows) {
				t.Errorf("%s, %s: the rows differ; the first are\n%.500s\n%.500s", name, text, got, shown(want.Rows))
			}
			if rows.Result().Rows != nil {
				t.Errorf("%s: rows are in the result too", name)
			}
		}
	}
}

// TestRowsOfWhatWrites checks that entities are shown as they are after the whole
// statement, counters are told, and an error keeps nothing.
func TestRowsOfWhatWrites(t *testing.T) {
	db := memory(t, &engram.Options{SpoolDir: t.TempDir()})
	const text = "CREATE (n:W {id: 'w'}) WITH n UNWIND range(1, 50000) AS i SET n.i = i RETURN n, i"
	rows := openRows(t, db, text)
	if c := rows.Result().Counters; c.NodesCreated != 1 || rows.Count() != 50_000 {
		t.Errorf("%d rows, %+v", rows.Count(), c)
	}
	for i, row := range read(t, rows) {
		n := row[0].AsNode()
		if row[1].AsInt() != int64(i+1) || n.ElementID != "w" || n.Properties[0].Value.AsInt() != 50_000 {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	_, err := db.Rows(context.Background(), "UNWIND range(1, 50000) AS i CREATE (:Gone) RETURN 1 / (50000 - i)", nil)
	if !engram.IsCode(err, engram.CodeArithmeticError) {
		t.Errorf("got %v", err)
	}
	if n := number(t, db, "MATCH (n:Gone) RETURN count(n)"); n != 0 {
		t.Errorf("%d nodes of a statement that failed", n)
	}
	if rows := openRows(t, db, "UNWIND range(1, 40000) AS i CALL { WITH i CREATE (:Many) } IN TRANSACTIONS RETURN i"); rows.Count() != 40_000 || len(read(t, rows)) != 40_000 {
		t.Errorf("%d rows of a statement in transactions", rows.Count())
	}
}

// TestRowsUnderProfile checks that PROFILE has its rows and its measurements.
func TestRowsUnderProfile(t *testing.T) {
	db := memory(t, &engram.Options{SpoolDir: t.TempDir()})
	rows := openRows(t, db, "PROFILE UNWIND range(1, 100000) AS i RETURN i")
	if plan := rows.Result().Plan; plan == nil || plan.Rows != 100_000 || plan.Memory > 4<<20 || len(read(t, rows)) != 100_000 {
		t.Errorf("plan %v", plan)
	}
	if rows := openRows(t, db, "EXPLAIN MATCH (n) RETURN n"); rows.Result().Plan == nil || rows.Next() {
		t.Error("EXPLAIN has no plan or has rows")
	}
}

// TestRowsHoldNoTransaction checks that a database can be written, and closed,
// while rows are read.
func TestRowsHoldNoTransaction(t *testing.T) {
	dir := t.TempDir()
	db, err := engram.Open(dir, &engram.Options{Create: true, SpoolDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	query(t, db, "UNWIND range(1, 3000) AS i CREATE (:N {i: i})", nil)
	rows := openRows(t, db, "MATCH (a:N) UNWIND range(1, 30) AS j RETURN a")
	query(t, db, "MATCH (a:N) SET a.i = 0", nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, row := range read(t, rows) {
		for _, p := range row[0].AsNode().Properties {
			if p.Key == "i" {
				sum += p.Value.AsInt()
			}
		}
	}
	if want := int64(30 * 3000 * 3001 / 2); sum != want {
		t.Errorf("sum %d, want %d", sum, want)
	}
}

// TestRowsEndEarly closes rows in the middle and cancels the statement.
func TestRowsEndEarly(t *testing.T) {
	c, dir := &clock{}, t.TempDir()
	db := memory(t, &engram.Options{Now: c.now, SpoolDir: dir})
	const text = "UNWIND range(1, 1000) AS a UNWIND range(1, 500) AS b RETURN a, b"
	rows := openRows(t, db, text)
	for range 300_000 {
		if !rows.Next() {
			t.Fatal("too few rows")
		}
	}
	for range 2 {
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if rows.Next() || rows.Row() != nil || rows.Err() != nil {
		t.Errorf("closed, but there is %v, %v", rows.Row(), rows.Err())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	looks := 0
	c.look = func() {
		if looks++; looks == 50 { // of 120
			cancel()
		}
	}
	if rows, err := db.Rows(ctx, text, nil); !engram.IsCode(err, engram.CodeCanceled) || rows != nil {
		t.Errorf("got %v", err)
	}
	if looks > 51 {
		t.Errorf("it went on for %d looks at the clock", looks-50)
	}
	c.look = nil
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}

// TestRowsOverTheLimit checks the limits of a result and of its file.
func TestRowsOverTheLimit(t *testing.T) {
	const text = "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b RETURN a, b"
	for _, c := range []struct {
		o          engram.Options
		code, says string
	}{
		{engram.Options{SpoolSize: 1 << 20}, "ResourceExhausted", "the rows of the result exceeded the limit of their temporary file, 1048576 bytes"},
		{engram.Options{StatementRows: 500_000}, "ResourceExhausted", "the statement exceeded its budget of rows, 500000"},
		{engram.Options{SpoolDir: "no/such/directory"}, "Failed", "creating the temporary file for the rows of a large result in no/such/directory"},
	} {
		if c.o.SpoolDir == "" {
			c.o.SpoolDir = t.TempDir()
		}
		db := memory(t, &c.o)
		_, err := db.Rows(context.Background(), text, nil)
		if !engram.IsCode(err, engram.Code(c.code)) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: got %v", c.o, err)
		}
		if n := number(t, db, "RETURN 1"); n != 1 {
			t.Errorf("afterwards: %d", n)
		}
	}
}
