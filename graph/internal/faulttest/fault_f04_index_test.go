package faulttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
)

// scores are the results of searches with their exact scores.
func scores(db *graph.DB) (string, error) {
	tx, err := db.Snapshot()
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	var b strings.Builder
	for _, q := range []string{"walnut", "harbor zebra", "copper lantern velvet", "ember quartz walnut"} {
		hits, err := tx.SearchText(q, 1000, nil)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, q)
		for _, h := range hits {
			id, err := tx.ElementID(h.Node)
			if err != nil {
				return "", err
			}
			fmt.Fprintln(&b, id, h.Score)
		}
	}
	return b.String(), nil
}

// wantFresh opens dir and checks that it is at transaction n and that searches
// give exactly what an index made anew gives.
func wantFresh(t *testing.T, dir string, seed uint64, n int) {
	t.Helper()
	look := func() string {
		h, err := open(dir, false, workload.Options())
		if err != nil {
			t.Fatal(err)
		}
		_, err = workload.Verify(t.Context(), h.DB, seed, n, n)
		got, serr := scores(h.DB)
		if err := errors.Join(err, serr, h.close()); err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := look()
	if err := os.RemoveAll(file(dir, "text")); err != nil {
		t.Fatal(err)
	}
	if want := look(); got != want {
		t.Errorf("the index does not give what a fresh one does:\n%s\nfresh:\n%s", got, want)
	}
}

// TestFaultF04IndexBehindAndAhead plays a crash between the commit of the graph
// and that of the text index in both orders: the index is older than the graph,
// or newer. Each change is in the index once afterwards.
func TestFaultF04IndexBehindAndAhead(t *testing.T) {
	const seed = 4
	top := t.TempDir()
	early, late := filepath.Join(top, "early"), filepath.Join(top, "late")
	populate(t, early, seed, 30)
	copyTree(t, early, late)
	populate(t, late, seed, 70)
	for name, c := range map[string]struct {
		graph, index string
		n            int
	}{"behind": {late, early, 70}, "ahead": {early, late, 30}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			copyTree(t, c.graph, dir)
			if err := os.RemoveAll(file(dir, "text")); err != nil {
				t.Fatal(err)
			}
			copyTree(t, file(c.index, "text"), file(dir, "text"))
			wantFresh(t, dir, seed, c.n)
		})
	}
}

// TestFaultF15IndexDamage damages the files of the text index in every way, at
// rest: the graph opens, searches give what a fresh index gives, and what was
// damaged is moved aside.
func TestFaultF15IndexDamage(t *testing.T) {
	const seed, n = 15, 60
	top := t.TempDir()
	base, foreign := filepath.Join(top, "base"), filepath.Join(top, "foreign")
	populate(t, base, seed, n)
	populate(t, foreign, seed+1, n)
	segments, err := filepath.Glob(file(base, "text/*.zap"))
	if err != nil || len(segments) == 0 {
		t.Fatal("no segment to damage", err)
	}
	segment := filepath.Base(segments[len(segments)-1]) // older ones may have been merged, and only wait to be removed
	at := func(dir, name string) string { return filepath.Join(file(dir, "text"), name) }
	for _, c := range []struct {
		name   string
		aside  bool // evidence is kept
		damage func(dir string) error
	}{
		{"deleted", false, func(dir string) error { return os.RemoveAll(file(dir, "text")) }},
		{"emptied", true, func(dir string) error {
			return errors.Join(os.RemoveAll(file(dir, "text")), os.Mkdir(file(dir, "text"), 0o700))
		}},
		{"root gone", true, func(dir string) error { return os.Remove(at(dir, "root.bolt")) }},
		{"root empty", true, func(dir string) error { return os.Truncate(at(dir, "root.bolt"), 0) }},
		{"root cut", true, func(dir string) error { return os.Truncate(at(dir, "root.bolt"), 5000) }},
		{"segment gone", true, func(dir string) error { return os.Remove(at(dir, segment)) }},
		{"segment cut", true, func(dir string) error { return os.Truncate(at(dir, segment), 100) }},
		{"segment flipped", true, func(dir string) error { return flip(at(dir, segment), 40, 3) }},
		{"of another database", true, func(dir string) error {
			return errors.Join(os.RemoveAll(file(dir, "text")), copyDir(file(foreign, "text"), file(dir, "text")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			copyTree(t, base, dir)
			if err := c.damage(dir); err != nil {
				t.Fatal(err)
			}
			wantFresh(t, dir, seed, n)
			kept, _ := filepath.Glob(file(dir, "text.damaged*"))
			if c.aside != (len(kept) > 0) {
				t.Errorf("moved aside: %v; want that: %v", kept, c.aside)
			}
		})
	}
}

// TestFaultF15IndexVanishes takes the index directory away while it is in use.
func TestFaultF15IndexVanishes(t *testing.T) {
	const seed = 16
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, seed, 30)
	h := mustOpen(t, dir, false, workload.Options())
	m, err := resume(h, seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(file(dir, "text")); err != nil {
		t.Fatal(err)
	}
	for m.Done() < 60 {
		if err := m.Step(t.Context(), h.DB); err != nil {
			t.Fatal(err)
		}
		err := compare(h.DB, m)
		for try := 0; try < 100 && graph.CodeOf(err) == graph.SnapshotTooOld; try++ {
			err = compare(h.DB, m) // the index is being made anew: it says to come again
		}
		if err != nil {
			t.Fatalf("transaction %d: %v", m.Done(), err)
		}
	}
	_ = h.close() // what could not be written is made up for
	wantFresh(t, dir, seed, 60)
}

// flip inverts one bit of a file.
func flip(path string, at int64, bit uint) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	var b [1]byte
	if _, err = f.ReadAt(b[:], at); err == nil {
		b[0] ^= 1 << bit
		_, err = f.WriteAt(b[:], at)
	}
	return errors.Join(err, f.Close())
}
