package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Bounds of a folder.
const (
	maxNote    = 8 << 20   // bytes of one Markdown file
	maxDepth   = 64        // folders in each other
	maxEntries = 2_000_000 // files and folders altogether
)

// walker reads the Markdown files of a folder in the order of their names, each
// folder's index first. It follows no links, and opens nothing but plain files.
type walker struct {
	ctx     context.Context //nolint:containedctx // of one import
	root    *os.Root
	entries int
	// skip is told of what is not looked at: links, devices and what lies too deep.
	skip func(name, why string)
	// other is told of plain files that are no Markdown.
	other func(name string)
	// file is told of each Markdown file, dir of the begin of each folder.
	dir  func(name string) error
	file func(name string) error
}

func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// isIndex reports whether a file stands for its folder.
func isIndex(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == "index.md" || base == "index.markdown"
}

func (w *walker) walk(dir string, depth int) error {
	if depth > maxDepth {
		w.skip(dir, fmt.Sprintf("it lies more than %d folders deep", maxDepth))
		return nil
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	f, err := w.root.Open(dir)
	if err != nil {
		w.skip(dir, "the folder cannot be read: "+plainFileError(err))
		return nil
	}
	entries, err := f.ReadDir(-1)
	_ = f.Close() // it was only read
	if err != nil {
		w.skip(dir, "the folder cannot be read: "+plainFileError(err))
		return nil
	}
	if w.entries += len(entries); w.entries > maxEntries {
		return fmt.Errorf("the folder holds more than %d files", maxEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		if x, y := isIndex(a.Name()), isIndex(b.Name()); x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return strings.Compare(a.Name(), b.Name())
	})
	if err := w.dir(dir); err != nil {
		return err
	}
	for _, files := range []bool{true, false} { // files before folders, so that the index is known
		for _, e := range entries {
			if e.IsDir() == files || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			name := path.Join(dir, e.Name())
			if err := w.entry(name, e, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) entry(name string, e fs.DirEntry, depth int) error {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		w.skip(name, "it is a link, and links are not followed")
	case e.IsDir():
		return w.walk(name, depth+1)
	case !e.Type().IsRegular():
		w.skip(name, "it is no plain file")
	case !isMarkdown(name):
		w.other(name)
	default:
		return w.file(name)
	}
	return nil
}

// readNote reads a plain file of a folder. It never waits, and never reads outside: what
// was put in a file's place meanwhile is refused by the root.
func readNote(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.New("it cannot be read: " + plainFileError(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, errors.New("it cannot be read: " + plainFileError(err))
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxNote+1))
	if err != nil {
		return nil, errors.New("it cannot be read: " + plainFileError(err))
	}
	if len(text) > maxNote {
		return nil, fmt.Errorf("it is larger than %d MiB", maxNote>>20)
	}
	return text, nil
}

// plainFileError tells what the system said, without the path.
func plainFileError(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
