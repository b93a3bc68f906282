package graph_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph"
	"engram/graph/value"
)

// openData makes or opens a graph in a data directory; end closes both.
func openData(t testing.TB, path string, create bool, o graph.DataOptions) (db *graph.DB, end func()) {
	t.Helper()
	if create {
		if err := graph.CreateData(path); err != nil {
			t.Fatal(err)
		}
	}
	d := must(graph.OpenData(path, o))(t)
	if create {
		if err := d.Create("g", nil); err != nil {
			t.Fatal(err)
		}
	}
	db = must(d.Open(context.Background(), "g", nil))(t)
	return db, func() {
		closeDB(t, db)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// says creates a node with text and returns it.
func says(t testing.TB, tx *graph.Tx, text string) value.NodeID {
	t.Helper()
	k := must(tx.InternKey("content"))(t)
	return must(tx.CreateNode(nil, []value.KeyProp{{Key: k, Value: value.String(text)}}))(t)
}

func search(t testing.TB, tx *graph.Tx, words string) []value.NodeID {
	t.Helper()
	var ids []value.NodeID
	for _, h := range must(tx.SearchText(words, 10, nil))(t) {
		ids = append(ids, h.Node)
	}
	return ids
}

func TestTextIsSeenAtOnce(t *testing.T) {
	db := memory(t, nil)
	var cat, dog value.NodeID
	update(t, db, func(tx *graph.Tx) {
		cat = says(t, tx, "The cats slept in Lisbon")
		if got := search(t, tx, "cat"); !slices.Equal(got, []value.NodeID{cat}) {
			t.Errorf("its own transaction finds %v", got)
		}
	})
	before := must(db.LongSnapshot())(t)
	defer before.Rollback()
	update(t, db, func(tx *graph.Tx) {
		dog = says(t, tx, "A dog ran to a cat")
		content, _ := tx.Key("content")
		must(tx.SetNodeProp(cat, content, value.String("The birds flew to Lisbon")))(t)
	})
	if got := search(t, before, "cat"); !slices.Equal(got, []value.NodeID{cat}) {
		t.Errorf("an older snapshot finds %v", got)
	}
	view(t, db, func(tx *graph.Tx) {
		if got := search(t, tx, "cats"); !slices.Equal(got, []value.NodeID{dog}) {
			t.Errorf("a later snapshot finds %v", got)
		}
		hits := must(tx.SearchText("Did the birds fly to Lisbon?", 10, nil))(t)
		if len(hits) != 1 || hits[0].Node != cat || !slices.Equal(hits[0].Terms, []string{"birds", "Lisbon"}) {
			t.Errorf("hits %+v", hits)
		}
		none := must(tx.SearchText("birds", 10, func(id value.NodeID) bool { return id != cat }))(t)
		if len(none) != 0 {
			t.Errorf("a dropped node is found: %v", none)
		}
	})
	update(t, db, func(tx *graph.Tx) {
		must(tx.DeleteNode(dog, true))(t)
		if got := search(t, tx, "dog"); len(got) != 0 {
			t.Errorf("a deleted node is found: %v", got)
		}
	})
	if r := checkClean(t, db); r.Texts != 1 {
		t.Errorf("%d texts", r.Texts)
	}
}

// TestTextAfterReopening opens a graph whose text index is as it was left,
// behind, gone, and not to be written.
func TestTextAfterReopening(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, end := openData(t, dir, true, graph.DataOptions{})
	var ids []value.NodeID
	for i := range 3 {
		update(t, db, func(tx *graph.Tx) { ids = append(ids, says(t, tx, fmt.Sprint("boat number", i))) })
	}
	end()
	textDir := filepath.Join(dir, "ns", "g", "text")
	for _, c := range []struct {
		name  string
		spoil func() error
		o     graph.DataOptions
	}{
		{"as it was", func() error { return nil }, graph.DataOptions{}},
		{"behind", func() error {
			kept := filepath.Join(t.TempDir(), "kept")
			if err := os.CopyFS(kept, os.DirFS(textDir)); err != nil {
				return err
			}
			db, end := openData(t, dir, false, graph.DataOptions{})
			update(t, db, func(tx *graph.Tx) {
				content, _ := tx.Key("content")
				must(tx.SetNodeProp(ids[0], content, value.String("no longer")))(t)
				ids = append(ids[1:], says(t, tx, "boat number 3"))
			})
			end()
			if err := os.RemoveAll(textDir); err != nil {
				return err
			}
			return os.CopyFS(textDir, os.DirFS(kept))
		}, graph.DataOptions{}},
		{"gone", func() error { return os.RemoveAll(textDir) }, graph.DataOptions{}},
		{"for reading", func() error { return nil }, graph.DataOptions{ReadOnly: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.spoil(); err != nil {
				t.Fatal(err)
			}
			db, end := openData(t, dir, false, c.o)
			defer end()
			view(t, db, func(tx *graph.Tx) {
				if got := search(t, tx, "boats"); !slices.Equal(got, ids) {
					t.Errorf("it finds %v, want %v", got, ids)
				}
			})
			checkClean(t, db)
		})
	}
}

func TestTextOfALoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, end := openData(t, dir, true, graph.DataOptions{})
	a := ring(t, db, 2000, "a")
	b := ring(t, db, 100, "b")
	update(t, db, func(tx *graph.Tx) { says(t, tx, "unlike the rest") })
	if r := checkClean(t, db); r.Texts != 2101 {
		t.Errorf("%d texts", r.Texts)
	}
	view(t, db, func(tx *graph.Tx) {
		hits := must(tx.SearchText("text", 3000, nil))(t)
		if len(hits) != len(a)+len(b) {
			t.Errorf("%d hits", len(hits))
		}
	})
	end()
	db, end = openData(t, dir, false, graph.DataOptions{})
	defer end()
	if r := checkClean(t, db); r.Texts != 2101 {
		t.Errorf("after reopening %d texts", r.Texts)
	}
}
