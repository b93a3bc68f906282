package graph

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"engram/graph/internal/snapfile"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
)

// When a topology file is due.
const (
	// snapshotShare: after that part of the file's size was logged since, and at
	// least Options.SnapshotBytes.
	snapshotShare = 8
	// snapshotGrowth: after the elements changed in number by that part, and at
	// least by snapshotElements: a bulk load logs hardly anything.
	snapshotGrowth   = 4
	snapshotElements = 100_000
	// closingShare: at Close, when more than that part of the file's size was
	// logged, or elements changed by it. Replaying less is done in no time.
	closingShare = 512
)

// durableState is the newest state that is durable, with its seq.
type durableState struct {
	seq store.Seq
	*state
}

// topoFile is the file with a copy of the topology, from which opening takes it.
type topoFile struct {
	path string // "": there is none, in memory or open for reading

	mu       sync.Mutex
	from     store.Seq // of the file that opening used; 0: none
	seq      store.Seq // of the file; 0: there is none
	size     int64
	logged   uint64 // DB.logged when it was written or last tried
	elements int64  // likewise
	written  int64  // files written since opening
	err      error  // of the last attempt
}

// opened notes which file the topology came from, if any.
func (t *topoFile) opened(l *loaded) {
	if l.from.seq != 0 {
		t.from, t.seq, t.size, t.elements = l.from.seq, l.from.seq, l.from.size, l.from.elements
	}
}

func (t *topoFile) stats() TopologyStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return TopologyStats{OpenedAt: uint64(t.from), FileSeq: uint64(t.seq), FileBytes: t.size, Written: t.written, Err: t.err}
}

func elements(v *topo.Version) int64 { return v.NodeCount(0) + v.EdgeCount(0) }

// due reports whether the file should be written anew, while running or, with
// less behind it, when closing.
func (t *topoFile) due(d *durableState, logged uint64, least int64, closing bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path == "" || d.partial || d.seq == t.seq {
		return false
	}
	since, grown := int64(logged-t.logged), elements(d.topo)-t.elements
	if grown < 0 {
		grown = -grown
	}
	if closing {
		return t.seq == 0 || since > t.size/closingShare || grown > t.elements/closingShare
	}
	return since >= max(least, t.size/snapshotShare) || grown >= max(snapshotElements, t.elements/snapshotGrowth)
}

// save writes the state's topology. It reads nothing but the immutable version,
// so that commits go on.
func (t *topoFile) save(ctx context.Context, tag uint64, d *durableState, logged uint64) error {
	header := snapfile.Header{Content: topo.SnapshotContent, Tag: tag, Seq: uint64(d.seq)}
	size, err := snapfile.Write(t.path, header, func(emit snapfile.Emit) error {
		return d.topo.Encode(func(kind byte, payload []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return emit(kind, payload)
		})
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() == nil {
		// After a failure, too: it is tried again when there is more to gain.
		t.logged, t.elements, t.err = logged, elements(d.topo), err
	}
	if err == nil {
		t.seq, t.size = d.seq, size
		t.written++
	}
	return err
}

// at returns the seq of the file on disk, 0 without one.
func (t *topoFile) at() store.Seq {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// saveTopology writes the topology's file when it is due and reports whether it
// did.
func (db *DB) saveTopology(ctx context.Context, closing bool) bool {
	d, logged := db.latest.Load(), db.logged.Load()
	if db.readOnly || !db.topoFile.due(d, logged, db.opts.SnapshotBytes, closing) {
		return false
	}
	if err := db.topoFile.save(ctx, db.seal.Tag, d, logged); err != nil {
		if ctx.Err() == nil {
			db.tidyErr.set(fmt.Errorf("the topology's file: %w", err))
		}
		return false
	}
	return true
}

// from is where an opened topology came from.
type from struct {
	seq      store.Seq // of the file; 0: from the records
	size     int64
	elements int64
}

// snapshot reads the topology's file and brings it up to the store's seq by the
// log. It returns nil when that is not possible, and notes why; a file that is no
// good is moved aside.
func (l *loaded) snapshot(place place) *topo.Version {
	if place.topoFile == "" {
		return nil
	}
	if !place.readOnly {
		snapfile.RemoveLeftover(place.topoFile)
	}
	v, err := l.readSnapshot(place.topoFile)
	switch {
	case err == nil:
		return v
	case errors.Is(err, store.ErrMissing), errors.Is(err, errOutdated), errors.Is(err, topo.ErrColumns), l.ctx.Err() != nil:
		return nil // nothing is wrong with it
	}
	note := fmt.Sprintf("the topology was built from the records: %v", err)
	if !place.readOnly && aside(err) {
		if err := snapfile.SetAside(place.topoFile); err == nil {
			note += "; its file was moved to " + place.topoFile + snapfile.DamagedSuffix
		}
	}
	l.notes = append(l.notes, note)
	return nil
}

// aside reports whether an error is about what is in the file.
func aside(err error) bool {
	for _, is := range []error{store.ErrDamaged, store.ErrForeign, store.ErrNewer, topo.ErrSnapshot} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// errOutdated says that the log does not lead from the file to the store's seq.
var errOutdated = errors.New("the log does not reach back to the topology's file")

func (l *loaded) readSnapshot(path string) (v *topo.Version, err error) {
	f, err := snapfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	wrong := func(err error, detail string) error { return &store.FileError{Err: err, Path: path, Detail: detail} }
	head := l.r.Seq()
	switch {
	case f.Tag != l.seal.Tag:
		return nil, wrong(store.ErrForeign, "it belongs to another database")
	case f.Content > topo.SnapshotContent:
		return nil, wrong(store.ErrNewer, fmt.Sprintf("its content is of version %d, this program knows up to %d", f.Content, topo.SnapshotContent))
	case store.Seq(f.Seq) > head:
		return nil, wrong(store.ErrForeign, fmt.Sprintf("it stands at transaction %d, ahead of the database at %d", f.Seq, head))
	}
	if v, err = topo.Decode(topo.Config{Columns: l.opts.HotColumns}, f, f.Seq); err != nil {
		return nil, err
	}
	l.from = from{seq: store.Seq(f.Seq), size: f.Size(), elements: elements(v)}
	if v, err = l.replay(v, store.Seq(f.Seq), head); err != nil {
		l.from = from{}
		return nil, err
	}
	return v, nil
}
