package graph

import (
	"context"
	"encoding/binary"

	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/store"
)

const (
	// trimEntries is how many entries of the log are gathered before they are
	// trimmed: each transaction that trims adds one.
	trimEntries = 4096
	// trimKeys is how many keys one transaction removes.
	trimKeys = 8192
	// logCap is how many entries are kept for a text index or vectors that do not get
	// on. What is beyond is trimmed, and they are filled anew at the next opening.
	logCap = 1 << 20
)

// trimTo returns the entry before which the log is of no use to anybody: the
// topology's file needs its own entry and those behind it, the text index and the
// vectors those behind what they have on disk.
func (db *DB) trimTo() store.Seq {
	to := db.topoFile.at()
	if applied := store.Seq(min(db.text.AppliedSeq(), db.vectors.applied())) + 1; applied < to {
		to = applied
		if head := db.latest.Load().seq; head > db.opts.logCap {
			to = min(max(to, head-db.opts.logCap), db.topoFile.at())
		}
	}
	return to
}

// trim removes a chunk of the log's beginning and reports whether it did.
func (db *DB) trim(ctx context.Context) (bool, error) {
	to := db.trimTo()
	if to < db.trimmed+db.opts.trimEntries {
		return false, nil
	}
	if begins, err := db.logBegins(); err != nil || to < begins+db.opts.trimEntries {
		db.trimmed = begins
		return false, err
	}
	select {
	case db.writer <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-db.writer }()
	slot, err := db.engine.AcquireSlot(ctx)
	if err != nil {
		return false, err
	}
	defer slot.Abort()
	puts, first, err := db.trimPuts(slot, to)
	if err != nil {
		return false, err
	}
	db.trimmed = first
	if len(puts) == 0 {
		return false, nil
	}
	next := *slot.Version()
	next.changed = nil
	entry := &logentry.Entry{}
	if !next.partial {
		entry.Counts = countsOf(next.topo)
	}
	if puts, err = db.logPuts(puts, slot.Seq()+1, entry); err != nil {
		return false, err
	}
	if _, outcome, err := slot.Finish(puts, &next, "").Wait(ctx); outcome != store.Committed {
		return false, err
	}
	return true, nil
}

// logBegins returns the first entry of the log, 0 when it is empty.
func (db *DB) logBegins() (first store.Seq, err error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	err = snap.Scan(store.Log, nil, nil, func(k, _ []byte) bool {
		first = store.Seq(binary.BigEndian.Uint64(k))
		return false
	})
	return first, err
}

// trimPuts makes the removal of entries before to, at most trimKeys keys, and
// tells which entry is the first one left. An entry goes whole or not at all. One
// that is damaged stays, as evidence.
func (db *DB) trimPuts(src source, to store.Seq) (puts []store.Put, first store.Seq, err error) {
	first = to
	var bad error
	err = src.Scan(store.Log, nil, key.Uint(nil, uint64(to)), func(k, sealed []byte) bool {
		if _, bad = db.seal.Open(store.Log, k, sealed); bad != nil {
			return false
		}
		if len(k) == 8 && len(puts) >= trimKeys {
			first = store.Seq(binary.BigEndian.Uint64(k))
			return false
		}
		puts = append(puts, store.Put{Space: store.Log, Key: append([]byte(nil), k...)})
		return true
	})
	if bad != nil {
		err = bad
	}
	return puts, first, err
}
