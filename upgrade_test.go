package engram_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"engram"
)

// writeFixture makes the newest fixture anew. Only a change of a format's version is
// a reason to, and then the new one goes to a folder of its own, beside the old.
//
//	go test . -run TestOpensOldFormats -write-fixture
var writeFixture = flag.Bool("write-fixture", false, "make the fixture database of this version anew")

// fixtures are backups as they were written over time, oldest first, and what they
// tell beside fixtureAnswers.
var fixtures = []struct {
	dir     string
	answers [][2]string
	keyed   bool // a transaction was committed with fixtureKey
}{
	{"testdata/v1", nil, false},
	{"testdata/v2", [][2]string{
		{"SHOW RELATION TYPES YIELD name, meaning, weight WHERE name = 'KNOWS' RETURN name, meaning, weight", "KNOWS They have met. 0.5"},
		{"MATCH (n:Keyed) RETURN count(n)", "1"},
	}, true},
}

// fixtureKey is an idempotency key.
const fixtureKey = "a client's key"

// fixtureStatements make what the fixture holds: every kind of value, values out of
// line, ids that are no strings, a deleted hub, an index, constraints and text.
var fixtureStatements = []string{
	"CREATE INDEX by_year FOR (p:Person) ON (p.born)",
	"CREATE CONSTRAINT one_mail FOR (p:Person) REQUIRE p.mail IS UNIQUE",
	"CREATE (:Person {id: 'ada', born: 1815, mail: 'a@x', content: 'Ada wrote the first program'})",
	"CREATE (:Person {id: 'bob', born: 1900, content: 'Bob never met her', score: 0.25, ok: true})",
	"CREATE (:Value {id: 'values', list: [1, 2, 3], date: date('2024-02-29'), time: localtime('10:11:12'), " +
		"at: datetime('2024-02-29T10:11:12.5+02:00'), local: localdatetime('2024-02-29T10:11:12'), took: duration('P1Y2M3DT4S'), text: 'ä€😀'})",
	"UNWIND range(1, 3000) AS i WITH collect('long') AS words CREATE (:Value {id: 'long', long: words})",
	"CREATE (:Number {id: 7, name: 'seven'})",
	"CREATE (:Plain {name: 'without id'})",
	"MATCH (a {id: 'ada'}), (b {id: 'bob'}) CREATE (a)-[:KNOWS {weight: 0.5, since: date('2020-01-01')}]->(b)-[:KNOWS {id: 'back'}]->(a)",
	"CREATE (h:Hub {id: 'hub'}) WITH h UNWIND range(1, 50) AS i CREATE (h)-[:HAS]->(:Leaf {n: i})",
	"MATCH (h:Hub) DETACH DELETE h",
	"MATCH (l:Leaf) WHERE l.n > 5 DETACH DELETE l",
	"CREATE RELATION TYPE KNOWS {meaning: 'They have met.', from: ['Person'], to: ['Person'], weight: 0.5}",
	"MATCH (a {id: 'ada'}) REINFORCE a",
}

// fixtureAnswers are queries on the fixture and what they tell.
var fixtureAnswers = [][2]string{
	{"MATCH (n) WHERE NOT n:Keyed RETURN count(n)", "11"},
	{"MATCH (n:Person) WHERE n.born = 1815 RETURN n.id, n.mail, n.content", "ada a@x Ada wrote the first program"},
	{"MATCH (n {id: 'bob'}) RETURN n.score, n.ok, labels(n)", "0.25 true [Person]"},
	{"MATCH (n {id: 'values'}) RETURN n.list, n.date, n.time, n.text", "[1, 2, 3] 2024-02-29 10:11:12 ä€😀"},
	{"MATCH (n {id: 'values'}) RETURN n.at, n.local, n.took", "2024-02-29T10:11:12.5+02:00 2024-02-29T10:11:12 P1Y2M3DT4S"},
	{"MATCH (n {id: 'long'}) RETURN size(n.long), n.long[2999]", "3000 long"},
	{"MATCH (n {id: 7}) RETURN n.name", "seven"},
	{"MATCH (n:Plain) RETURN n.name, size(n.id)", "without id 26"},
	{"MATCH (a {id: 'ada'})-[r:KNOWS]->(b) RETURN b.id, r.weight, r.since", "bob 0.5 2020-01-01"},
	{"MATCH (a)-[r {id: 'back'}]->(b) RETURN a.id, b.id", "bob ada"},
	{"MATCH (l:Leaf) RETURN count(l), sum(l.n)", "5 15"},
	{"CALL text.search('program', 3) YIELD node RETURN node.id", "ada"},
	{"SHOW INDEXES YIELD name WHERE name = 'by_year' RETURN name", "by_year"},
}

func makeFixture(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db, err := engram.Open(filepath.Join(dir, "data"), &engram.Options{Create: true, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range fixtureStatements {
		if _, err := db.Query(ctx, s, nil); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	tx, err := db.Begin(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Query(ctx, "CREATE (:Keyed)", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.CommitSeq(ctx, fixtureKey); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := engram.OpenData(filepath.Join(dir, "data"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := data.Compact(ctx, "default"); err != nil {
		t.Fatal(err)
	}
	if db, err = data.Open("default", false); err != nil {
		t.Fatal(err)
	}
	b, err := db.Backup(ctx, filepath.Join(dir, "backups"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
	newest := fixtures[len(fixtures)-1].dir
	if err := os.RemoveAll(newest); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(newest, os.DirFS(b.Path)); err != nil {
		t.Fatal(err)
	}
}

// TestOpensOldFormats restores the fixture of each version that was ever released,
// opens it, reads, checks, writes, and opens it again.
func TestOpensOldFormats(t *testing.T) {
	if *writeFixture {
		makeFixture(t)
	}
	for _, f := range fixtures {
		t.Run(filepath.Base(f.dir), func(t *testing.T) {
			opensFixture(t, f.dir, slices.Concat(fixtureAnswers, f.answers), f.keyed)
		})
	}
}

func opensFixture(t *testing.T, fixture string, answers [][2]string, keyed bool) {
	t.Helper()
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "data")
	data, err := engram.OpenData(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = data.Close() }()
	b, err := data.Restore(ctx, fixture, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Bytes > 200<<10 {
		t.Errorf("the fixture has %d bytes; keep it below 200 KiB", b.Bytes)
	}
	for _, again := range []string{"first", "second"} {
		db, err := data.Open("default", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, found, err := db.Committed(fixtureKey); found != keyed || err != nil {
			t.Errorf("%s opening: the key is found: %v, %v", again, found, err)
		}
		for _, q := range answers {
			if got := answer(t, db, q[0]); got != q[1] {
				t.Errorf("%s opening: %s\n got %q\nwant %q", again, q[0], got, q[1])
			}
		}
		if r, err := db.Check(ctx); err != nil || !r.OK() {
			t.Errorf("%s opening: %v, %v", again, r, err)
		}
		_, err = db.Query(ctx, "CREATE (:Person {mail: 'a@x'})", nil)
		if !engram.IsCode(err, engram.CodeConstraintViolated) {
			t.Errorf("%s opening: the constraint lets pass: %v", again, err)
		}
		for _, s := range []string{"CREATE (n:New {id: 'new', content: 'new words'})", "MATCH (n:New) DETACH DELETE n"} {
			if _, err := db.Query(ctx, s, nil); err != nil {
				t.Errorf("%s opening: %s: %v", again, s, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func answer(t *testing.T, db *engram.DB, q string) string {
	t.Helper()
	res, err := db.Query(context.Background(), q, nil)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	var words []string
	for _, row := range res.Rows {
		for _, v := range row {
			words = append(words, strings.ReplaceAll(v.String(), "'", ""))
		}
	}
	return strings.Join(words, " ")
}

// TestFormatsAreListed holds the list of formats to the constants that it names.
func TestFormatsAreListed(t *testing.T) {
	text, err := os.ReadFile("graph/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([A-Za-z]+)` in `([a-z0-9/.]+)` \\| (\\d+) first(.*)").FindAllStringSubmatch(string(text), -1)
	if len(named) < 10 {
		t.Fatalf("the list names %d formats only", len(named))
	}
	for _, m := range named {
		source, err := os.ReadFile(m[2])
		if err != nil {
			t.Error(err)
			continue
		}
		newest := m[3]
		for _, later := range regexp.MustCompile(`; (\d+) `).FindAllStringSubmatch(m[4], -1) {
			newest = later[1]
		}
		value := regexp.MustCompile(`(?m)\b` + m[1] + `\s*=\s*(.+)$`).FindStringSubmatch(string(source))
		switch {
		case value == nil:
			t.Errorf("%s has no constant %s", m[2], m[1])
		case value[1][0] != '"' && strings.TrimSpace(value[1]) != newest:
			t.Errorf("%s in %s is %s, the list tells of %s", m[1], m[2], value[1], newest)
		}
	}
}
