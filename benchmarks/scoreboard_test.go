package benchmarks_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"engram/benchmarks"
)

var rewrite = flag.Bool("rewrite", false, "write the scoreboard anew")

const scoreboard = "testdata/recall/scoreboard.txt"

// TestRecallScoreboard holds recall against the figures under review: a change
// that moves one has to change the file too. ENGRAM_DATA names the folder of the
// sets, which are not part of this module.
func TestRecallScoreboard(t *testing.T) {
	root := os.Getenv("ENGRAM_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	var sets []string
	for _, name := range []string{"locomo-dev", "2wiki", "musique", "cacm"} {
		dir := filepath.Join(root, name)
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("no recall set in %s: set ENGRAM_DATA to the folder that holds it", dir)
		}
		sets = append(sets, dir)
	}
	var got bytes.Buffer
	for _, legs := range [][]string{{"lexical"}, nil} {
		opts := benchmarks.RecallOptions{Sets: sets, Legs: legs, NoTimes: true}
		if err := benchmarks.Recall(context.Background(), opts, &got); err != nil {
			t.Fatal(err)
		}
	}
	if *rewrite {
		if err := os.WriteFile(scoreboard, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(scoreboard)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("recall has changed; got\n%s\nwant\n%s\nif it is meant, run go test ./benchmarks -run Scoreboard -rewrite", got.Bytes(), want)
	}
}
