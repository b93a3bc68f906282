package vector

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"engram/graph/value"
)

// disk is a space's directory: a manifest, and files of entries that together are
// the log of what changed, oldest first.
type disk struct {
	dir   string
	dim   int
	m     manifest
	files atomic.Int32 // for Stats
}

// SpaceDir returns the directory of a model's space under the directory of all
// spaces: its name in safe characters, and a checksum, as two names may look the
// same then.
func SpaceDir(dir, model string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return '_'
	}, model)
	safe = strings.TrimLeft(safe[:min(len(safe), 40)], ".")
	return filepath.Join(dir, fmt.Sprintf("%s-%08x", safe, crc32.Checksum([]byte(model), castagnoli)))
}

// openDisk opens a space, or makes an empty one in place of what is missing or of
// no use.
func openDisk(o Options) (*disk, *generation, error) {
	d := &disk{dir: SpaceDir(o.Dir, o.Model), dim: o.Dim}
	empty := manifest{Format: format, Model: o.Model, Dim: o.Dim, Identity: o.Identity}
	if _, err := os.Stat(d.dir); err == nil {
		g, err := d.load(empty, o.Head)
		if err == nil {
			d.sweep()
			return d, g, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil, err
		}
		if err := setAside(d.dir); err != nil {
			return nil, nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("vectors: %w", err)
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("vectors: %w", err)
	}
	if err := errors.Join(d.commit(empty), syncDir(filepath.Dir(d.dir))); err != nil {
		return nil, nil, err
	}
	return d, newGeneration(o.Dim, 0), nil
}

// readDisk reads a space and changes nothing; an empty one stands for what is missing
// or of no use.
func readDisk(o Options) *generation {
	d := &disk{dir: SpaceDir(o.Dir, o.Model), dim: o.Dim}
	g, err := d.load(manifest{Format: format, Model: o.Model, Dim: o.Dim, Identity: o.Identity}, o.Head)
	if err != nil {
		return newGeneration(o.Dim, 0)
	}
	return g
}

// load reads everything; any error means that the space is of no use.
func (d *disk) load(want manifest, head uint64) (*generation, error) {
	m, err := readManifest(d.dir)
	switch {
	case err != nil:
		return nil, err
	case m.Format != want.Format || m.Model != want.Model || m.Dim != want.Dim || m.Identity != want.Identity:
		return nil, errors.New("vectors: made for another database or model, or by another version")
	case head != 0 && m.Seq > head:
		return nil, fmt.Errorf("vectors: at seq %d, ahead of the database at %d", m.Seq, head)
	}
	g := newGeneration(d.dim, m.Seq)
	entries, err := d.read(m.Files)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		e.seq = min(e.seq, m.Seq)
		g.add(e)
	}
	g.flushed = g.n
	d.m = m
	d.files.Store(int32(len(m.Files)))
	return g, nil
}

// append writes the entries from one number to another, and the seq. Of the newest
// files, those are merged that are not much greater than what follows them, so that
// there are few, and each entry is rewritten a few times only. When one of them
// turns out damaged, everything is written anew from memory.
func (d *disk) append(g *generation, from, to uint32, seq uint64) error {
	next := d.m
	next.Seq = seq
	if to > from {
		added := g.slice(from, to)
		keep, size := len(next.Files), len(added)
		for keep > 0 && next.Files[keep-1].Count <= 2*size {
			keep--
			size += next.Files[keep].Count
		}
		all, err := d.read(next.Files[keep:])
		if err != nil {
			keep, all, added = 0, nil, g.slice(0, to)
		}
		f, err := d.writeFile(&next, merged(append(all, added...), keep == 0))
		if err != nil {
			return err
		}
		next.Files = append(slices.Clone(next.Files[:keep]), f)
	}
	return d.commit(next)
}

func (d *disk) read(files []file) ([]entry, error) {
	var all []entry
	for _, f := range files {
		entries, err := readFile(d.dir, f, d.dim)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// merged returns the newest entry of each node, in order. In the oldest file nodes
// that are gone need no entry.
func merged(entries []entry, oldest bool) []entry {
	last := make(map[value.NodeID]int, len(entries))
	for i, e := range entries {
		last[e.node] = i
	}
	out := entries[:0]
	for i, e := range entries {
		if last[e.node] == i && !(oldest && e.kind == isGone) {
			out = append(out, e)
		}
	}
	return out
}

// replace writes a whole generation in place of everything.
func (d *disk) replace(g *generation, seq uint64) error {
	next := d.m
	next.Seq, next.Files = seq, nil
	if g.n > 0 {
		f, err := d.writeFile(&next, merged(g.slice(0, g.n), true))
		if err != nil {
			return err
		}
		next.Files = []file{f}
	}
	return d.commit(next)
}

func (d *disk) writeFile(m *manifest, entries []entry) (file, error) {
	m.Next++
	f := file{Name: fmt.Sprintf("%08d.vec", m.Next), Count: len(entries)}
	data := encodeFile(entries, d.dim)
	f.Sum = crc32.Checksum(data, castagnoli)
	return f, errors.Join(writeAside(filepath.Join(d.dir, f.Name), data), syncDir(d.dir))
}

// commit makes a manifest the current one: the moment at which what was written
// counts. Then files that it does not name are removed.
func (d *disk) commit(m manifest) error {
	if err := writeAside(filepath.Join(d.dir, manifestName), m.encode()); err != nil {
		return err
	}
	if err := syncDir(d.dir); err != nil {
		return err
	}
	d.m = m
	d.files.Store(int32(len(m.Files)))
	d.sweep()
	return nil
}

// sweep removes what the manifest does not name; what cannot be removed is
// removed later.
func (d *disk) sweep() {
	named := map[string]bool{manifestName: true}
	for _, f := range d.m.Files {
		named[f.Name] = true
	}
	found, _ := os.ReadDir(d.dir)
	for _, f := range found {
		if !named[f.Name()] {
			_ = os.Remove(filepath.Join(d.dir, f.Name()))
		}
	}
}

// writeAside makes a file appear complete and synced, or not at all.
func writeAside(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*") // mode 0600
	if err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("vectors: write %s: %w", path, err)
	}
	return nil
}

const asideSuffix = ".damaged"

// SetAside moves the directory of all spaces away, so that opening makes them anew.
// Nothing may have one of them open; it may be missing.
func SetAside(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return setAside(dir)
}

// setAside keeps what could not be used, in place of an earlier one.
func setAside(dir string) error {
	aside := dir + asideSuffix
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	if err := os.Rename(dir, aside); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
