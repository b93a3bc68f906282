package importer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"engram"
	"engram/server/exporter"
	"engram/server/importer"
)

// seeds are inputs of each format.
var seeds = map[string]string{
	"jsonl":     `{"engram":{"version":1}}` + "\n" + `{"node":{"id":"a","labels":["A"],"properties":{"d":{"$kind":"date","value":"2024-01-01"},"l":[1,2.5]}}}` + "\n" + `{"edge":{"type":"T","start":"a","end":"a"}}` + "\n" + `{"end":{"nodes":1,"edges":1}}`,
	"memories":  `{"id":"m","text":"t","date":"2024-01-01","conversation":"c","session":1}`,
	"cypher":    "// comment\nCREATE (:A {id: 'a;b'}); /* c */ MATCH (n) SET n.x = n.`y`;",
	"memory":    `{"type":"entity","name":"A","entityType":"t","observations":["o"]}` + "\n" + `{"type":"relation","from":"A","to":"B","relationType":"r"}`,
	"openai":    `[{"title":"T","conversation_id":"c","current_node":"m","mapping":{"m":{"message":{"author":{"role":"user"},"create_time":1.5,"content":{"parts":["x"]}}}}}]`,
	"anthropic": `[{"uuid":"u","name":"N","chat_messages":[{"uuid":"m","text":"x","sender":"human","created_at":"2024-05-01T10:00:00Z"}]}]`,
	"markdown":  "---\nid: x\ntags: [a, b]\nsee: \"[[y]]\"\nn: {a: [1]}\n---\n# Title\n[l](../a%20b.md#c) [[y#z|w]] `[[no]]`\n",
	"csv":       "id,label,n:int,d:date\na,A;B,1,2024-01-01\n",
}

// FuzzReaders reads anything as each format, with and without leaving out what is bad:
// no panic, no slip of formatting, and an error leaves nothing behind.
func FuzzReaders(f *testing.F) {
	names := importer.Formats()
	for name, text := range seeds {
		f.Add(slices.Index(names, name), text, false)
		f.Add(slices.Index(names, name), text[:len(text)/2], true)
	}
	f.Fuzz(func(t *testing.T, format int, text string, skip bool) {
		if format < 0 || format >= len(names) || names[format] == "backup" {
			return
		}
		src := importer.Source{Name: "input", File: strings.NewReader(text)}
		report, err := importer.ImportLater(context.Background(), func(string) (*engram.DB, error) { return nil, nil }, true, src,
			importer.Options{Format: names[format], DryRun: true, SkipBad: skip})
		told := fmt.Sprint(err, report.Problems)
		if err == nil {
			told = fmt.Sprint(report.Problems)
		}
		if !strings.Contains(text, "%!") && strings.Contains(told, "%!") {
			t.Errorf("%s: %s", names[format], told)
		}
	})
}

func TestSeedsAreRead(t *testing.T) {
	for _, name := range importer.Formats() {
		if name == "backup" {
			continue
		}
		db := memory(t)
		src := importer.Source{Name: "input", File: strings.NewReader(seeds[name])}
		if name == "markdown" {
			src.Name = "input.md"
		}
		report, err := importer.Import(context.Background(), db, src, importer.Options{})
		if err != nil || report.Format != name || report.Nodes+report.Memories == 0 {
			t.Errorf("%s: found %s, %+v, %v", name, report.Format, report, err)
		}
	}
}

// export tells all of a graph, in an order that does not depend on numbers.
func export(t *testing.T, db *engram.DB) string {
	t.Helper()
	var b strings.Builder
	if _, err := exporter.Export(context.Background(), db, &b, exporter.Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// graphLines is an export of n nodes and n edges.
func graphLines(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"node":{"id":"n%d","labels":["N"],"properties":{"id":"n%d","i":%d}}}`, i, i, i),
			fmt.Sprintf(`{"edge":{"type":"T","start":"n%d","end":"n%d","properties":{"i":%d}}}`, i, i*7%n, i))
	}
	return lines
}

// TestShuffled imports the lines in another order, into an empty database and into one
// that has part of them: the graph is the same.
func TestShuffled(t *testing.T) {
	lines := graphLines(300)
	bring := func(db *engram.DB, lines []string) importer.Report {
		report, err := importer.Import(context.Background(), db, importer.Source{File: strings.NewReader(strings.Join(lines, "\n"))}, importer.Options{Format: "jsonl", Batch: 50})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	first := memory(t)
	bring(first, lines)
	want := export(t, first)
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		db := memory(t)
		rows(t, db, "UNWIND range(0, 99) AS i CREATE (:N {id: 'n' + toString(i), i: i})")
		if r := bring(db, lines); r.Same != 100 || r.Created != 200 || r.EdgesCreated != 300 {
			t.Errorf("report %+v", r)
		}
		if got := export(t, db); got != want {
			t.Error("the graph differs")
		}
		if r := bring(first, lines); r.Created+r.EdgesCreated+r.Left+r.EdgesLeft+r.Transactions != 0 {
			t.Errorf("again: %+v", r)
		}
	}
}

// TestCancelledImportGoesOn ends imports after some transactions: starting again brings
// the rest.
func TestCancelledImportGoesOn(t *testing.T) {
	lines := strings.Join(graphLines(300), "\n")
	want := memory(t)
	if _, err := importer.Import(context.Background(), want, importer.Source{File: strings.NewReader(lines)}, importer.Options{Format: "jsonl"}); err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", "CREATE (:Before {id: 'before'})"} {
		db := memory(t)
		if before != "" {
			rows(t, db, before)
		}
		cancelled := 0
		for try := range 20 {
			ctx, cancel := context.WithCancel(context.Background())
			acks := 0
			_, err := importer.Import(ctx, db, importer.Source{File: strings.NewReader(lines)}, importer.Options{
				Format: "jsonl", Batch: 60, Ack: func(uint64, int) {
					if acks++; acks == 2 && try < 4 {
						cancel()
					}
				},
			})
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancelled++
		}
		if before != "" {
			rows(t, db, "MATCH (n:Before) DELETE n")
		}
		if cancelled < 2 {
			t.Errorf("only %d imports were cancelled", cancelled)
		}
		if got := export(t, db); got != export(t, want) {
			t.Errorf("after %d cancelled imports (%q) the graph differs", cancelled, before)
		}
	}
}

// TestFolderIsNotLeft puts into a folder what leads out of it or never ends: it is told,
// not read, and nobody waits.
func TestFolderIsNotLeft(t *testing.T) {
	dir := t.TempDir()
	vault, outside := filepath.Join(dir, "vault"), filepath.Join(dir, "outside")
	for _, d := range []string{vault, outside, filepath.Join(vault, "real"), vault + "-evil"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.md"), "canary")
	write(filepath.Join(vault+"-evil", "secret.md"), "canary")
	write(filepath.Join(vault, "good.md"), "good [out](../outside/secret.md) [evil](../vault-evil/secret.md) [root](/etc/passwd) [[../outside/secret]] [up](..\\..\\x.md)")
	write(filepath.Join(vault, "real", "odd\nname`') DETACH DELETE n.md"), "odd")
	for name, target := range map[string]string{
		"file.md": filepath.Join(outside, "secret.md"), "relative.md": "../outside/secret.md", "folder": outside, "up": "..", "inside.md": "good.md",
	} {
		if err := os.Symlink(target, filepath.Join(vault, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(vault, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(filepath.Join(vault, "sparse.md"))
	if err == nil {
		err = errors.Join(sparse.Truncate(1<<40), sparse.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	src, done, err := importer.OpenSource(vault)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = done() }()
	db := memory(t)
	report, err := importer.Import(context.Background(), db, src, importer.Options{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Files != 2 || report.Skipped != 1 || report.LinksOutside != 4 || report.LinksMissing != 1 {
		t.Errorf("report %+v", report)
	}
	told := fmt.Sprint(report.Problems)
	for _, name := range []string{"file.md", "relative.md", "folder", "up", "inside.md", "pipe.md"} {
		if !strings.Contains(told, name+": it is ") {
			t.Errorf("%s is not told: %s", name, told)
		}
	}
	if !strings.Contains(told, "sparse.md: it is larger than 8 MiB; it is skipped") {
		t.Errorf("the large file is not told: %s", told)
	}
	if got := rows(t, db, "MATCH (n) WHERE n.content CONTAINS 'canary' RETURN count(n)"); got != "0\n" {
		t.Errorf("%s notes from outside", got)
	}
	if got := rows(t, db, "MATCH (n {id: \"vault/real/odd\\nname`') DETACH DELETE n.md\"}) RETURN n.content"); got != "'odd'\n" {
		t.Errorf("the odd name became %s", got)
	}
}

// TestNamesAreData imports labels, types and keys that would be code if they were not
// quoted.
func TestNamesAreData(t *testing.T) {
	const odd = "x`) DETACH DELETE n //\n\u2028"
	db := memory(t)
	rows(t, db, "CREATE (:Before {id: 'before'})")
	lines := fmt.Sprintf("{\"node\":{\"id\":%q,\"labels\":[%q],\"properties\":{%q:1}}}\n{\"edge\":{\"type\":%q,\"start\":%q,\"end\":\"before\"}}", odd, odd, odd, odd, odd)
	if _, err := importer.Import(context.Background(), db, importer.Source{File: strings.NewReader(lines)}, importer.Options{Format: "jsonl"}); err != nil {
		t.Fatal(err)
	}
	res, err := db.Query(context.Background(), "MATCH (n {id: $odd})-[r]->(b {id: 'before'}) RETURN labels(n)[0] = $odd AND type(r) = $odd AND n[$odd] = 1", map[string]any{"odd": odd})
	if err != nil || len(res.Rows) != 1 || !res.Rows[0][0].AsBool() {
		t.Errorf("%v, %v", res, err)
	}
}
