package commit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"engram/graph/internal/store"
)

// Snapshot reads one durable seq and carries the version of the same seq. It is
// safe for concurrent use until Close.
type Snapshot[V any] struct {
	engine  *Engine[V]
	base    *durable[V] // nil for a long snapshot
	long    *long       // nil for a statement's snapshot
	seq     store.Seq
	version V
	closed  bool // guarded by engine.mu
}

// long is the registration of a long snapshot; all is guarded by Engine.mu.
type long struct {
	seq    store.Seq
	opened time.Time
	err    error // why it was given up
}

func (l *long) aged(limit time.Duration) error {
	return fmt.Errorf("%w: the snapshot of seq %d is older than %v; read in shorter transactions", ErrSnapshotTooOld, l.seq, limit)
}

// Snapshot opens a snapshot for one statement. It holds a store reader, which keeps
// overwritten pages from being used again: close it soon, and never hold it across
// a model call, a socket write or user code. It works on a poisoned engine, too.
func (e *Engine[V]) Snapshot() (*Snapshot[V], error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return nil, ErrClosed
	}
	d := e.pinLocked()
	e.open++
	e.stats.Snapshots++
	return &Snapshot[V]{engine: e, base: d, seq: d.seq, version: d.version}, nil
}

// LongSnapshot opens a snapshot for an explicit transaction. It holds no store
// reader: the committer keeps the values that are overwritten while it is open.
// When that takes more than MaxUndoBytes, or the snapshot gets older than
// MaxLongAge, it is given up: reads return ErrSnapshotTooOld.
func (e *Engine[V]) LongSnapshot() (*Snapshot[V], error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return nil, ErrClosed
	}
	l := &long{seq: e.durable.seq, opened: e.opts.Now()}
	e.longs = append(e.longs, l) // ascending by seq and by time
	e.open++
	e.stats.Snapshots++
	return &Snapshot[V]{engine: e, long: l, seq: l.seq, version: e.durable.version}, nil
}

// Seq is the seq that the snapshot shows.
func (s *Snapshot[V]) Seq() store.Seq { return s.seq }

// Version is the version of that seq.
func (s *Snapshot[V]) Version() V { return s.version }

// Get reads one key, nil if absent. The bytes are the caller's.
func (s *Snapshot[V]) Get(space store.Space, key []byte) ([]byte, error) {
	if s.long == nil {
		return s.base.reader.Get(space, key)
	}
	var old []byte
	var changed bool
	d, err := s.pin(func(u *undo) { old, changed = u.get(space, key, s.seq) })
	if err != nil {
		return nil, err
	}
	defer s.engine.unpin(d)
	if changed {
		return clone(old), nil
	}
	return d.reader.Get(space, key)
}

// GetMany appends the value of each key to out, nil for an absent one.
func (s *Snapshot[V]) GetMany(space store.Space, keys, out [][]byte) ([][]byte, error) {
	if s.long == nil {
		return s.base.reader.GetMany(space, keys, out)
	}
	old := make(map[int][]byte)
	d, err := s.pin(func(u *undo) {
		for i, key := range keys {
			if v, ok := u.get(space, key, s.seq); ok {
				old[i] = v
			}
		}
	})
	if err != nil {
		return out, err
	}
	defer s.engine.unpin(d)
	first := len(out)
	if out, err = d.reader.GetMany(space, keys, out); err != nil {
		return out, err
	}
	for i, v := range old {
		out[first+i] = clone(v)
	}
	return out, nil
}

// Scan calls fn for the keys in [from, to) in ascending order until it returns
// false; nil bounds are open. The bytes are valid during the call only.
func (s *Snapshot[V]) Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) error {
	if s.long == nil {
		return s.base.reader.Scan(space, from, to, fn)
	}
	var changes []change
	d, err := s.pin(func(u *undo) { changes = u.changes(space, from, to, s.seq) })
	if err != nil {
		return err
	}
	defer s.engine.unpin(d)
	return scanOver(d.reader, space, from, to, changes, fn)
}

// ScanBack is Scan in descending order, up from to, which must not be nil. ok is
// false for a long snapshot, which cannot.
func (s *Snapshot[V]) ScanBack(space store.Space, from, to []byte, fn func(key, value []byte) bool) (ok bool, err error) {
	if s.long != nil {
		return false, nil
	}
	r, ok := s.base.reader.(store.BackScanner)
	if !ok {
		return false, nil
	}
	return true, r.ScanBack(space, from, to, fn)
}

// pin takes the newest durable reader and, in the same instant, what changed since
// the long snapshot's seq.
func (s *Snapshot[V]) pin(read func(*undo)) (*durable[V], error) {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case s.closed:
		return nil, fmt.Errorf("reading a closed snapshot of seq %d: %w", s.seq, store.ErrInvalid)
	case s.long.err != nil:
		return nil, s.long.err
	case e.opts.Now().Sub(s.long.opened) > e.opts.MaxLongAge:
		return nil, s.long.aged(e.opts.MaxLongAge)
	}
	read(&e.undo)
	return e.pinLocked(), nil
}

// CopyTo writes a statement's snapshot as a file of the store's driver. It fails
// with errors.ErrUnsupported for a driver that has none, and for a long snapshot.
func (s *Snapshot[V]) CopyTo(w io.Writer) (int64, error) {
	if s.long != nil {
		return 0, fmt.Errorf("copying a long snapshot: %w", errors.ErrUnsupported)
	}
	c, ok := s.base.reader.(store.Copier)
	if !ok {
		return 0, fmt.Errorf("copying a store that is no file: %w", errors.ErrUnsupported)
	}
	return c.CopyTo(w)
}

// Close gives the snapshot back. It may be called again.
func (s *Snapshot[V]) Close() {
	e := s.engine
	e.mu.Lock()
	if s.closed {
		e.mu.Unlock()
		return
	}
	s.closed = true
	e.stats.Snapshots--
	if s.long != nil {
		if i := slices.Index(e.longs, s.long); i >= 0 {
			e.longs = slices.Delete(e.longs, i, i+1)
			e.trimUndoLocked()
		}
	}
	if s.base == nil || s.base.refs > 1 { // nothing to close: no need to let go of the lock
		if s.base != nil {
			s.base.refs--
		}
		e.leaveLocked()
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	e.unpin(s.base)
	e.mu.Lock()
	e.leaveLocked()
	e.mu.Unlock()
}
