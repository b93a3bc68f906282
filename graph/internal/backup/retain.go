package backup

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Retain removes the oldest complete backups of a namespace of a database beyond
// the newest keep, and returns their folders. Backups of others, and folders that
// are no backups, are left alone. Each is renamed before it is removed, so that
// none is ever seen in part.
func (t *Target) Retain(namespace, database string, keep int) (removed []string, err error) {
	entries, err := os.ReadDir(t.path)
	if err != nil {
		return nil, systemError(t.path, err)
	}
	type found struct {
		path string
		m    *Manifest
	}
	var all []found
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), namespace+"-") {
			continue
		}
		path := filepath.Join(t.path, e.Name())
		m, err := Read(path)
		if err == nil && m.Namespace == namespace && m.Database == database {
			all = append(all, found{path, m})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(a.m.Taken.Compare(b.m.Taken), cmp.Compare(a.m.Seq, b.m.Seq))
	})
	for _, f := range all[:max(0, len(all)-keep)] {
		aside := filepath.Join(t.path, tempPrefix+filepath.Base(f.path))
		if err := os.Rename(f.path, aside); err != nil {
			return removed, systemError(f.path, err)
		}
		removed = append(removed, f.path)
		// Else a power loss could keep the name and lose what is in it.
		if err := syncDir(t.path); err != nil {
			return removed, err
		}
		if err := os.RemoveAll(aside); err != nil {
			return removed, systemError(aside, err)
		}
	}
	return removed, syncDir(t.path)
}
