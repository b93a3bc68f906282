package snapfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"engram/graph/internal/store"
)

// File is an open file whose header, table and footer are in order. Read may be
// called by several goroutines.
type File struct {
	Header
	f      *os.File
	size   int64
	chunks []chunk
}

type chunk struct {
	kind   byte
	length uint32
	sum    uint32
	offset int64
}

// Open opens a file. The error wraps store.ErrMissing, store.ErrDamaged,
// store.ErrForeign (not such a file), store.ErrNewer, or is the system's.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &store.FileError{Err: store.ErrMissing, Path: path}
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	file := &File{f: f}
	if err := file.readEnds(); err != nil {
		_ = f.Close()
		return nil, fileError(path, err)
	}
	return file, nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Size is the length of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Len is the number of chunks.
func (f *File) Len() int { return len(f.chunks) }

// Kind is the kind of chunk i.
func (f *File) Kind(i int) byte { return f.chunks[i].kind }

// Read returns the payload of chunk i, in buf when that is large enough.
func (f *File) Read(i int, buf []byte) ([]byte, error) {
	c := f.chunks[i]
	if cap(buf) < int(c.length) {
		buf = make([]byte, c.length)
	}
	buf = buf[:c.length]
	if _, err := f.f.ReadAt(buf, c.offset); err != nil {
		return nil, f.error(err, fmt.Sprintf("chunk %d cannot be read", i))
	}
	if f.Header.sum(i, c.kind, buf) != c.sum {
		return nil, f.error(store.ErrDamaged, fmt.Sprintf("the checksum of chunk %d, at byte %d, does not match", i, c.offset))
	}
	return buf, nil
}

func (f *File) error(err error, detail string) error {
	return &store.FileError{Err: err, Path: f.f.Name(), Detail: detail}
}

func (f *File) readEnds() error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	if f.size < headSize+footerSize {
		return f.error(store.ErrDamaged, fmt.Sprintf("it has %d bytes, which are too few", f.size))
	}
	head := make([]byte, headSize)
	if _, err := f.f.ReadAt(head, 0); err != nil {
		return err
	}
	if string(head[:8]) != headMark {
		return f.error(store.ErrForeign, "it does not begin like a snapshot file")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v > Format {
		return f.error(store.ErrNewer, fmt.Sprintf("its format is %d and this program knows up to %d", v, Format))
	}
	f.Content = binary.LittleEndian.Uint32(head[12:])
	f.Tag, f.Seq = binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint64(head[24:])
	foot := make([]byte, footerSize)
	if _, err := f.f.ReadAt(foot, f.size-footerSize); err != nil {
		return err
	}
	if string(foot[16:]) != endMark {
		return f.error(store.ErrDamaged, "it is cut off")
	}
	return f.readTable(head, foot)
}

func (f *File) readTable(head, foot []byte) error {
	at, n := binary.LittleEndian.Uint64(foot), int64(binary.LittleEndian.Uint32(foot[8:]))
	if at > uint64(f.size) || int64(at)+n*entrySize+footerSize != f.size {
		return f.error(store.ErrDamaged, "its length is not what it says")
	}
	table := make([]byte, n*entrySize)
	if _, err := f.f.ReadAt(table, int64(at)); err != nil {
		return err
	}
	if sumOf(head, table, foot[:12]) != binary.LittleEndian.Uint32(foot[12:]) {
		return f.error(store.ErrDamaged, "the checksum of its table does not match")
	}
	offset := int64(headSize)
	f.chunks = make([]chunk, n)
	for i := range f.chunks {
		e := table[i*entrySize:]
		c := chunk{kind: e[0], length: binary.LittleEndian.Uint32(e[1:]), sum: binary.LittleEndian.Uint32(e[5:]), offset: offset}
		if c.length > MaxChunk {
			return f.error(store.ErrDamaged, fmt.Sprintf("chunk %d has %d bytes", i, c.length))
		}
		f.chunks[i] = c
		offset += int64(c.length)
	}
	if offset != int64(at) {
		return f.error(store.ErrDamaged, "its chunks do not fill it")
	}
	return nil
}
