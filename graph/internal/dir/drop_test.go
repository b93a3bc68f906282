package dir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph/internal/store"
)

func TestDropAndRename(t *testing.T) {
	path := withNamespace(t)
	d := mustOpen(t, path, nil)
	defer mustClose(t, d)
	names, err := d.Namespaces()
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	n := mustOpenNamespace(t, d, names[0])
	for what, err := range map[string]error{"drop": d.DropNamespace(names[0]), "rename": d.RenameNamespace(names[0], "other")} {
		if !errors.Is(err, store.ErrBusy) {
			t.Errorf("%s while it is open: %v", what, err)
		}
	}
	closeNamespace(t, n)
	if err := d.RenameNamespace(names[0], "other"); err != nil {
		t.Fatal(err)
	}
	closeNamespace(t, mustOpenNamespace(t, d, "other"))
	for what, err := range map[string]error{"drop": d.DropNamespace(names[0]), "rename": d.RenameNamespace(names[0], "third")} {
		if !errors.Is(err, store.ErrMissing) {
			t.Errorf("%s what is gone: %v", what, err)
		}
	}
	if err := d.RenameNamespace("other", "../other"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("rename to no name: %v", err)
	}
	if err := d.RenameNamespace("other", "other"); !errors.Is(err, store.ErrExists) {
		t.Errorf("rename to itself: %v", err)
	}
	if err := d.DropNamespace("other"); err != nil {
		t.Fatal(err)
	}
	if left, err := d.Namespaces(); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	entries, err := os.ReadDir(filepath.Join(path, nsName))
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.IsDir() }) {
		t.Errorf("files left: %v, %v", entries, err)
	}
}
