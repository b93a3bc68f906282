package text

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// merge makes one segment of all on disk, and serves from it.
func (ix *Index) merge(ctx context.Context) error {
	if ix.disk == nil {
		return nil
	}
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.disk.scorch.ForceMerge(ctx, nil); err != nil {
		return err
	}
	g := ix.current()
	b, err := ix.disk.newBase(g.base)
	if err != nil {
		return err
	}
	return ix.succeed(g, b, 0)
}

// TestVerifyWhileMerging merges the segments of an index that is in use: the files
// that went into the new one disappear, which is no damage. A file that is of the
// index now is another matter.
func TestVerifyWhileMerging(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	filled(t, o)
	ix := open(t, o)
	defer func() { _ = ix.Close() }()
	old := ix.current().base.files()
	if len(old) < 2 {
		t.Fatalf("the index has the segments %v; there is nothing to merge", old)
	}
	must(t, ix.disk.scorch.ForceMerge(context.Background(), nil))
	for _, file := range old { // so does the library, when no root file has named them
		must(t, os.Remove(file))
	}
	if gone, err := ix.current().base.verify(); gone == "" || err != nil {
		t.Fatalf("the base in use has all its files: %q, %v", gone, err)
	}
	must(t, ix.Verify())
	for _, file := range segments(t, o.Dir) {
		must(t, os.Remove(file))
	}
	if err := ix.Verify(); err == nil || !strings.Contains(err.Error(), "is missing: rebuild the index") {
		t.Errorf("without files: %v", err)
	}
}
