package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"engram/graph/internal/store"
)

// filled makes a store with n values of 1 KiB at seq 1.
func filled(t *testing.T, n int) (*Driver, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := Create(path, nil); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path)
	b := store.Batch{Seq: 1}
	for i := range n {
		b.Puts = append(b.Puts, store.Put{Space: store.Nodes, Key: fmt.Appendf(nil, "k%06d", i), Value: bytes.Repeat([]byte{1}, 1024)})
	}
	mustApply(t, d, b)
	return d, path
}

func mustApply(t *testing.T, d *Driver, b store.Batch) {
	t.Helper()
	if outcome, err := d.Apply(b.Seq-1, []store.Batch{b}); outcome != store.Committed {
		t.Fatalf("Apply: %v, %v", outcome, err)
	}
}

// interrupted calls between before each piece that is written.
type interrupted struct {
	f       *os.File
	between func()
	pieces  int
}

func (w *interrupted) Write(p []byte) (int, error) {
	w.between()
	w.pieces++
	return w.f.Write(p)
}

// TestCopyWhileWriting commits, in the same goroutine, between the pieces of a
// copy: a commit that waited for the copy would never return. The copy holds the
// old values and is whole.
func TestCopyWhileWriting(t *testing.T) {
	const n = 2000
	d, _ := filled(t, n)
	defer func() { _ = d.Close() }()
	r, err := d.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	seq := store.Seq(1)
	w := &interrupted{f: f, between: func() {
		seq++
		b := store.Batch{Seq: seq}
		for i := int(seq); i < n; i += 50 {
			b.Puts = append(b.Puts, store.Put{Space: store.Nodes, Key: fmt.Appendf(nil, "k%06d", i), Value: bytes.Repeat([]byte{2}, 1024)})
		}
		mustApply(t, d, b)
	}}
	size, err := r.(store.Copier).CopyTo(w)
	if err := errors.Join(err, r.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if w.pieces < 10 || size < n*1024 {
		t.Errorf("the copy of %d bytes was interrupted %d times only", size, w.pieces)
	}
	c := mustOpen(t, path)
	defer func() { _ = c.Close() }()
	if err := c.Check(func(p string) { t.Error(p) }); err != nil {
		t.Error(err)
	}
	old, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	keys := 0
	err = old.Scan(store.Nodes, nil, nil, func(k, v []byte) bool {
		keys++
		if v[0] != 1 {
			t.Errorf("%s has the value of a later commit", k)
		}
		return true
	})
	if err != nil || keys != n || old.Seq() != 1 {
		t.Errorf("the copy has %d keys at seq %d, %v; want %d at 1", keys, old.Seq(), err, n)
	}
}

func TestCompact(t *testing.T) {
	const n = 5000
	d, path := filled(t, n)
	b := store.Batch{Seq: 2}
	for i := range n - 10 {
		b.Puts = append(b.Puts, store.Put{Space: store.Nodes, Key: fmt.Appendf(nil, "k%06d", i)})
	}
	mustApply(t, d, b)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "compact.db")
	if err := Compact(path, to); err != nil {
		t.Fatal(err)
	}
	before, after := fileSize(t, path), fileSize(t, to)
	if after*10 > before {
		t.Errorf("%d bytes became %d", before, after)
	}
	c := mustOpen(t, to)
	r, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	err = r.Scan(store.Nodes, nil, nil, func(_, _ []byte) bool { keys++; return true })
	if err != nil || keys != 10 || r.Seq() != 2 {
		t.Errorf("%d keys at seq %d, %v; want 10 at 2", keys, r.Seq(), err)
	}
	mustApply2 := store.Batch{Seq: 3, Puts: []store.Put{{Space: store.Nodes, Key: []byte("k"), Value: []byte("v")}}}
	mustApply(t, c, mustApply2)
	if err := errors.Join(r.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if err := Compact(path, to); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
	if err := os.Truncate(path, before/2); err != nil {
		t.Fatal(err)
	}
	to = filepath.Join(t.TempDir(), "no.db")
	if err := Compact(path, to); err == nil {
		t.Error("a cut file was compacted")
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what failed left a file: %v", err)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
