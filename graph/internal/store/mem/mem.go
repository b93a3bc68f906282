// Package mem is the store driver that keeps everything in memory: it proves the
// seam, makes tests fast and serves databases that are not meant to last. Each
// space is a copy-on-write B-tree, so a snapshot costs nothing and never changes.
package mem

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/tidwall/btree"

	"engram/graph/internal/store"
)

type tree = btree.Map[string, []byte]

// state is one immutable version of everything.
type state struct {
	seq    store.Seq
	spaces [store.SpaceCount]*tree
}

// Driver implements store.Driver in memory.
type Driver struct {
	mu      sync.Mutex
	work    [store.SpaceCount]*tree // written by Apply only; readers get copies of it
	now     *state
	applies uint64
	closed  bool
}

// New makes an empty store at seq 0 that holds the initial puts.
func New(initial ...store.Put) (*Driver, error) {
	if err := store.CheckBatches(0, []store.Batch{{Seq: 1, Puts: initial}}); err != nil {
		return nil, err
	}
	d := &Driver{now: &state{}}
	for i := range d.work {
		d.work[i] = new(tree)
		d.now.spaces[i] = new(tree)
	}
	d.now = d.next(0, []store.Batch{{Puts: initial}})
	return d, nil
}

// next writes the batches and freezes the result. Trees that were not touched are
// shared with the version before.
func (d *Driver) next(seq store.Seq, batches []store.Batch) *state {
	next := &state{seq: seq, spaces: d.now.spaces}
	var touched [store.SpaceCount]bool
	for _, b := range batches {
		for _, p := range b.Puts {
			touched[p.Space] = true
			if p.Value == nil {
				d.work[p.Space].Delete(string(p.Key))
				continue
			}
			d.work[p.Space].Set(string(p.Key), clone(p.Value))
		}
	}
	for i, t := range touched {
		if t {
			next.spaces[i] = d.work[i].Copy()
		}
	}
	return next
}

// Snapshot returns a reader of the current version.
func (d *Driver) Snapshot() (store.Reader, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, store.ErrClosed
	}
	return &reader{state: d.now}, nil
}

// Apply writes the batches; its outcome is Committed or Conflict, or Failed when
// the batches break the contract.
func (d *Driver) Apply(expect store.Seq, batches []store.Batch) (store.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return store.Failed, store.ErrClosed
	}
	if d.now.seq != expect {
		return store.Conflict, fmt.Errorf("the store is at seq %d, not %d", d.now.seq, expect)
	}
	if err := store.CheckBatches(expect, batches); err != nil {
		return store.Failed, err
	}
	d.now = d.next(expect+store.Seq(len(batches)), batches)
	d.applies++
	return store.Committed, nil
}

// Stats counts Applies.
func (d *Driver) Stats() store.Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return store.Stats{Applies: d.applies}
}

// Check finds nothing: there are no pages.
func (d *Driver) Check(func(problem string)) error { return nil }

// Close refuses further use; open readers stay readable.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}

type reader struct{ state *state }

func (r *reader) Seq() store.Seq { return r.state.seq }

func (r *reader) Get(space store.Space, key []byte) ([]byte, error) {
	if space >= store.SpaceCount {
		return nil, fmt.Errorf("%w: space %d does not exist", store.ErrInvalid, space)
	}
	v, ok := r.state.spaces[space].Get(string(key))
	if !ok {
		return nil, nil
	}
	return clone(v), nil
}

func (r *reader) GetMany(space store.Space, keys, out [][]byte) ([][]byte, error) {
	for _, k := range keys {
		v, err := r.Get(space, k)
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (r *reader) Scan(space store.Space, from, to []byte, fn func(key, value []byte) bool) error {
	if space >= store.SpaceCount {
		return fmt.Errorf("%w: space %d does not exist", store.ErrInvalid, space)
	}
	var key []byte
	r.state.spaces[space].Ascend(string(from), func(k string, v []byte) bool {
		key = append(key[:0], k...)
		if to != nil && bytes.Compare(key, to) >= 0 {
			return false
		}
		return fn(key, v)
	})
	return nil
}

// ScanBack implements store.BackScanner.
func (r *reader) ScanBack(space store.Space, from, to []byte, fn func(key, value []byte) bool) error {
	if space >= store.SpaceCount || to == nil {
		return fmt.Errorf("%w: space %d does not exist, or there is no end to begin at", store.ErrInvalid, space)
	}
	var key []byte
	r.state.spaces[space].Descend(string(to), func(k string, v []byte) bool {
		key = append(key[:0], k...)
		if bytes.Equal(key, to) {
			return true
		}
		return bytes.Compare(key, from) >= 0 && fn(key, v)
	})
	return nil
}

func (r *reader) Close() error { return nil }

// clone copies b; an empty value stays distinct from an absent one.
func clone(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }
