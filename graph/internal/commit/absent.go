package commit

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"engram/graph/internal/store"
)

// lookedUp tells the spaces in which keys are looked up that may well be absent,
// and that no record refers to: a key damaged on disk would just not be found.
func lookedUp(space store.Space) bool { return space == store.Index || space == store.Idempotency }

// absent proves that a key which was not found is not there: both neighbours are
// in order and sealed with the keys they have.
func (e *Engine[V]) absent(r store.Reader, space store.Space, key []byte) error {
	return e.around(r, space, key, func(k []byte) error {
		if bytes.Equal(k, key) {
			return fmt.Errorf("%w: the key %x in space %d is there, but looking it up does not find it; restore from a backup", store.ErrDamaged, key, space)
		}
		return nil
	})
}

// around verifies the neighbours of a key, which may be there itself.
func (e *Engine[V]) around(r store.Reader, space store.Space, key []byte, more func(k []byte) error) error {
	p, ok := r.(store.Prover)
	if !ok || e.opts.Envelope == nil || !lookedUp(space) || len(key) == 0 {
		return nil
	}
	return p.Around(space, key, func(k, v []byte) error {
		if _, err := e.opts.Envelope.Open(space, k, v); err != nil {
			return err
		}
		return more(k)
	})
}

// get reads a key and proves it when it is absent.
func (e *Engine[V]) get(r store.Reader, space store.Space, key []byte) ([]byte, error) {
	v, err := r.Get(space, key)
	if v == nil && err == nil {
		err = e.absent(r, space, key)
	}
	return v, err
}

// getMany reads keys and proves the absent ones.
func (e *Engine[V]) getMany(r store.Reader, space store.Space, keys, out [][]byte) ([][]byte, error) {
	first := len(out)
	out, err := r.GetMany(space, keys, out)
	if err != nil || !lookedUp(space) {
		return out, err
	}
	for i, key := range keys {
		if out[first+i] == nil {
			if err := e.absent(r, space, key); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// bounds proves that nothing is missing at the ends of a range. What is inside
// is verified by whoever scans it.
func (e *Engine[V]) bounds(r store.Reader, space store.Space, from, to []byte) error {
	fine := func([]byte) error { return nil }
	if err := e.around(r, space, from, fine); err != nil {
		return err
	}
	return e.around(r, space, to, fine)
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
