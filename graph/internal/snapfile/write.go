package snapfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"engram/graph/internal/store"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Emit appends a chunk to the file being written. The payload is not kept.
type Emit func(kind byte, payload []byte) error

// Write makes a file: aside, synced in pieces, then renamed over path, and the
// directory synced. When it fails, what was at path is still there. It returns
// the size of the file in bytes. Only one Write of a path may run at a time.
func Write(path string, h Header, fill func(Emit) error) (size int64, err error) {
	temp := path + NewSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, fileError(path, err)
	}
	w := &writer{f: f, h: h}
	err = w.all(fill)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return 0, fileError(path, err)
	}
	return w.size, fileError(path, syncDir(filepath.Dir(path)))
}

type writer struct {
	f        *os.File
	h        Header
	size     int64
	unsynced int
	table    []byte
}

func (w *writer) all(fill func(Emit) error) error {
	head := w.h.encode()
	if err := w.write(head); err != nil {
		return err
	}
	if err := fill(w.chunk); err != nil {
		return err
	}
	foot := binary.LittleEndian.AppendUint64(nil, uint64(w.size))
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(w.table)/entrySize))
	foot = binary.LittleEndian.AppendUint32(foot, sumOf(head, w.table, foot))
	foot = append(foot, endMark...)
	if err := w.write(append(w.table, foot...)); err != nil {
		return err
	}
	return w.f.Sync()
}

func (w *writer) chunk(kind byte, payload []byte) error {
	if len(payload) > MaxChunk {
		return fmt.Errorf("a chunk of %d bytes; at most %d are allowed", len(payload), MaxChunk)
	}
	sum := w.h.sum(len(w.table)/entrySize, kind, payload)
	w.table = append(w.table, kind)
	w.table = binary.LittleEndian.AppendUint32(w.table, uint32(len(payload)))
	w.table = binary.LittleEndian.AppendUint32(w.table, sum)
	return w.write(payload)
}

func (w *writer) write(b []byte) error {
	n, err := w.f.Write(b)
	w.size += int64(n)
	w.unsynced += n
	if err == nil && w.unsynced >= syncEvery {
		w.unsynced = 0
		err = w.f.Sync()
	}
	return err
}

func (h Header) encode() []byte {
	b := append(make([]byte, 0, headSize), headMark...)
	b = binary.LittleEndian.AppendUint32(b, Format)
	b = binary.LittleEndian.AppendUint32(b, h.Content)
	b = binary.LittleEndian.AppendUint64(b, h.Tag)
	return binary.LittleEndian.AppendUint64(b, h.Seq)
}

// sum is the checksum of a chunk in its place.
func (h Header) sum(place int, kind byte, payload []byte) uint32 {
	b := binary.LittleEndian.AppendUint32(h.encode(), uint32(place))
	return sumOf(append(b, kind), payload)
}

func sumOf(parts ...[]byte) (sum uint32) {
	for _, p := range parts {
		sum = crc32.Update(sum, castagnoli, p)
	}
	return sum
}

// SetAside moves a file that cannot be used to path.damaged, in place of an
// earlier one, so that what happened can be looked into.
func SetAside(path string) error {
	err := os.Rename(path, path+DamagedSuffix)
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fileError(path, err)
}

// RemoveLeftover removes what a Write that was cut short left behind.
func RemoveLeftover(path string) { _ = os.Remove(path + NewSuffix) }

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// fileError names the file in an error that does not yet.
func fileError(path string, err error) error {
	var named *store.FileError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return &store.FileError{Err: err, Path: path}
}
