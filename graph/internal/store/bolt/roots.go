package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// Roots is what a transaction's meta page leads to and nothing else protects: a
// checksum of the pages of the tree of buckets and of the list of free pages. Kept
// outside of the file and given to Open, it saves reading all of the file. The zero
// Roots are unknown.
type Roots struct {
	Tx  uint64 // bbolt's number of the transaction, not a seq
	Sum uint32 // CRC32C
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rootsOf reads the roots of the transaction of m, and its list of free pages.
func rootsOf(f io.ReaderAt, m meta) (r Roots, free []uint64, err error) {
	sum := uint32(0)
	var read func(id uint64, depth int) error
	read = func(id uint64, depth int) error {
		data, err := readPages(f, m, id)
		if err != nil {
			return err
		}
		p := parseTree(data)
		if fault := p.fault(int(m.pageSize)); fault != "" || depth > maxDepth {
			return fmt.Errorf("page %d: %s", id, fault)
		}
		sum = crc32.Update(sum, castagnoli, data[:pageHeaderSize+p.count*elementSize])
		for i := range p.count {
			sum = crc32.Update(sum, castagnoli, p.key(i))
			if p.leaf {
				protected, err := rootPart(p.key(i), p.value(i))
				if err != nil {
					return fmt.Errorf("page %d: bucket %d: %w", id, i, err)
				}
				sum = crc32.Update(sum, castagnoli, protected)
			} else if err := read(p.child(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(m.root, 0); err != nil {
		return r, nil, err
	}
	if m.freelist != noFreelist {
		data, err := readPages(f, m, m.freelist)
		if err != nil {
			return r, nil, err
		}
		sum = crc32.Update(sum, castagnoli, data)
		if free, err = freePages(data); err != nil {
			return r, nil, fmt.Errorf("page %d: %w", m.freelist, err)
		}
	}
	return Roots{Tx: m.txid, Sum: sum}, free, nil
}

// rootPart is what the roots protect of a bucket: all but the records of a space that
// is so small that they are inside, which have checksums of their own, and are to
// be named when they are damaged.
func rootPart(name, value []byte) ([]byte, error) {
	if len(value) < bucketHeader {
		return nil, fmt.Errorf("it is %d bytes long", len(value))
	}
	if binary.NativeEndian.Uint64(value) != 0 || bytes.Equal(name, headerBucket) {
		return value, nil
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeaderSize || binary.NativeEndian.Uint16(inline[8:]) != leafPage {
		return nil, errors.New("it has no page")
	}
	if fault := parseTree(inline).fault(0); fault != "" {
		return nil, errors.New(fault)
	}
	return value[:bucketHeader], nil
}

// readPages reads a page with those that belong to it.
func readPages(f io.ReaderAt, m meta, id uint64) ([]byte, error) {
	if id < 2 || id >= m.pages {
		return nil, fmt.Errorf("page %d is outside of the file's %d pages", id, m.pages)
	}
	data := make([]byte, m.pageSize)
	if _, err := f.ReadAt(data, int64(id)*int64(m.pageSize)); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	more := uint64(binary.NativeEndian.Uint32(data[12:]))
	if self := binary.NativeEndian.Uint64(data); self != id || more >= m.pages-id {
		return nil, fmt.Errorf("page %d calls itself %d and %d pages long", id, self, more+1)
	}
	if more > 0 {
		data = slices.Grow(data, int(more)*int(m.pageSize))[:(more+1)*uint64(m.pageSize)]
		if _, err := f.ReadAt(data[m.pageSize:], int64(id+1)*int64(m.pageSize)); err != nil {
			return nil, fmt.Errorf("page %d: %w", id, err)
		}
	}
	return data, nil
}

// freePages reads a list of free pages.
func freePages(data []byte) ([]uint64, error) {
	if kind := binary.NativeEndian.Uint16(data[8:]); kind != freelistPage {
		return nil, fmt.Errorf("it is of kind %#x instead of a list of free pages", kind)
	}
	ids := data[pageHeaderSize:]
	n := uint64(binary.NativeEndian.Uint16(data[10:]))
	if n == manyFree {
		n, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return nil, fmt.Errorf("it lists %d free pages", n)
	}
	free := make([]uint64, n)
	for i := range free {
		free[i] = binary.NativeEndian.Uint64(ids[8*i:])
	}
	return free, nil
}

// ReadRoots reads the roots of a file that has been checked and is not open.
func ReadRoots(path string) (Roots, error) {
	f, err := os.Open(path)
	if err != nil {
		return Roots{}, openError(path, err)
	}
	defer func() { _ = f.Close() }() // read only
	in, err := inspectFile(f, path)
	if err != nil {
		return Roots{}, err
	}
	r, _, err := rootsOf(f, in.newest)
	if err != nil {
		return Roots{}, damage(path, err)
	}
	return r, nil
}

// prove establishes that the pages of the newest transaction lead where they
// should: by the roots that are known of it, which takes the reading of a few
// pages, or else by reading all of the file. It returns what is known of the pages
// from now on.
func prove(path string, known Roots) (*pages, Roots, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Roots{}, openError(path, err)
	}
	defer func() { _ = f.Close() }() // read only
	in, err := inspectFile(f, path)
	if err != nil {
		return nil, Roots{}, err
	}
	m := in.newest
	found, free, err := rootsOf(f, m)
	if err != nil {
		return nil, Roots{}, damage(path, err)
	}
	if err := known.contradict(path, found); err != nil {
		return nil, Roots{}, err
	}
	if known == found && m.freelist != noFreelist {
		return newPages(path, m, free), found, nil
	}
	var problems []string
	w := walkFile(f, m, func(problem string) { problems = append(problems, problem) })
	if len(problems) > 0 {
		return nil, Roots{}, damage(path, fmt.Sprintf("%s (%d problems in all)", problems[0], len(problems)))
	}
	return newPages(path, m, w.unused()), found, nil
}

// contradict refuses roots of the same transaction that are not what is known.
func (r Roots) contradict(path string, found Roots) error {
	if r.Tx == found.Tx && r != found {
		return damage(path, "the pages that lead to all others are not what was written")
	}
	return nil
}
