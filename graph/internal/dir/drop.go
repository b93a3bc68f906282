package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"engram/graph/internal/store"
)

// SetMaxSize bounds the file of one namespace from its next opening on; 0 takes the
// bound away, so that the directory's holds.
func (d *Data) SetMaxSize(name string, size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sizes == nil {
		d.sizes = make(map[string]int64)
	}
	if d.sizes[name] = size; size == 0 {
		delete(d.sizes, name)
	}
}

// DropNamespace deletes a namespace, which must not be open, with everything in it.
// It is gone in one step; its files are removed behind that, or by a later creation.
func (d *Data) DropNamespace(name string) error {
	return d.takeAway(name, func(ns, path string) error {
		temp, err := os.MkdirTemp(ns, tempPrefix+name+"-*")
		if err != nil {
			return systemError(ns, err)
		}
		if err := os.Rename(path, filepath.Join(temp, name)); err != nil {
			_ = os.Remove(temp) // the rename's error is the one to tell
			return systemError(path, err)
		}
		err = syncDir(ns)
		_ = os.RemoveAll(temp) // what is left is cleared by the next creation
		return err
	})
}

// RenameNamespace gives a namespace, which must not be open, a name that is free.
func (d *Data) RenameNamespace(name, to string) error {
	if err := CheckName(to); err != nil {
		return err
	}
	return d.takeAway(name, func(ns, path string) error {
		final := filepath.Join(ns, to)
		if _, err := os.Lstat(final); err == nil {
			return &store.FileError{Err: store.ErrExists, Path: final, Hint: "choose another name"}
		}
		if err := os.Rename(path, final); err != nil {
			return systemError(path, err)
		}
		return syncDir(ns)
	})
}

// takeAway calls fn with the directory of all namespaces and that of one which is
// there and not open, while nobody can open it.
func (d *Data) takeAway(name string, fn func(ns, path string) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ns := filepath.Join(d.path, nsName)
	path := filepath.Join(ns, name)
	if d.opts.ReadOnly {
		return &store.FileError{Err: store.ErrReadOnly, Path: path, Detail: "the directory was opened for reading"}
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return &store.FileError{Err: store.ErrMissing, Path: path, Hint: "there is no such namespace"}
	} else if err != nil {
		return systemError(path, err)
	}
	if d.names[name] {
		return &BusyError{Path: path, Owner: Owner{PID: os.Getpid(), Address: d.opts.Address}}
	}
	if err := d.lockLocked(); err != nil {
		return err
	}
	return fn(ns, path)
}
