package graph_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/embedder"
	"engram/graph/value"
)

// near returns the nodes whose texts are nearest to words.
func near(t testing.TB, tx *graph.Tx, words string) []value.NodeID {
	t.Helper()
	var ids []value.NodeID
	for _, h := range must(tx.RankVectors(tx.EmbedText(words), 10, nil))(t) {
		ids = append(ids, h.Node)
	}
	return ids
}

func nearest(t testing.TB, tx *graph.Tx, words string) value.NodeID {
	t.Helper()
	if ids := near(t, tx, words); len(ids) > 0 {
		return ids[0]
	}
	return 0
}

func TestVectorsAreSeenAtOnce(t *testing.T) {
	db := memory(t, nil)
	var cat, cook value.NodeID
	update(t, db, func(tx *graph.Tx) {
		cat = says(t, tx, "The kitten slept on the sofa")
		cook = says(t, tx, "She baked bread in the oven")
		if got := nearest(t, tx, "a sleepy cat"); got != cat {
			t.Errorf("its own transaction finds node %d, want %d", got, cat)
		}
	})
	before := must(db.LongSnapshot())(t)
	defer before.Rollback()
	update(t, db, func(tx *graph.Tx) {
		content, _ := tx.Key("content")
		must(tx.SetNodeProp(cat, content, value.String("The stock market fell")))(t)
		must(tx.DeleteNode(cook, false))(t)
		if got := near(t, tx, "baking bread"); slices.Contains(got, cook) {
			t.Errorf("it finds what it deleted: %v", got)
		}
	})
	now := must(db.Snapshot())(t)
	defer now.Rollback()
	for _, c := range []struct {
		tx   *graph.Tx
		text string
		want value.NodeID
	}{{before, "a sleepy cat", cat}, {before, "cooking bread", cook}, {now, "shares and investors", cat}, {now, "cooking bread", cat}} {
		if got := nearest(t, c.tx, c.text); got != c.want {
			t.Errorf("%q finds node %d, want %d", c.text, got, c.want)
		}
	}
	same := must(now.Similarities(now.EmbedText("The stock market fell"), []value.NodeID{cat, cook}))(t)
	if same[0] < 0.99 || same[1] != 0 {
		t.Errorf("similarities to its own text and of a deleted node: %v", same)
	}
	if v := must(now.NodeVector(cat))(t); len(v) != 64 {
		t.Errorf("the vector has %d dimensions", len(v))
	}
}

// openGraph makes or opens a graph in a data directory; end closes both.
func openGraph(t testing.TB, path string, create bool, o *graph.Options) (db *graph.DB, end func()) {
	t.Helper()
	if create {
		must(0, graph.CreateData(path))(t)
	}
	d := must(graph.OpenData(path, graph.DataOptions{}))(t)
	if create {
		must(0, d.Create("g", nil))(t)
	}
	db = must(d.Open(context.Background(), "g", o))(t)
	return db, func() {
		closeDB(t, db)
		must(0, d.Close())(t)
	}
}

// TestVectorsOnDisk closes, damages, removes and opens for reading.
func TestVectorsOnDisk(t *testing.T) {
	dir := t.TempDir()
	files := filepath.Join(dir, "ns", "g", "vectors")
	db, closeAll := openGraph(t, dir, true, nil)
	for i := range 30 {
		update(t, db, func(tx *graph.Tx) {
			says(t, tx, fmt.Sprintf("the %s number %d", []string{"garden", "engine", "violin"}[i%3], i))
		})
	}
	look := func(when string) {
		t.Helper()
		tx := must(db.Snapshot())(t)
		defer tx.Rollback()
		if got := near(t, tx, "flowers and trees"); len(got) == 0 || (got[0]-1)%3 != 0 {
			t.Errorf("%s: nearest are %v", when, got)
		}
		if r := must(db.Check(context.Background()))(t); !r.OK() || r.Vectors != 30 && when != "for reading" {
			t.Errorf("%s: the check says %d vectors, %v", when, r.Vectors, r.Problems)
		}
	}
	reopen := func(when string, o *graph.Options, damage func()) {
		t.Helper()
		closeAll()
		damage()
		db, closeAll = openGraph(t, dir, false, o)
		look(when)
	}
	look("new")
	reopen("reopened", nil, func() {})
	if s := must(db.Stats())(t).Vectors; s.Live != 30 || s.Published != s.Applied || s.Err != nil || !strings.HasPrefix(s.Model, "builtin-words-64-") {
		t.Errorf("stats %+v", s)
	}
	reopen("removed", nil, func() { must(0, os.RemoveAll(files))(t) })
	reopen("damaged", nil, func() {
		manifests := must(filepath.Glob(filepath.Join(files, "*", "MANIFEST")))(t)
		if len(manifests) != 1 {
			t.Fatalf("manifests %v", manifests)
		}
		must(0, os.WriteFile(manifests[0], []byte("{"), 0o600))(t)
	})
	if aside := must(filepath.Glob(filepath.Join(files, "*.damaged")))(t); len(aside) != 1 {
		t.Errorf("the damaged space was not moved aside: %v", aside)
	}
	reopen("rebuilt", &graph.Options{Rebuild: true}, func() {})
	if _, err := os.Stat(files + ".damaged"); err != nil {
		t.Errorf("rebuilding left the old ones: %v", err)
	}
	closeAll()
}

func TestNoEmbedder(t *testing.T) {
	db := memory(t, &graph.Options{NoEmbedder: true})
	update(t, db, func(tx *graph.Tx) {
		says(t, tx, "The kitten slept")
		if got := must(tx.RankVectors([]float32{1}, 10, nil))(t); tx.EmbedText("kitten") != nil || got != nil {
			t.Errorf("without an embedder it finds %v", got)
		}
	})
	if made, waiting, err := db.EmbedMissing(context.Background(), 10); made != 0 || waiting != 0 || err != nil {
		t.Errorf("%d made, %d waiting, %v", made, waiting, err)
	}
}

// slow stands for an endpoint: it is no embedder.Local.
type slow struct {
	embedder.Embedder
	asked []string
	err   error
}

func (s *slow) Model() string { return "slow" }
func (s *slow) Dim() int      { return 64 }

func (s *slow) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	s.asked = append(s.asked, texts...)
	if s.err != nil {
		return nil, s.err
	}
	return s.Embedder.Embed(ctx, texts)
}

func TestEmbedMissing(t *testing.T) {
	builtin := must(embedder.Shared())(t)
	s := &slow{Embedder: builtin}
	db := memory(t, &graph.Options{Embedder: s})
	var cat, gone, empty value.NodeID
	update(t, db, func(tx *graph.Tx) {
		empty, cat, gone = says(t, tx, "?!"), says(t, tx, "The kitten slept"), says(t, tx, "A thing")
	})
	update(t, db, func(tx *graph.Tx) { must(tx.DeleteNode(gone, false))(t) })
	if len(s.asked) != 0 {
		t.Errorf("asked for %q inside of a transaction", s.asked)
	}
	s.err = errors.New("out of order")
	if _, waiting, err := db.EmbedMissing(context.Background(), 10); !errors.Is(err, s.err) || waiting != 2 {
		t.Errorf("%d waiting, %v", waiting, err)
	}
	s.err, s.asked = nil, nil
	if made, waiting, err := db.EmbedMissing(context.Background(), 10); made != 2 || waiting != 0 || err != nil {
		t.Errorf("%d made, %d waiting, %v", made, waiting, err)
	}
	if want := []string{"?!", "The kitten slept"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q, want %q", s.asked, want)
	}
	tx := must(db.Snapshot())(t)
	defer tx.Rollback()
	hits := must(tx.RankVectors(builtin.EmbedOne("a sleepy cat"), 10, nil))(t)
	if len(hits) != 1 || hits[0].Node != cat {
		t.Errorf("hits %v, want node %d and not %d", hits, cat, empty)
	}
}

// A transaction that stays open for long finds by meaning in a graph that is open for
// reading, too, where the vectors are made by the first search.
func TestLongSnapshotOfReadOnlyGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	db, end := openData(t, path, true, graph.DataOptions{})
	var id value.NodeID
	update(t, db, func(tx *graph.Tx) { id = says(t, tx, "a sleepy cat") })
	end()
	db, end = openData(t, path, false, graph.DataOptions{ReadOnly: true})
	defer end()
	for range 2 {
		tx := must(db.LongSnapshot())(t)
		hits := must(tx.RankVectors(tx.EmbedText("a tired kitten"), 10, nil))(t)
		if len(hits) != 1 || hits[0].Node != id {
			t.Errorf("found %v", hits)
		}
		tx.Rollback()
	}
}
