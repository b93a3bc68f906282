package commit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"engram/graph/internal/store"
)

// Prove makes a reader that does not take a key for absent because it was not
// found: where it would stand, both neighbours must be in order and sealed with the
// keys they have, since a key that was damaged on disk is not found either. Nor does
// a scan just end beside such a key. What is inside of a scan is verified by whoever
// gets it. Only a store that could be damaged is looked at twice.
func Prove(r store.Reader, e Envelope) store.Reader {
	p, ok := r.(store.Prover)
	if !ok || e == nil {
		return r
	}
	return &proven{r, p, e}
}

type proven struct {
	store.Reader
	prover   store.Prover
	envelope Envelope
}

// around verifies the neighbours of a key, which may be there itself.
func (r *proven) around(space store.Space, key []byte, more func(k []byte) error) error {
	return r.prover.Around(space, key, func(k, v []byte) error {
		if _, err := r.envelope.Open(space, k, v); err != nil {
			return err
		}
		return more(k)
	})
}

func (r *proven) absent(space store.Space, key []byte) error {
	return r.around(space, key, func(k []byte) error {
		if bytes.Equal(k, key) {
			return fmt.Errorf("%w: the key %x in space %d is there, but looking it up does not find it; restore from a backup", store.ErrDamaged, key, space)
		}
		return nil
	})
}

// Get reads a key.
func (r *proven) Get(space store.Space, key []byte) ([]byte, error) {
	v, err := r.Reader.Get(space, key)
	if v == nil && err == nil {
		err = r.absent(space, key)
	}
	return v, err
}

// GetMany reads keys.
func (r *proven) GetMany(space store.Space, keys, out [][]byte) ([][]byte, error) {
	first := len(out)
	out, err := r.Reader.GetMany(space, keys, out)
	for i, key := range keys {
		if err == nil && out[first+i] == nil {
			err = r.absent(space, key)
		}
	}
	return out, err
}

// Scan reads a range.
func (r *proven) Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) error {
	if err := r.bounds(space, from, to); err != nil {
		return err
	}
	return r.Reader.Scan(space, from, to, fn)
}

// bounds verifies what is beside the ends of a range.
func (r *proven) bounds(space store.Space, from, to []byte) error {
	for _, bound := range [][]byte{from, to} {
		if len(bound) == 0 {
			continue
		}
		if err := r.around(space, bound, func([]byte) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// ScanBack implements store.BackScanner if the reader does.
func (r *proven) ScanBack(space store.Space, from, to []byte, fn func(key, value []byte) bool) error {
	b, ok := r.Reader.(store.BackScanner)
	if !ok {
		return fmt.Errorf("scanning back: %w", errors.ErrUnsupported)
	}
	if err := r.bounds(space, from, to); err != nil {
		return err
	}
	return b.ScanBack(space, from, to, fn)
}

// CopyTo implements store.Copier if the reader does.
func (r *proven) CopyTo(w io.Writer) (int64, error) {
	c, ok := r.Reader.(store.Copier)
	if !ok {
		return 0, fmt.Errorf("copying a store that is no file: %w", errors.ErrUnsupported)
	}
	return c.CopyTo(w)
}

// sealSeq makes the record of an idempotency key.
func (e *Engine[V]) sealSeq(key string, seq store.Seq) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(seq))
	if e.opts.Envelope == nil {
		return b
	}
	return e.opts.Envelope.Seal(store.Idempotency, []byte(key), b)
}

// openSeq reads it.
func (e *Engine[V]) openSeq(key string, value []byte) (store.Seq, error) {
	if e.opts.Envelope != nil {
		var err error
		if value, err = e.opts.Envelope.Open(store.Idempotency, []byte(key), value); err != nil {
			return 0, err
		}
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("%w: an idempotency record of %d bytes instead of 8", store.ErrDamaged, len(value))
	}
	return store.Seq(binary.BigEndian.Uint64(value)), nil
}

// Committed looks an idempotency key up as of the snapshot: found with the seq
// that its transaction got.
func (s *Snapshot[V]) Committed(key string) (seq store.Seq, found bool, err error) {
	value, err := s.Get(store.Idempotency, []byte(key))
	if err != nil || value == nil {
		return 0, false, err
	}
	seq, err = s.engine.openSeq(key, value)
	return seq, err == nil, err
}
