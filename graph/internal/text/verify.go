package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2/util"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// minSegmentBytes is less than any segment has.
const minSegmentBytes = 64

// openable looks at an index without changing anything in it: the library, when
// it meets a snapshot it cannot load, takes an older one and deletes the newer
// segments, and a segment that is cut off kills the process in a goroutine of the
// library's. So the newest snapshot has to be whole before it may have a go, which
// means reading it: some 10 ms for 100 MB in the page cache.
func openable(dir string) (header, error) {
	if err := markedDamaged(dir); err != nil {
		return header{}, err
	}
	r, err := readRoot(rootPath(dir))
	if err != nil {
		return header{}, err
	}
	for _, name := range r.segments {
		if err := verifySegment(filepath.Join(dir, name)); err != nil {
			return header{}, err
		}
	}
	return decodeHeader(r.header)
}

func rootPath(dir string) string { return filepath.Join(dir, rootFile) }

// markedDamaged is an error when the index was found to be damaged before.
func markedDamaged(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, damagedFile)); err == nil {
		return fmt.Errorf("text index: %s was found to be damaged", dir)
	}
	return nil
}

// root is what a root file says of its newest snapshot.
type root struct {
	segments []string // file names
	header   []byte
}

// readRoot reads a root file.
func readRoot(file string) (r root, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return r, fmt.Errorf("text index: %w", err)
	}
	if info.Size() == 0 {
		return r, fmt.Errorf("text index: %s is empty", file)
	}
	defer recoverDamage(&err, file)
	db, err := bolt.Open(file, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		if errors.Is(err, bolterrors.ErrTimeout) {
			return r, ErrBusy
		}
		return r, fmt.Errorf("text index: %s: %w", file, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.View(func(tx *bolt.Tx) error {
		snapshots := tx.Bucket(util.BoltSnapshotsBucket)
		if snapshots == nil {
			return fmt.Errorf("text index: %s has no snapshot", file)
		}
		newest, _ := snapshots.Cursor().Last()
		snapshot := snapshots.Bucket(newest)
		if snapshot == nil {
			return fmt.Errorf("text index: %s has no snapshot", file)
		}
		return snapshot.ForEachBucket(func(k []byte) error {
			b := snapshot.Bucket(k)
			if path := b.Get(util.BoltPathKey); path != nil {
				r.segments = append(r.segments, string(path))
			}
			if bytes.Equal(k, util.BoltInternalKey) {
				r.header = bytes.Clone(b.Get(headerKey))
			}
			return nil
		})
	})
	return r, err
}

// lockTimeout is how long to wait for a lock that another process holds.
const lockTimeout = 500 * time.Millisecond

// recoverDamage turns a panic of the libraries over damaged files into an error,
// an access beyond the end of a mapped file included. Defer it before the first
// use of the file.
func recoverDamage(err *error, file string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("text index: %s: %v", file, p)
	}
}

// panicOnFault makes an access beyond the end of a mapped file a panic in this
// goroutine; the function it returns undoes that.
func panicOnFault() func() {
	old := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(old) }
}

// Verify reads every segment on disk and compares its checksum, as Open does. It
// is for the consistency check.
func (ix *Index) Verify() error {
	if err := errors.Join(ix.usable(), ix.opened()); err != nil {
		return err
	}
	// The library merges segments by itself and removes those that went into the new
	// one, though an older base reads them still. So a file that is gone is one that
	// should be there only if it belongs to what the index is made of now.
	for b := ix.current().base; ; {
		gone, err := b.verify()
		if gone == "" {
			return err
		}
		if b, err = ix.newestBase(b); err != nil {
			return err
		}
		if slices.Contains(b.files(), gone) {
			return fmt.Errorf("text index: %s is missing: rebuild the index", gone)
		}
	}
}

// newestBase is what the index on disk is made of now.
func (ix *Index) newestBase(before *base) (*base, error) {
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.usable(); err != nil {
		return nil, err
	}
	return ix.disk.newBase(before)
}

// files are the paths of the segments that are on disk.
func (b *base) files() []string {
	var out []string
	for _, s := range b.segs {
		if file, ok := s.seg.(segment.PersistedSegment); ok { // others are in memory still
			out = append(out, file.Path())
		}
	}
	return out
}

// verify reads the segments' files. gone is one that is not there.
func (b *base) verify() (gone string, err error) {
	if !b.pin.acquire() {
		return "", ErrClosed
	}
	defer b.pin.release()
	for _, file := range b.files() {
		if err := verifySegment(file); errors.Is(err, fs.ErrNotExist) {
			return file, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", nil
}

// verifySegment compares the last four bytes of a segment with the CRC-32 of the
// others.
func verifySegment(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	if info.Size() < minSegmentBytes {
		return fmt.Errorf("text index: %s is cut off: rebuild the index", path)
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, f, info.Size()-4); err != nil {
		return fmt.Errorf("text index: read %s: %w", path, err)
	}
	var want [4]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return fmt.Errorf("text index: read %s: %w", path, err)
	}
	if binary.BigEndian.Uint32(want[:]) != sum.Sum32() {
		return fmt.Errorf("text index: checksum of %s is wrong: rebuild the index", path)
	}
	return nil
}
