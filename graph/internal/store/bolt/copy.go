package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// CopyTo writes the snapshot as a file that Open accepts, at the snapshot's seq.
// Apply goes on meanwhile: it neither waits nor changes a page that is copied.
func (r *reader) CopyTo(w io.Writer) (n int64, err error) {
	err = guard(r.path, func() error {
		n, err = r.tx.WriteTo(w)
		return closedError(err)
	})
	return n, err
}

// compactStep is up to how many bytes one transaction of Compact writes.
const compactStep = 16 << 20

// Compact writes the content of a database, which nobody may be writing, to a new
// file without the free pages, synced, and compares both. to must not exist; on an
// error it is removed.
func Compact(from, to string) (err error) {
	if _, _, err := prove(from, Roots{}); err != nil {
		return err
	}
	src, _, err := openBolt(from, &Options{ReadOnly: true, MaxSize: DefaultMaxSize}, lockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &store.FileError{Err: err, Path: to}
	}
	_ = f.Close() // still empty, bbolt fills it
	defer func() {
		if err != nil {
			_ = os.Remove(to)
		}
	}()
	if err := compact(src, from, to); err != nil {
		return err
	}
	before, err := digest(src, from)
	if err != nil {
		return err
	}
	dst, _, err := openBolt(to, &Options{ReadOnly: true, MaxSize: DefaultMaxSize}, lockTimeout)
	if err != nil {
		return err
	}
	after, err := digest(dst, to)
	if err = errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if before != after {
		return damage(to, "the compact copy is not what was read from "+from)
	}
	return nil
}

func compact(src *bbolt.DB, from, to string) error {
	dst, err := bbolt.Open(to, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		return &store.FileError{Err: err, Path: to}
	}
	err = guard(from, func() error {
		if _, err := headerOf(src, from); err != nil {
			return err
		}
		return bbolt.Compact(dst, src, compactStep)
	})
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		var known *store.FileError
		if errors.As(err, &known) {
			return err
		}
		return &store.FileError{Err: err, Path: to}
	}
	return nil
}

func headerOf(db *bbolt.DB, path string) (seq store.Seq, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		seq, err = readHeader(tx, path)
		return err
	})
	return seq, err
}

// digest hashes every key and value.
func digest(db *bbolt.DB, path string) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	err = guard(path, func() error {
		return db.View(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
				field(h, name)
				c := b.Cursor()
				for k, v := c.First(); k != nil; k, v = c.Next() {
					if v == nil {
						return damage(path, fmt.Sprintf("a bucket inside of space %s", name))
					}
					field(h, k)
					field(h, v)
				}
				return nil
			})
		})
	})
	return [sha256.Size]byte(bytes.Clone(h.Sum(nil))), err
}

// field adds bytes with their length.
func field(h hash.Hash, b []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(b)))
	_, _ = h.Write(n[:]) // never fails
	_, _ = h.Write(b)
}
