package graph_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph"
)

// found counts the nodes that a new transaction finds for a word.
func (f *fileDB) found(word string) int {
	f.t.Helper()
	tx, err := f.db.Snapshot()
	f.must(err)
	defer tx.Rollback()
	hits, err := tx.SearchText(word, 100, nil)
	f.must(err)
	return len(hits)
}

// TestTextIsOpenedLater searches at once after opening, in transactions that
// began before the index was open, behind writes, and after kills.
func TestTextIsOpenedLater(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	for n := range 30 {
		f.add(n)
	}
	f.close()
	f.open()
	old, err := f.db.Snapshot()
	f.must(err)
	defer old.Rollback()
	f.add(30)
	if got := f.found("shared"); got != 31 {
		t.Errorf("found %d of 31", got)
	}
	hits, err := old.SearchText("shared", 100, nil)
	f.must(err)
	if len(hits) != 30 {
		t.Errorf("the older transaction found %d of 30", len(hits))
	}
	old.Rollback()
	f.kill()
	if got := f.found("shared"); got != 31 {
		t.Errorf("after a kill: found %d of 31", got)
	}
	f.verify(31)
	// Closed before the index was open, with a change: the log has it.
	f.close()
	f.open()
	f.add(31)
	f.close()
	f.open()
	if got := f.found("word31"); got != 1 {
		t.Errorf("found %d of 1", got)
	}
	f.verify(32)
}

// TestTextFoundDamagedLater flips a bit of a segment, which opening does not
// notice at once: the search does, and is answered from a new index.
func TestTextFoundDamagedLater(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	for n := range 30 {
		f.add(n)
	}
	f.close()
	files, err := filepath.Glob(f.path("text/*.zap"))
	f.must(err)
	if len(files) == 0 {
		t.Fatal("no segments")
	}
	b, err := os.ReadFile(files[0])
	f.must(err)
	b[len(b)/2] ^= 16
	f.must(os.WriteFile(files[0], b, 0o600))
	f.open()
	f.add(30)
	if got := f.found("shared"); got != 31 {
		t.Errorf("found %d of 31", got)
	}
	if _, err := os.Stat(f.path("text.damaged")); err != nil {
		t.Errorf("the evidence is not kept: %v", err)
	}
	f.verify(31)
}

// TestTextOfOtherFieldsIsMadeAnew opens a database with other text fields, which is as
// good as another version of the analyser: checking notes it, opening answers before
// the index is made anew, a search waits for that, and it is kept.
func TestTextOfOtherFieldsIsMadeAnew(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	for n := range 30 {
		f.add(n)
	}
	f.close()
	f.opts.TextFields = []string{"content", "remark"}
	check := func() *graph.Report {
		t.Helper()
		data, err := graph.OpenData(f.dir, graph.DataOptions{ReadOnly: true})
		f.must(err)
		defer func() { f.must(data.Close()) }()
		o := f.opts
		db, err := data.Open(context.Background(), "g", &o)
		f.must(err)
		defer closeDB(t, db)
		return must(db.Check(context.Background()))(t)
	}
	if r := check(); !r.OK() || len(r.Notes) != 1 || !strings.Contains(r.String(), "note: text index: made for other fields") {
		t.Errorf("checking an index that is out of date: %s", r)
	}
	f.open()
	f.add(30)
	if got := f.found("shared"); got != 31 {
		t.Errorf("found %d of 31", got)
	}
	f.verify(31)
	f.close()
	if r := check(); !r.OK() || len(r.Notes) != 0 || r.Texts != 31 {
		t.Errorf("afterwards: %d texts; %s", r.Texts, r)
	}
}
