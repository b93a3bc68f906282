package vector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Space is what lies on disk for one model.
type Space struct {
	Model string
	Dim   int
	Seq   uint64 // up to which it has everything
	// Entries counts vectors, among them some that newer ones replaced.
	Entries int
	Bytes   int64
}

// Spaces lists the spaces under a directory, by directory name. Those that cannot be
// read are left out: opening them sets them aside.
func Spaces(dir string) ([]Space, error) {
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	var out []Space
	for _, f := range found {
		path := filepath.Join(dir, f.Name())
		m, err := readManifest(path)
		if err != nil || strings.HasSuffix(path, asideSuffix) {
			continue
		}
		s := Space{Model: m.Model, Dim: m.Dim, Seq: m.Seq}
		for _, part := range m.Files {
			s.Entries += part.Count
			if info, err := os.Stat(filepath.Join(path, part.Name)); err == nil {
				s.Bytes += info.Size()
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// Remove deletes the space of a model that is not open.
func Remove(dir, model string) error {
	path := SpaceDir(dir, model)
	// The manifest goes first: a space without is of no use to anybody.
	if err := os.Remove(filepath.Join(path, manifestName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("vectors: %w", err)
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	return nil
}
