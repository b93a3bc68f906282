package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"engram/graph/internal/store"
)

// reader is one bbolt read transaction. bbolt only promises that a transaction
// belongs to one goroutine; what is used here, cursors over buckets that exist
// already, changes nothing but atomic counters (a race test watches that).
type reader struct {
	tx      *bbolt.Tx
	path    string
	seq     store.Seq
	buckets [store.SpaceCount]*bbolt.Bucket
	// cursors are kept from one Get to the next, for whoever takes them: a cursor
	// has a stack to grow.
	cursors [store.SpaceCount]atomic.Pointer[bbolt.Cursor]
}

func (r *reader) Seq() store.Seq { return r.seq }

func (r *reader) bucket(space store.Space) (*bbolt.Bucket, error) {
	if space >= store.SpaceCount {
		return nil, fmt.Errorf("%w: space %d does not exist", store.ErrInvalid, space)
	}
	return r.buckets[space], nil
}

// Get copies the value of the key.
func (r *reader) Get(space store.Space, key []byte) (value []byte, err error) {
	b, err := r.bucket(space)
	if err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.recover(&err)
	c := r.cursor(space, b)
	value = get(c, key)
	r.cursors[space].Store(c) // not after a panic
	return value, nil
}

func (r *reader) cursor(space store.Space, b *bbolt.Bucket) *bbolt.Cursor {
	if c := r.cursors[space].Swap(nil); c != nil {
		return c
	}
	return b.Cursor()
}

func get(c *bbolt.Cursor, key []byte) []byte {
	k, v := c.Seek(key)
	if v == nil || !bytes.Equal(k, key) {
		return nil
	}
	touch(v)
	return append(make([]byte, 0, len(v)), v...)
}

// GetMany copies the values of the keys.
func (r *reader) GetMany(space store.Space, keys, out [][]byte) (_ [][]byte, err error) {
	b, err := r.bucket(space)
	if err != nil {
		return out, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.recover(&err)
	c := r.cursor(space, b)
	for _, key := range keys {
		out = append(out, get(c, key))
	}
	r.cursors[space].Store(c)
	return out, nil
}

// Scan walks a cursor. A panic of fn passes through.
func (r *reader) Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) (err error) {
	b, err := r.bucket(space)
	if err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	outside := false
	defer func() {
		if !outside {
			r.recover2(recover(), &err)
		}
	}()
	c := b.Cursor()
	var last []byte
	key, value := c.Seek(from)
	for key != nil && (to == nil || bytes.Compare(key, to) < 0) {
		touch(key)
		touch(value)
		if value == nil || last != nil && bytes.Compare(last, key) >= 0 {
			return damage(r.path, fmt.Sprintf("key %x in space %s is out of order", key, bucketNames[space]))
		}
		last = key
		outside = true
		more := fn(key, value)
		outside = false
		if !more {
			return nil
		}
		key, value = c.Next()
	}
	return nil
}

// Around implements store.Prover. A panic of fn is taken for one of bbolt.
func (r *reader) Around(space store.Space, key []byte, fn func(key, value []byte) error) (err error) {
	b, err := r.bucket(space)
	if err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.recover(&err)
	look := func(k, v []byte, behind bool) error {
		if k == nil {
			return nil
		}
		touch(k)
		touch(v)
		if v == nil || (bytes.Compare(k, key) >= 0) != behind {
			return damage(r.path, fmt.Sprintf("key %x in space %s is out of order", k, bucketNames[space]))
		}
		return fn(k, v)
	}
	c := b.Cursor()
	k, v := c.Seek(key)
	if k == nil {
		k, v = c.Last()
		return look(k, v, false)
	}
	if err := look(k, v, true); err != nil {
		return err
	}
	k, v = c.Prev()
	return look(k, v, false)
}

// touch reads a byte of each page of b. A damaged element reaches beyond the file:
// that has to show here, where it is caught.
func touch(b []byte) {
	var sum byte
	for i := 0; i < len(b); i += minPage {
		sum ^= b[i]
	}
	if len(b) > 0 {
		sum ^= b[len(b)-1]
	}
	runtime.KeepAlive(sum)
}

// recover is deferred: it turns a panic of bbolt into an error.
func (r *reader) recover(err *error) { r.recover2(recover(), err) }

func (r *reader) recover2(found any, err *error) {
	if found != nil {
		*err = damage(r.path, found)
	}
}

// Close ends the transaction.
func (r *reader) Close() error { return closedError(r.tx.Rollback()) }

// closedError translates bbolt's errors of use after Close.
func closedError(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) || errors.Is(err, berrors.ErrTxClosed) {
		return store.ErrClosed
	}
	return err
}
