package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"engram/graph/internal/dir"
	"engram/graph/internal/store"
)

const (
	tempPrefix = ".tmp-"
	dirMode    = 0o700
	fileMode   = 0o600
)

// Target is a directory that backups go to, locked for one backup at a time.
type Target struct {
	path string
	lock *os.File
}

// OpenTarget makes the directory, if it is missing, and locks it. It removes
// what interrupted backups left. While another backup has it, it fails with
// store.ErrBusy.
func OpenTarget(path string) (*Target, error) {
	if err := dir.MakeDir(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, systemError(path, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &store.FileError{Err: store.ErrBusy, Path: path, Detail: "another backup is being written there", Hint: "wait for it"}
		}
		return nil, systemError(path, err)
	}
	t := &Target{path: path, lock: f}
	entries, err := os.ReadDir(path)
	if err != nil {
		_ = f.Close()
		return nil, systemError(path, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			_ = os.RemoveAll(filepath.Join(path, e.Name())) // what stays does no harm
		}
	}
	return t, nil
}

// Close unlocks the directory.
func (t *Target) Close() error { return t.lock.Close() }

// Write makes a backup: copy writes graph.db, verify looks at the synced file.
// The manifest m comes with everything but Kind, Format, Files and Checksum. It
// returns the backup's folder, which appears complete and synced, or not at all.
func (t *Target) Write(ctx context.Context, m *Manifest, copyTo func(io.Writer) error, verify func(path string) error) (path string, err error) {
	temp, err := os.MkdirTemp(t.path, tempPrefix+"*") // mode 0700
	if err != nil {
		return "", systemError(t.path, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temp)
		}
	}()
	graph := filepath.Join(temp, GraphName)
	file, err := writeFile(ctx, graph, copyTo)
	if err != nil {
		return "", err
	}
	m.Kind, m.Format, m.Files, m.Taken = kind, Format, []File{file}, m.Taken.UTC()
	if err := Verify(ctx, temp, m); err != nil {
		return "", err
	}
	if err := verify(graph); err != nil {
		return "", err
	}
	text, err := m.encode()
	if err != nil {
		return "", err
	}
	if _, err := writeFile(ctx, filepath.Join(temp, manifestName), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err != nil {
		return "", err
	}
	if err := syncDir(temp); err != nil {
		return "", err
	}
	if path, err = t.freeName(m); err != nil {
		return "", err
	}
	if err := os.Rename(temp, path); err != nil {
		return "", systemError(path, err)
	}
	return path, syncDir(t.path)
}

// freeName is the folder's name; a second backup of the same seq in the same
// second gets a number.
func (t *Target) freeName(m *Manifest) (string, error) {
	base := filepath.Join(t.path, fmt.Sprintf("%s-%s-%d", m.Namespace, m.Taken.Format("20060102T150405Z"), m.Seq))
	for n := 1; ; n++ {
		path := base
		if n > 1 {
			path = fmt.Sprintf("%s-%d", base, n)
		}
		_, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", systemError(path, err)
		}
	}
}

// writeFile writes a new file through to the disk.
func writeFile(ctx context.Context, path string, fill func(io.Writer) error) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return File{}, systemError(path, err)
	}
	w := &summing{ctx: ctx, w: f, sum: sha256.New()}
	err = fill(w)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return File{}, systemError(path, err)
	}
	return File{Name: filepath.Base(path), Size: w.size, SHA256: hex.EncodeToString(w.sum.Sum(nil))}, nil
}

// summing counts and hashes what passes through, as long as ctx lives.
type summing struct {
	ctx  context.Context //nolint:containedctx // of one copy
	w    io.Writer
	sum  hash.Hash
	size int64
}

func (s *summing) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.w.Write(p)
	_, _ = s.sum.Write(p[:n]) // never fails
	s.size += int64(n)
	return n, err
}

// Copy writes the backup's graph.db to a new file, synced, and fails with
// store.ErrDamaged unless that is what the manifest tells of.
func Copy(ctx context.Context, dir string, m *Manifest, to string) error {
	from := filepath.Join(dir, GraphName)
	in, err := os.Open(from)
	if err != nil {
		return systemError(from, err)
	}
	defer func() { _ = in.Close() }() // read only
	got, err := writeFile(ctx, to, func(w io.Writer) error {
		_, err := io.Copy(onlyWriter{w}, in)
		return err
	})
	if err != nil {
		return err
	}
	return compare(from, got, m.Graph())
}

// onlyWriter hides what else a writer can do, so that io.Copy goes through Write.
type onlyWriter struct{ io.Writer }

// Verify reads the backup's files back and compares them with the manifest.
func Verify(ctx context.Context, dir string, m *Manifest) error {
	path := filepath.Join(dir, GraphName)
	in, err := os.Open(path)
	if err != nil {
		return systemError(path, err)
	}
	defer func() { _ = in.Close() }() // read only
	w := &summing{ctx: ctx, w: io.Discard, sum: sha256.New()}
	if _, err := io.Copy(onlyWriter{w}, in); err != nil {
		return systemError(path, err)
	}
	return compare(path, File{Size: w.size, SHA256: hex.EncodeToString(w.sum.Sum(nil))}, m.Graph())
}

func compare(path string, got, want File) error {
	if got.Size != want.Size || got.SHA256 != want.SHA256 {
		return damaged(path, "its content is not what the manifest tells of")
	}
	return nil
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

// systemError names the file and translates what has a sentinel.
func systemError(path string, err error) error {
	var known *store.FileError
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return &store.FileError{Err: store.ErrReadOnly, Path: path, Detail: err.Error(), Hint: "make it writable, or choose another place"}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &store.FileError{Err: store.ErrFull, Path: path, Detail: err.Error(), Hint: "free space and try again"}
	}
	return &store.FileError{Err: err, Path: path}
}
