package graph

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"engram/graph/internal/logentry"
	"engram/graph/internal/store"
)

// Idempotency keys are remembered for the newest idemKeep transactions that had
// one, at least. Older keys are forgotten by tidy, once there are a tenth more, in
// transactions of at most idemChunk keys.
const (
	idemKeep  = 100_000
	idemChunk = 2_000
)

// idemKeys is what tidy knows about the idempotency keys.
type idemKeys struct {
	added   atomic.Int64 // by committed transactions since opening
	counted bool         // of tidy alone, like all below
	stored  int64        // when they were counted, less those forgotten since
	old     [][]byte     // keys to be forgotten
}

// forgetKeys forgets a chunk of old idempotency keys and reports whether it did.
func (db *DB) forgetKeys(ctx context.Context) (bool, error) {
	k, keep := &db.idemKeys, db.opts.IdempotencyKeys
	if k.counted && len(k.old) == 0 && k.stored+k.added.Load() <= keep+keep/10 {
		return false, nil
	}
	if len(k.old) == 0 {
		if err := db.findOldKeys(ctx); err != nil || len(k.old) == 0 {
			return false, err
		}
	}
	n := min(idemChunk, len(k.old))
	puts := make([]store.Put, n)
	for i, key := range k.old[:n] {
		puts[i] = store.Put{Space: store.Idempotency, Key: key}
	}
	if err := db.housekeep(ctx, puts); err != nil {
		return false, err
	}
	k.old = k.old[n:]
	k.stored -= int64(n)
	return true, nil
}

// findOldKeys counts the keys and lists those of the oldest transactions beyond
// the ones to be kept.
func (db *DB) findOldKeys(ctx context.Context) error {
	k := &db.idemKeys
	snap, err := db.engine.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	added := k.added.Load() // those that commit during the scan are counted twice
	var seqs []uint64
	if err := db.eachKey(ctx, snap, func(_ []byte, seq uint64) { seqs = append(seqs, seq) }); err != nil {
		return err
	}
	k.added.Add(-added)
	k.counted, k.stored, k.old = true, int64(len(seqs)), nil
	keep := db.opts.IdempotencyKeys
	if k.stored <= keep+keep/10 {
		return nil
	}
	slices.Sort(seqs)
	oldest := seqs[k.stored-keep]
	return db.eachKey(ctx, snap, func(key []byte, seq uint64) {
		if seq < oldest {
			k.old = append(k.old, slices.Clone(key))
		}
	})
}

// eachKey walks the idempotency keys with the seqs of their transactions.
func (db *DB) eachKey(ctx context.Context, src source, fn func(key []byte, seq uint64)) error {
	var bad error
	n := 0
	err := src.Scan(store.Idempotency, nil, nil, func(key, sealed []byte) bool {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			bad = ctx.Err()
			return false
		}
		payload, err := db.seal.Open(store.Idempotency, key, sealed)
		if err == nil && len(payload) != 8 {
			err = db.seal.Damaged(store.Idempotency, key, "it is not a seq")
		}
		if err != nil {
			bad = err
			return false
		}
		fn(key, binary.BigEndian.Uint64(payload))
		return true
	})
	if bad != nil {
		return bad
	}
	return err
}

// housekeep commits changes that no reader of the graph can see.
func (db *DB) housekeep(ctx context.Context, puts []store.Put) error {
	select {
	case db.writer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-db.writer }()
	slot, err := db.engine.AcquireSlot(ctx)
	if err != nil {
		return err
	}
	defer slot.Abort()
	next := *slot.Version()
	next.changed = nil
	entry := &logentry.Entry{}
	if !next.partial {
		entry.Counts = countsOf(next.topo)
	}
	if puts, err = db.logPuts(puts, slot.Seq()+1, entry); err != nil {
		return err
	}
	if _, outcome, err := slot.Finish(puts, &next, "").Wait(ctx); outcome != store.Committed {
		return err
	}
	return nil
}
