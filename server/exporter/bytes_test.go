package exporter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram"
	"engram/server/exporter"
	"engram/server/importer"
)

// fill makes a graph of nodes with ids, of values of all kinds, with several edges
// between the same nodes.
func fill(t *testing.T, db *engram.DB, several bool) {
	t.Helper()
	query(t, db, `UNWIND range(1, 40) AS i CREATE (n:Item {id: 'item ' + toString(i), name: 'a "quoted", name\nof ' + toString(i), size: i, part: i / 8.0,
		even: i % 2 = 0, born: date('2024-01-01') + duration({days: i}), at: datetime('2024-05-01T10:00:00.5[Europe/Paris]'), late: localtime('23:59:59.25'),
		lasts: duration('P1DT2H'), tags: ['x', 'y' + toString(i)], numbers: [i, -i], text: '007'})`, nil)
	query(t, db, "MATCH (n:Item) WHERE n.size % 3 = 0 SET n:Third, n.extra = 1.5", nil)
	query(t, db, "MATCH (a:Item), (b:Item) WHERE b.size = a.size % 7 + 1 CREATE (a)-[:NEAR {weight: 0.25, since: date('2020-02-29'), note: 'a;b'}]->(b)", nil)
	if several {
		query(t, db, "MATCH (a:Item {size: 1}), (b:Item {size: 2}) CREATE (a)-[:NEAR {n: 1}]->(b), (a)-[:NEAR {n: 2}]->(b), (a)-[:`odd type`]->(a)", nil)
	}
}

// exportDir writes a folder and returns its files.
func exportDir(t *testing.T, db *engram.DB, format, dir string) map[string]string {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o700))
	root, err := os.OpenRoot(dir)
	must(err)
	_, err = exporter.ExportDir(context.Background(), db, root, exporter.Options{Format: format})
	must(err)
	must(root.Close())
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(err)
		files[e.Name()] = string(text)
	}
	return files
}

// TestBytes exports a graph, imports it and exports it again: the bytes are the same,
// of all formats that hold what is in it.
func TestBytes(t *testing.T) {
	for _, format := range []string{"jsonl", "cypher"} {
		t.Run(format, func(t *testing.T) {
			from, to := open(t), open(t)
			defer closeDB(t, from)
			defer closeDB(t, to)
			fill(t, from, true)
			first := export(t, from, format)
			importInto(t, to, first, format)
			if again := export(t, to, format); again != first {
				t.Errorf("%s", difference(first, again))
			}
		})
	}
	t.Run("csv", func(t *testing.T) {
		from, to := open(t), open(t)
		defer closeDB(t, from)
		defer closeDB(t, to)
		fill(t, from, false)
		dir := t.TempDir()
		first := exportDir(t, from, "csv", filepath.Join(dir, "first"))
		src := importer.Source{File: strings.NewReader(first["nodes.csv"]), Edges: strings.NewReader(first["edges.csv"])}
		report, err := importer.Import(context.Background(), to, src, importer.Options{Format: "csv"})
		if err != nil || report.Created != 40 || report.EdgesCreated != 40 || report.ProblemCount != 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		again := exportDir(t, to, "csv", filepath.Join(dir, "again"))
		for _, name := range []string{"nodes.csv", "edges.csv"} {
			if first[name] != again[name] || strings.Count(first[name], "\n") < 41 {
				t.Errorf("%s: %s", name, difference(first[name], again[name]))
			}
		}
	})
	t.Run("memory", func(t *testing.T) {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, `{"type":"entity","name":"N %d","entityType":"person","observations":["says %d","also \"%d\""]}`+"\n", i, i, i*7)
		}
		for i := range 20 {
			fmt.Fprintf(&b, `{"type":"relation","from":"N %d","to":"N %d","relationType":"knows well"}`+"\n", i, (i+1)%20)
		}
		to := open(t)
		defer closeDB(t, to)
		importInto(t, to, b.String(), "memory")
		if again := export(t, to, "memory"); again != b.String() {
			t.Errorf("%s", difference(b.String(), again))
		}
	})
}

// difference tells the first lines that differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d was %s\nand became %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines became %d", len(x), len(y))
}
