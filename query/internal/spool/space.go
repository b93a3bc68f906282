package spool

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// prefix begins the names of the files.
const prefix = "engram-rows-"

// File is a temporary file. Close removes it.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// Space is a directory for the files of results. It is safe for concurrent use.
type Space struct {
	dir   string
	make  func(dir string) (File, error)
	sweep sync.Once
}

// NewSpace makes a space in dir; an empty one means os.TempDir.
func NewSpace(dir string) *Space { return NewSpaceOf(dir, createFile) }

// NewSpaceOf makes a space whose files are made by a function, for tests.
func NewSpaceOf(dir string, create func(dir string) (File, error)) *Space {
	if dir == "" {
		dir = os.TempDir()
	}
	return &Space{dir: dir, make: create}
}

// New makes an empty spool whose file has at most limit bytes; a negative one
// means no bound.
func (s *Space) New(limit int64) *Spool { return &Spool{space: s, limit: limit} }

// Like makes an empty spool with the space and the limit of s.
func (s *Spool) Like() *Spool { return s.space.New(s.limit) }

func (s *Space) create() (File, error) {
	s.sweep.Do(s.removeLeft)
	f, err := s.make(s.dir)
	if err != nil {
		return nil, &IOError{Dir: s.dir, Op: "creating", Err: err}
	}
	return f, nil
}

// removeLeft removes what a process that was killed could not remove. A file that
// is in use either has no name any more or, where open files keep theirs, cannot
// be removed.
func (s *Space) removeLeft() {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return // making a file says it better
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), prefix) && f.Type().IsRegular() {
			_ = os.Remove(filepath.Join(s.dir, f.Name()))
		}
	}
}

// osFile is a file that loses its name at once where the system allows that, else
// when it is closed.
type osFile struct {
	*os.File
	named bool
}

func createFile(dir string) (File, error) {
	f, err := os.CreateTemp(dir, prefix+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	return &osFile{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Close closes the file and removes it.
func (f *osFile) Close() error {
	err := f.File.Close()
	if f.named {
		_ = os.Remove(f.Name()) // what is left goes when the next one is made
	}
	return err
}
