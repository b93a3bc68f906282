package dir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"engram/graph/internal/store"
)

// FuzzFiles reads arbitrary side files and catalogs: a side file that
// was not written by us tells nothing, and a catalog is refused for a reason.
func FuzzFiles(f *testing.F) {
	dir := f.TempDir()
	side, err := openSide(filepath.Join(dir, "seq"))
	if err == nil {
		err = errors.Join(side.write(sideState{seq: 7}), side.f.Close())
	}
	whole, rerr := os.ReadFile(filepath.Join(dir, "seq"))
	if err := errors.Join(err, rerr); err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(toldContent(7))
	f.Add([]byte(catalogMark + "1\n"))
	f.Add([]byte(catalogMark + "99999999999999999999\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		for _, name := range []string{seqName, catalogName} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, toldName), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if told, err := readTold(filepath.Join(dir, toldName)); err != nil || told != 0 && string(content) != string(toldContent(told)) {
			t.Fatalf("%d uses were told by %x: %v", told, content, err)
		}
		s, odd, err := readSide(filepath.Join(dir, seqName))
		if err != nil || odd != "" && s != (sideState{}) {
			t.Errorf("the side file %q tells %v, %q, %v", content, s, odd, err)
		}
		if err := examine(dir); err != nil && !errors.Is(err, store.ErrForeign) && !errors.Is(err, store.ErrNewer) {
			t.Errorf("the catalog %q: %v", content, err)
		}
	})
}
