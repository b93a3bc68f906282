package exporter_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"engram"
	"engram/server/exporter"
	"engram/server/importer"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func open(t fataler) *engram.DB {
	t.Helper()
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return db
}

func closeDB(t fataler, db *engram.DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatalf("%v", err)
	}
}

func query(t fataler, db *engram.DB, text string, params map[string]any) *engram.Result {
	t.Helper()
	res, err := db.Query(context.Background(), text, params)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res
}

// temporal are values of the kinds that JSON lacks, among them the ends of their
// ranges.
var temporal = []string{
	"date('2024-02-29')", "date('-999999999-01-01')", "date('+999999999-12-31')", "localtime('23:59:59.999999999')", "time('12:30+18:00')",
	"localdatetime('2024-05-01T10:00')", "datetime('2026-07-01T12:00[Europe/Paris]')", "datetime('1883-11-18T12:03:58-05:00')",
	"duration('P1Y2M3DT4H5M6.789S')", "duration({months: -1, days: 2, seconds: -3, nanoseconds: 4})", "0.0/0.0", "1.0/0.0", "-1.0/0.0", "-0.0",
	"[date('2024-01-01'), date('2025-01-01')]", "[0.0/0.0, 1.0]", "[duration('P1D')]",
}

func drawValue(t *rapid.T, db *engram.DB) any {
	text := rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("aé'\"`\\;,|\n\r\t\u0000\u2028\ufeff<>&{}[]$:#-\U0001F600")), rapid.Rune()))
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return rapid.Int64().Draw(t, "int")
	case 1:
		return rapid.Float64().Draw(t, "float")
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return rapid.SliceOfN(text, 0, 3).Draw(t, "texts")
	case 4:
		return rapid.SliceOfN(rapid.OneOf(rapid.Map(rapid.Int64(), func(i int64) any { return i }), rapid.Just[any](1.5), rapid.Just[any](math.MaxFloat64)), 0, 3).Draw(t, "numbers")
	case 5, 6:
		return query(t, db, "RETURN "+rapid.SampledFrom(temporal).Draw(t, "temporal"), nil).Rows[0][0]
	}
	return text.Draw(t, "text")
}

func drawProps(t *rapid.T, db *engram.DB) map[string]any {
	props := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "properties") {
		name := rapid.SampledFrom([]string{"content", "title", "a", "b`c", "größe", "x:y", " blank", "$kind"}).Draw(t, "name")
		props[name] = drawValue(t, db)
	}
	return props
}

// drawGraph makes a graph of nodes with and without an id of their own, and several
// edges between the same nodes.
func drawGraph(t *rapid.T, db *engram.DB) {
	n := rapid.IntRange(1, 6).Draw(t, "nodes")
	for i := range n {
		props := drawProps(t, db)
		if rapid.Bool().Draw(t, "named") {
			props["id"] = fmt.Sprintf("node %d '`\\\n", i)
		}
		label := rapid.SampledFrom([]string{"", ":A", ":A:`B c`", ":`x``y`"}).Draw(t, "labels")
		query(t, db, "CREATE (n"+label+") SET n += $props, n.number = $i", map[string]any{"props": props, "i": i})
	}
	for range rapid.IntRange(0, 8).Draw(t, "edges") {
		typ := rapid.SampledFrom([]string{"KNOWS", "`rel ``x`"}).Draw(t, "type")
		query(t, db, "MATCH (a {number: $a}), (b {number: $b}) CREATE (a)-[r:"+typ+"]->(b) SET r += $props", map[string]any{
			"a": rapid.IntRange(0, n-1).Draw(t, "from"), "b": rapid.IntRange(0, n-1).Draw(t, "to"), "props": drawProps(t, db),
		})
	}
}

func export(t fataler, db *engram.DB, format string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := exporter.Export(context.Background(), db, &b, exporter.Options{Format: format}); err != nil {
		t.Fatalf("%v", err)
	}
	return b.String()
}

func importInto(t fataler, db *engram.DB, text, format string) importer.Report {
	t.Helper()
	report, err := importer.Import(context.Background(), db, importer.Source{Name: "export", File: strings.NewReader(text)}, importer.Options{Format: format})
	if err != nil {
		t.Fatalf("import: %v\n%s", err, text)
	}
	return report
}

// sorted puts lines in order, which depends on the numbers that a database gives.
func sorted(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}

// withIDs gives nodes that have none the id that the database gave them, as an import
// does, so that what is told apart from it stays the same.
func withIDs(t fataler, db *engram.DB) {
	t.Helper()
	query(t, db, "MATCH (n) SET n.id = n.id", nil)
}

// TestLinesAreLossless: what was exported and imported is the same graph, in an empty
// namespace and in one that holds something; a second time nothing changes.
func TestLinesAreLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := open(t)
		defer closeDB(t, from)
		drawGraph(t, from)
		text := export(t, from, "jsonl")
		if again := export(t, from, "jsonl"); again != text {
			t.Fatalf("two exports differ:\n%s\n%s", text, again)
		}
		withIDs(t, from)
		want := sorted(export(t, from, "jsonl"))
		for _, before := range []string{"", "CREATE (:Before {id: 'before'})"} {
			to := open(t)
			if before != "" {
				query(t, to, before, nil)
			}
			first := importInto(t, to, text, "")
			second := importInto(t, to, text, "")
			if before != "" {
				query(t, to, "MATCH (n:Before) DELETE n", nil)
			}
			if got := sorted(export(t, to, "jsonl")); !slices.Equal(got, want) {
				t.Fatalf("imported (%q):\n%s\nwant\n%s", before, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if first.Format != "jsonl" || first.Created != first.Nodes || first.EdgesCreated != first.Edges || second.Created+second.Updated+second.Left+second.EdgesCreated+second.EdgesLeft != 0 ||
				second.Same != first.Nodes || second.EdgesSame != first.Edges {
				t.Fatalf("first %+v, second %+v", first, second)
			}
			closeDB(t, to)
		}
	})
}

var _ = os.DevNull

// TestScriptsAreLossless: so is a script, where nodes have an id that is a text.
func TestScriptsAreLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := open(t), open(t)
		defer closeDB(t, from)
		defer closeDB(t, to)
		drawGraph(t, from)
		text := export(t, from, "cypher")
		withIDs(t, from)
		want := sorted(export(t, from, "jsonl"))
		first := importInto(t, to, text, "")
		again := importInto(t, to, text, "")
		if got := sorted(export(t, to, "jsonl")); !slices.Equal(got, want) {
			t.Fatalf("imported:\n%s\nwant\n%s\nfrom\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), text)
		}
		if first.Format != "cypher" || again.Statements != first.Statements || again.Resumed != first.Statements || again.Transactions != 0 {
			t.Fatalf("first %+v, again %+v", first, again)
		}
	})
}
