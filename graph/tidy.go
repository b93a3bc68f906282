package graph

import (
	"context"
	"sync"

	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// mergeChunk is how many segments tidy merges before it looks around.
const mergeChunk = 16

// lastError keeps the newest error of background work.
type lastError struct {
	mu  sync.Mutex
	err error
}

func (l *lastError) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lastError) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// tidy is the background goroutine: it merges segments of the topology, which
// the next write installs, and sweeps the edges of deleted hubs. What fails is
// tried again when something is committed next.
func (db *DB) tidy(ctx context.Context) {
	defer close(db.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.wake:
		}
		for ctx.Err() == nil && db.tidyOnce(ctx) {
		}
	}
}

// tidyOnce does one piece of work and reports whether there was any.
func (db *DB) tidyOnce(ctx context.Context) (more bool) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return false
	}
	v := snap.Version().topo
	snap.Close() // the version stays valid
	merged := db.compact.Work(v, mergeChunk)
	if db.readOnly || len(v.Doomed(1, nil)) == 0 {
		return merged > 0
	}
	swept, err := db.sweep(ctx)
	if err != nil && ctx.Err() == nil {
		db.tidyErr.set(err)
	}
	return merged > 0 || swept > 0 && err == nil
}

// sweep removes a chunk of the edge records that deleted hubs left behind, in a
// transaction of its own, and returns how many edges it removed.
func (db *DB) sweep(ctx context.Context) (int, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	hubs := tx.topo.Doomed(1, nil)
	if len(hubs) == 0 {
		return 0, nil
	}
	edges := tx.topo.DoomedEdges(hubs[0], db.opts.SweepBlocks*record.BlockSize, nil)
	done, ends := map[uint64]bool{}, map[value.NodeID]bool{}
	for _, id := range edges {
		block := record.BlockOf(id)
		if done[block] {
			continue
		}
		if len(done) == db.opts.SweepBlocks {
			break
		}
		done[block] = true
		if err := tx.sweepBlock(block, ends); err != nil {
			return 0, err
		}
	}
	for end := range ends { // each ends in the write-set, which is sorted
		if !tx.topo.NodeExists(end) && len(tx.topo.DoomedEdges(end, 1, nil)) == 0 {
			tx.w.graves[end] = false
		}
	}
	swept := len(tx.w.swept)
	if _, err := tx.Commit(ctx); err != nil {
		return 0, err
	}
	return swept, nil
}

// sweepBlock removes every edge of a block that has a deleted end, so that no
// block is written more than once for a hub. It adds the ends to ends.
func (tx *Tx) sweepBlock(block uint64, ends map[value.NodeID]bool) error {
	payload, err := tx.blockPayload(block)
	if payload == nil || err != nil {
		return err
	}
	edges, err := record.DecodeBlock(block, payload)
	if err != nil {
		return tx.damaged(store.Edges, blockKey(block), err)
	}
	for _, rec := range edges {
		if tx.topo.NodeExists(rec.Src) && tx.topo.NodeExists(rec.Dst) {
			continue
		}
		e := &edgeEdit{rec: rec, deleted: true}
		tx.w.edges[rec.ID] = e
		tx.w.blocks[block] = struct{}{}
		if err := tx.dropEdgeExtras(rec.ID, e); err != nil {
			return err
		}
		if !tx.w.ed.DeleteEdge(rec.ID) {
			return fail(Internal, "edge %d of a deleted node is not in the topology", rec.ID)
		}
		tx.w.swept = append(tx.w.swept, rec.ID)
		ends[rec.Src], ends[rec.Dst] = true, true
	}
	return nil
}
