package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"engram/graph/internal/store"
)

// reader is one bbolt read transaction, which keeps its pages from being used
// again. The pages are read here, not by bbolt, so that each can be verified.
type reader struct {
	view
	tx    *bbolt.Tx
	seq   store.Seq
	trees [store.SpaceCount]tree
}

func newReader(p *pages, tx *bbolt.Tx) (*reader, error) {
	r := &reader{view: newView(p, tx), tx: tx}
	header, trees, err := r.buckets(tx)
	if err != nil {
		return nil, err
	}
	r.trees = trees
	seq, err := header.get(r.view, seqKey)
	if err == nil {
		r.seq, err = decodeSeq(seq, r.path)
	}
	return r, err
}

func (r *reader) Seq() store.Seq { return r.seq }

func (r *reader) tree(space store.Space) (*tree, error) {
	switch {
	case space >= store.SpaceCount:
		return nil, fmt.Errorf("%w: space %d does not exist", store.ErrInvalid, space)
	case r.tx.DB() == nil:
		return nil, store.ErrClosed
	}
	return &r.trees[space], nil
}

// Get copies the value of the key.
func (r *reader) Get(space store.Space, key []byte) (value []byte, err error) {
	t, err := r.tree(space)
	if err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.recover(&err)
	return r.get(t, key)
}

func (r *reader) get(t *tree, key []byte) ([]byte, error) {
	v, err := t.get(r.view, key)
	if v == nil || err != nil {
		return nil, err
	}
	touch(v)
	return append(make([]byte, 0, len(v)), v...), nil
}

// GetMany copies the values of the keys.
func (r *reader) GetMany(space store.Space, keys, out [][]byte) (_ [][]byte, err error) {
	t, err := r.tree(space)
	if err != nil {
		return out, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.recover(&err)
	for _, key := range keys {
		v, err := r.get(t, key)
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Scan walks a cursor. A panic of fn passes through.
func (r *reader) Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) (err error) {
	t, err := r.tree(space)
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
	c := newCursor(r.view, t)
	var last []byte
	for err = c.seek(from); err == nil; err = c.next() {
		key, value := c.element()
		if key == nil || to != nil && bytes.Compare(key, to) >= 0 {
			return nil
		}
		touch(key)
		touch(value)
		if last != nil && bytes.Compare(last, key) >= 0 {
			return damage(r.path, fmt.Sprintf("key %x in space %s is out of order", key, bucketNames[space]))
		}
		if err := t.plain(r.view, c.leaf().page, c.leaf().index); err != nil {
			return err
		}
		last = key
		outside = true
		more := fn(key, value)
		outside = false
		if !more {
			return nil
		}
	}
	return err
}

// ScanBack implements store.BackScanner. A panic of fn passes through.
func (r *reader) ScanBack(space store.Space, from, to []byte, fn func(key, value []byte) bool) (err error) {
	t, err := r.tree(space)
	if err != nil {
		return err
	}
	if to == nil {
		return fmt.Errorf("%w: scanning back needs a key to begin at", store.ErrInvalid)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	outside := false
	defer func() {
		if !outside {
			r.recover2(recover(), &err)
		}
	}()
	c := newCursor(r.view, t)
	if err := c.seek(to); err != nil {
		return err
	}
	last := to
	for {
		if there, err := c.previous(); err != nil || !there {
			return err
		}
		key, value := c.element()
		touch(key)
		touch(value)
		if bytes.Compare(last, key) <= 0 {
			return damage(r.path, fmt.Sprintf("key %x in space %s is out of order", key, bucketNames[space]))
		}
		if bytes.Compare(key, from) < 0 {
			return nil
		}
		if err := t.plain(r.view, c.leaf().page, c.leaf().index); err != nil {
			return err
		}
		last = key
		outside = true
		more := fn(key, value)
		outside = false
		if !more {
			return nil
		}
	}
}

// Around implements store.Prover. A panic of fn is taken for one of reading.
func (r *reader) Around(space store.Space, key []byte, fn func(key, value []byte) error) (err error) {
	t, err := r.tree(space)
	if err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer r.recover(&err)
	c := newCursor(r.view, t)
	if err := c.seek(key); err != nil {
		return err
	}
	look := func(behind bool) error {
		k, v := c.element()
		if k == nil {
			return nil
		}
		touch(k)
		touch(v)
		if (bytes.Compare(k, key) >= 0) != behind {
			return damage(r.path, fmt.Sprintf("key %x in space %s is out of order", k, bucketNames[space]))
		}
		return fn(k, v)
	}
	if err := look(true); err != nil {
		return err
	}
	before, err := c.previous()
	if err != nil || !before {
		return err
	}
	return look(false)
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

// recover is deferred: it turns a panic that a damaged page causes into an error.
func (r *reader) recover(err *error) { r.recover2(recover(), err) }

func (r *reader) recover2(found any, err *error) {
	if found != nil {
		*err = damage(r.path, found)
	}
}

// Close ends the transaction.
func (r *reader) Close() error { return closedError(r.tx.Rollback()) }

// closedError translates errors of use after Close.
func closedError(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, berrors.ErrDatabaseNotOpen) || errors.Is(err, berrors.ErrTxClosed) {
		return store.ErrClosed
	}
	return err
}
