package dir

import (
	"errors"
	"os"
	"path/filepath"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// ReplaceNamespace makes a namespace of a file. fill gets the path for graph.db in
// a directory beside, writes and verifies it and returns its seq. Then the whole
// directory takes the place of the namespace, text index and all, in one step: a
// kill at any point leaves the old one or the new one. An existing namespace is
// refused with ErrExists unless over, which does not look at what it is, so that a
// damaged one can be replaced.
func (d *Data) ReplaceNamespace(name string, over bool, fill func(graph string) (store.Seq, error)) error {
	if err := CheckName(name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ns := filepath.Join(d.path, nsName)
	final := filepath.Join(ns, name)
	if d.opts.ReadOnly {
		return &store.FileError{Err: store.ErrReadOnly, Path: final, Detail: "the directory was opened for reading"}
	}
	_, err := os.Lstat(final)
	exists := err == nil
	if exists && !over {
		return &store.FileError{Err: store.ErrExists, Path: final, Hint: "choose another namespace, or say that it is to be replaced"}
	}
	if d.names[name] {
		return &BusyError{Path: final, Owner: Owner{PID: os.Getpid(), Address: d.opts.Address}}
	}
	if err := d.lockLocked(); err != nil {
		return err
	}
	if err := os.MkdirAll(ns, dirMode); err != nil {
		return systemError(ns, err)
	}
	if err := syncDir(d.path); err != nil {
		return err
	}
	removeLeftovers(ns)
	temp, err := os.MkdirTemp(ns, tempPrefix+name+"-*") // mode 0700
	if err != nil {
		return systemError(ns, err)
	}
	// After the exchange this is the old one.
	defer func() { _ = os.RemoveAll(temp) }()
	seq, err := fill(filepath.Join(temp, graphName))
	if err != nil {
		return err
	}
	if err := startSide(temp, seq); err != nil {
		return err
	}
	if exists {
		err = exchange(temp, final)
	} else {
		err = os.Rename(temp, final)
	}
	if err != nil {
		return systemError(final, err)
	}
	return syncDir(ns)
}

// startSide writes the first side file beside a verified graph.db and syncs both.
func startSide(path string, seq store.Seq) error {
	roots, err := bolt.ReadRoots(filepath.Join(path, graphName))
	if err != nil {
		return err
	}
	side, err := openSide(filepath.Join(path, seqName))
	if err != nil {
		return err
	}
	if err := errors.Join(side.write(sideState{seq, roots}), side.f.Sync(), side.f.Close()); err != nil {
		return systemError(path, err)
	}
	return syncDir(path)
}

// CompactNamespace rewrites graph.db without free pages and tells its length
// before and after. verify looks at the new file before it takes the old one's
// place, in one step. The namespace must not be open, here or elsewhere.
func (d *Data) CompactNamespace(name string, verify func(graph string, seq store.Seq) error) (before, after int64, err error) {
	if err := CheckName(name); err != nil {
		return 0, 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	path := filepath.Join(d.path, nsName, name)
	switch {
	case d.closed:
		return 0, 0, store.ErrClosed
	case d.opts.ReadOnly:
		return 0, 0, &store.FileError{Err: store.ErrReadOnly, Path: path, Detail: "the directory was opened for reading"}
	case d.names[name]:
		return 0, 0, &BusyError{Path: path, Owner: Owner{PID: os.Getpid(), Address: d.opts.Address}}
	}
	known, _, err := d.acceptLocked(path)
	if err != nil {
		return 0, 0, err
	}
	graph := filepath.Join(path, graphName)
	info, err := bolt.Examine(graph, known.seq, known.roots)
	if err != nil {
		return 0, 0, err
	}
	removeLeftovers(path)
	temp := filepath.Join(path, tempPrefix+graphName)
	defer func() { _ = os.Remove(temp) }()
	if err := bolt.Compact(graph, temp); err != nil {
		return info.Size, 0, systemError(graph, err)
	}
	compact, err := os.Stat(temp)
	if err != nil {
		return info.Size, 0, systemError(temp, err)
	}
	if err := verify(temp, info.Seq); err != nil {
		return info.Size, 0, err
	}
	if err := exchangeGraph(temp, graph, known.seq); err != nil {
		return info.Size, 0, err
	}
	return info.Size, compact.Size(), nil
}

// exchangeGraph puts a file in the place of graph.db. Meanwhile the side file tells
// no roots: it must not tell those of another file.
func exchangeGraph(from, graph string, seq store.Seq) error {
	path := filepath.Dir(graph)
	side, err := openSide(filepath.Join(path, seqName))
	if err != nil {
		return err
	}
	defer func() { _ = side.f.Close() }() // what matters is synced
	if err := errors.Join(side.write(sideState{seq: seq}), side.f.Sync()); err != nil {
		return systemError(path, err)
	}
	if err := os.Rename(from, graph); err != nil {
		return systemError(graph, err)
	}
	if err := syncDir(path); err != nil {
		return err
	}
	roots, err := bolt.ReadRoots(graph)
	if err != nil {
		return err
	}
	return side.write(sideState{seq, roots})
}
