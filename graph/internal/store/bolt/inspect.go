package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"

	"engram/graph/internal/store"
)

// The layout of a bbolt meta page, from its documentation of the file format: a
// page header of 16 bytes, then magic, version, page size and flags (u32 each),
// root page and sequence, freelist page, high-water page, transaction id and an
// FNV-1a checksum of all of these (u64 each).
const (
	pageHeaderSize = 16
	metaSize       = 64
	metaMagic      = 0xED0CDAED
	metaVersion    = 2
	noFreelist     = ^uint64(0)

	minPage = 1 << 10 // bytes; bbolt looks for page sizes up to maxPage
	maxPage = 16 << 20
)

// meta is what a meta page tells.
type meta struct {
	pageSize uint32
	root     uint64 // page of the tree of buckets
	freelist uint64 // page of the list of free pages, or noFreelist
	pages    uint64 // all pages in use have a lower number
	txid     uint64
}

// plausible tells whether the numbers fit together, whatever the file's length.
func (m meta) plausible() bool {
	inside := func(page uint64) bool { return page >= 2 && page < m.pages }
	return m.pageSize >= minPage && m.pageSize <= maxPage && m.pageSize&(m.pageSize-1) == 0 &&
		m.pages <= 1<<62/uint64(m.pageSize) && inside(m.root) && (m.freelist == noFreelist || inside(m.freelist))
}

// parseMeta reads the meta page at the start of b. bbolt tells whether it bears
// bbolt's mark at all, even if damaged.
func parseMeta(b []byte) (m meta, bbolt bool, err error) {
	if len(b) < pageHeaderSize+metaSize {
		return m, false, io.ErrUnexpectedEOF
	}
	b = b[pageHeaderSize : pageHeaderSize+metaSize]
	magic, version := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:])
	if magic != metaMagic {
		return m, false, errors.New("no database mark")
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8]) // never fails
	if sum.Sum64() != binary.NativeEndian.Uint64(b[metaSize-8:]) {
		return m, true, errors.New("wrong checksum")
	}
	if version != metaVersion {
		return m, true, fmt.Errorf("container version %d", version)
	}
	return meta{
		pageSize: binary.NativeEndian.Uint32(b[8:]),
		root:     binary.NativeEndian.Uint64(b[16:]),
		freelist: binary.NativeEndian.Uint64(b[32:]),
		pages:    binary.NativeEndian.Uint64(b[40:]),
		txid:     binary.NativeEndian.Uint64(b[48:]),
	}, true, nil
}

// inspection is what plain reads tell about a file.
type inspection struct {
	size    int64
	newest  meta
	damaged string // what is wrong with the other meta page, empty if nothing
}

// inspect reads the meta pages of the file without mapping it and refuses what
// bbolt would misread: an empty file (it would make a new database of it), a cut
// one (it would crash), a foreign one.
func inspect(path string) (inspection, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return inspection{}, &store.FileError{Err: store.ErrMissing, Path: path, Hint: "create it first, or check the path"}
	}
	if err != nil {
		return inspection{}, &store.FileError{Err: err, Path: path, Hint: "check the permissions"}
	}
	defer func() { _ = f.Close() }() // read only
	return inspectFile(f, path)
}

func inspectFile(f *os.File, path string) (inspection, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return inspection{}, &store.FileError{Err: err, Path: path}
	case !info.Mode().IsRegular():
		return inspection{}, &store.FileError{Err: store.ErrForeign, Path: path, Detail: "it is not a regular file"}
	case info.Size() == 0:
		return inspection{}, &store.FileError{
			Err: store.ErrEmpty, Path: path,
			Detail: "a database is never empty, so its content is lost", Hint: "restore it from a backup, or move it away and create a new one",
		}
	}
	in := inspection{size: info.Size()}
	metas, err := readMetas(f, in.size)
	if err != nil {
		return in, &store.FileError{Err: err, Path: path}
	}
	if !metas.bbolt {
		return in, &store.FileError{Err: store.ErrForeign, Path: path, Detail: "it does not start like one", Hint: "check the path"}
	}
	if len(metas.valid) == 0 {
		return in, &store.FileError{Err: store.ErrDamaged, Path: path, Detail: "both meta pages are unreadable: " + metas.damaged, Hint: "restore it from a backup"}
	}
	in.damaged = metas.damaged
	in.newest = metas.valid[0]
	for _, m := range metas.valid[1:] {
		if m.txid > in.newest.txid {
			in.newest = m
		}
	}
	if !in.newest.plausible() {
		return in, damage(path, fmt.Sprintf("its meta page tells of impossible pages: %+v", in.newest))
	}
	if want := int64(in.newest.pages) * int64(in.newest.pageSize); in.size < want {
		return in, &store.FileError{
			Err: store.ErrTruncated, Path: path,
			Detail: fmt.Sprintf("it has %d bytes and needs %d", in.size, want), Hint: "restore it from a backup",
		}
	}
	return in, nil
}

type metaPages struct {
	valid   []meta
	bbolt   bool
	damaged string
}

// readMetas reads both meta pages. The second one starts where the first ends; if
// the first is unreadable, every page size bbolt knows is tried.
func readMetas(f io.ReaderAt, size int64) (metaPages, error) {
	var out metaPages
	buf := make([]byte, pageHeaderSize+metaSize)
	read := func(offset int64) (meta, bool, error) {
		n, err := f.ReadAt(buf, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return meta{}, false, err
		}
		return parseMeta(buf[:n])
	}
	first, isBolt, firstErr := read(0)
	out.bbolt = isBolt
	if firstErr == nil {
		out.valid = append(out.valid, first)
		second, _, err := read(int64(first.pageSize))
		if err != nil {
			out.damaged = "meta page 1: " + err.Error()
			return out, nil
		}
		out.valid = append(out.valid, second)
		return out, nil
	}
	out.damaged = "meta page 0: " + firstErr.Error()
	for offset := int64(minPage); offset <= maxPage && offset < size; offset *= 2 {
		second, bolt2, err := read(offset)
		out.bbolt = out.bbolt || bolt2
		if err == nil && int64(second.pageSize) == offset {
			out.valid = append(out.valid, second)
			return out, nil
		}
		if bolt2 && err != nil {
			out.damaged += "; meta page 1: " + err.Error()
		}
	}
	return out, nil
}
