package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The file of statements holds what the query engine counted of the names that
// statements read and write, in the engine's own form. It is written aside and renamed,
// and not synced: after a power loss it may be an older one, or be empty.
const usageName = "statements"

// maxUsage bounds in bytes what is read of it.
const maxUsage = 32 << 20

// Usage returns the content of the file of statements; nil when there is none, or none
// that could have been written here.
func (n *Namespace) Usage() ([]byte, error) {
	path := filepath.Join(n.Path(), usageName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > maxUsage {
		return nil, nil
	}
	if err != nil {
		return nil, systemError(path, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, systemError(path, err)
	}
	return b, nil
}

// KeepUsage writes the file of statements, unless the directory is open for reading.
func (n *Namespace) KeepUsage(content []byte) error {
	if n.side == nil {
		return nil
	}
	path := filepath.Join(n.Path(), usageName)
	f, err := os.CreateTemp(n.Path(), tempPrefix+"*") // mode 0600
	if err != nil {
		return systemError(path, err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return systemError(path, err)
	}
	return nil
}
