package benchmarks

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram"
)

// smallGraph has something for each kind of question.
var smallGraph = []string{
	`UNWIND [
	  ['m1', 'Ann', 'We bought a small house by the sea last spring'],
	  ['m2', 'Bob', 'The kids painted the garden fence yellow'],
	  ['m3', 'Ann', 'Our ferry leaves the harbour at seven'],
	  ['m4', 'Cid', 'Aubergines need more water than tomatoes do'],
	  ['m5', 'Ann', 'Our ferry leaves the harbour at nine from June on'],
	  ['m6', 'Bob', 'Grandmother keeps her recipes in a tin box']
	] AS m CREATE (:Memory {id: m[0], speaker: m[1], content: m[2], session: 's', conversation: 'c'})`,
	`MATCH (a {id: 'm5'}), (b {id: 'm3'}) CREATE (a)-[:SUPERSEDES]->(b)`,
	`MATCH (a {id: 'm4'}), (b {id: 'm6'}) CREATE (a)-[:CAUSES]->(b)`,
	`MATCH (a {id: 'm3'}), (b {id: 'm5'}) CREATE (a)-[:RELATED]->(b)`,
	`CREATE (:Place {name: 'harbour'})`,
}

// TestBuildGold makes a set of a small graph and runs it. The two memories about the
// ferry are related, but words reach the one from the other, so that no associative
// question is made of that.
func TestBuildGold(t *testing.T) {
	db, err := engram.Open(filepath.Join(t.TempDir(), "data"), &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range smallGraph {
		if _, err := db.Query(context.Background(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	seq := db.Seq()
	var out bytes.Buffer
	dir := filepath.Join(t.TempDir(), "gold")
	if err := BuildGold(context.Background(), db, GoldOptions{Dir: dir, Each: 2, Seed: 1}, &out); err != nil {
		t.Fatal(err)
	}
	if db.Seq() != seq {
		t.Error("the database itself was changed")
	}
	for _, want := range []string{
		"6 memories, 3 relations between them", "joined to another memory: 4 (66.7 %)", "nodes with a vector: ",
		"associative  1          2", "superseded   1          2", "paraphrase   2          2",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	var all strings.Builder
	for _, name := range []string{"questions.jsonl", "links.jsonl", "memories.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(name + "\n" + string(text))
	}
	golden(t, "testdata/recall/gold.txt", all.String())
	out.Reset()
	if err := Recall(context.Background(), RecallOptions{Sets: []string{dir}, NoTimes: true, JSON: true}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"exact-rare","n":2,"r5":1,`, `"associative","n":1,"r5":1,`, `"nonsense","n":2,"r5":0,"r10":0,"hit5":0,"p5":0,"mrr":0,"silent":1`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
	if err := BuildGold(context.Background(), db, GoldOptions{Dir: dir}, &out); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a folder that is there: %v", err)
	}
	empty, err := engram.Open(filepath.Join(t.TempDir(), "data"), &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if err := BuildGold(context.Background(), empty, GoldOptions{Dir: filepath.Join(t.TempDir(), "none")}, &out); err == nil || !strings.Contains(err.Error(), "no node with content") {
		t.Errorf("an empty database: %v", err)
	}
}
