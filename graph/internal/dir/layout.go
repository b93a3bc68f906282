package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// Layout is the version of the directory layout.
//
//	1  first
const Layout = 1

const (
	catalogName = "catalog"
	lockName    = "LOCK"
	nsName      = "ns"
	graphName   = "graph.db"
	seqName     = "seq"
	toldName    = "told"
	textName    = "text"
	topoName    = "topology.snap"
	vectorName  = "vectors"
	tempPrefix  = ".tmp-"

	dirMode  = 0o700
	fileMode = 0o600

	catalogMark = "engram data directory\nlayout "
)

// MinMaxSize is the least limit in bytes for the file of a namespace.
const MinMaxSize = bolt.MinMaxSize

// MaxName is the longest namespace name in bytes.
const MaxName = 64

// CheckName tells what is wrong with a namespace's name: it must be 1 to MaxName
// lower-case letters, digits, '-' or '_' and start with a letter or digit, so that
// it is a safe file name everywhere and no two names differ by case only.
func CheckName(name string) error {
	ok := len(name) > 0 && len(name) <= MaxName && name[0] != '-' && name[0] != '_'
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	}
	if !ok {
		return fmt.Errorf("%w: namespace name %q: use 1 to %d of a-z, 0-9, - and _, starting with a letter or digit", store.ErrInvalid, name, MaxName)
	}
	return nil
}

// Create makes an empty data directory at path, with missing parents. An existing
// directory must be empty.
func Create(path string) error {
	switch err := examine(path); {
	case err == nil:
		return &store.FileError{Err: store.ErrExists, Path: path, Hint: "open it instead"}
	case errors.Is(err, store.ErrMissing):
	default:
		return err
	}
	if err := MakeDir(path); err != nil {
		return err
	}
	return writeAside(filepath.Join(path, catalogName), fmt.Sprintf("%s%d\n", catalogMark, Layout))
}

// examine tells whether path is a data directory that this version knows.
func examine(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if to, err := os.Readlink(path); err == nil {
			return &store.FileError{
				Err: store.ErrForeign, Path: path, Detail: "it is a symbolic link to " + to + ", which does not exist",
				Hint: "make that directory, mount what it is on, or remove the link",
			}
		}
		return &store.FileError{Err: store.ErrMissing, Path: path, Hint: "create it first, or check the path"}
	case err != nil:
		return systemError(path, err)
	case !info.IsDir():
		return &store.FileError{Err: store.ErrForeign, Path: path, Detail: "it is not a directory", Hint: "check the path"}
	}
	mark, err := os.ReadFile(filepath.Join(path, catalogName))
	if errors.Is(err, fs.ErrNotExist) {
		return examineUnmarked(path)
	}
	if err != nil {
		return systemError(path, err)
	}
	var layout int
	if _, err := fmt.Sscanf(string(mark), catalogMark+"%d\n", &layout); err != nil {
		return &store.FileError{Err: store.ErrForeign, Path: path, Detail: "its file " + catalogName + " is not engram's", Hint: "check the path"}
	}
	if layout > Layout {
		return &store.FileError{
			Err: store.ErrNewer, Path: path,
			Detail: fmt.Sprintf("its layout is %d and this program knows up to %d", layout, Layout), Hint: "use the newer program",
		}
	}
	return nil
}

// examineUnmarked tells an empty directory, or what an interrupted Create left,
// from a foreign one.
func examineUnmarked(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return systemError(path, err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), tempPrefix) }) {
		return &store.FileError{Err: store.ErrForeign, Path: path, Detail: "it holds other files and no " + catalogName, Hint: "check the path"}
	}
	return &store.FileError{Err: store.ErrMissing, Path: path, Detail: "the directory holds nothing", Hint: "create a database in it first, or check the path"}
}

// writeAside makes a file appear complete and synced, or not at all.
func writeAside(path, content string) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*") // mode 0600
	if err != nil {
		return systemError(path, err)
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return systemError(path, err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return systemError(path, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return systemError(path, err)
	}
	return nil
}

// MakeDir makes a directory with missing parents, all of which survive a power
// loss.
func MakeDir(path string) error {
	existing := filepath.Clean(path)
	for {
		if _, err := os.Stat(existing); err == nil || existing == filepath.Dir(existing) {
			break
		}
		existing = filepath.Dir(existing)
	}
	if err := os.MkdirAll(path, dirMode); err != nil {
		return systemError(path, err)
	}
	// One that was there may be from an attempt that was cut short: its name, too.
	for at := filepath.Clean(path); ; {
		at = filepath.Dir(at)
		if err := syncDir(at); err != nil || len(at) <= len(existing) {
			return err
		}
	}
}
