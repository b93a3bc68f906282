package graph

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// mergeChunk is how many segments tidy merges before it looks around.
const mergeChunk = 16

// tidyWait is how long tidy waits after a commit for more of them.
const tidyWait = 10 * time.Millisecond

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
// the next write installs, sweeps the edges of deleted hubs, and fills and empties
// declared indexes. What fails is
// tried again when something is committed next.
func (db *DB) tidy(ctx context.Context) {
	defer close(db.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.wake:
		}
		// Of many commits in a row each would wake it up, for next to nothing.
		gather := time.NewTimer(tidyWait)
		select {
		case <-ctx.Done():
			gather.Stop()
			return
		case <-gather.C:
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
	v, unfinished := snap.Version().topo, snap.Version().schema.unfinished()
	snap.Close() // the version stays valid
	merged := db.compact.Work(v, mergeChunk)
	if merged == 0 && db.saveTopology(ctx, false) {
		return true
	}
	if merged == 0 && !db.readOnly {
		trimmed, err := db.trim(ctx)
		if err != nil && ctx.Err() == nil {
			db.tidyErr.set(err)
		}
		if trimmed {
			return true
		}
		forgot, err := db.forgetKeys(ctx)
		if err != nil && ctx.Err() == nil {
			db.tidyErr.set(err)
		}
		if forgot {
			return true
		}
	}
	if unfinished != nil && !db.readOnly {
		worked, err := db.workSchema(ctx)
		if err != nil && ctx.Err() == nil {
			db.tidyErr.set(err)
		}
		return worked || merged > 0
	}
	if db.readOnly || len(v.Doomed(1, nil)) == 0 {
		return merged > 0
	}
	swept, err := db.sweep(ctx)
	if err != nil && ctx.Err() == nil {
		db.tidyErr.set(err)
	}
	return merged > 0 || swept > 0 && err == nil
}

// sweepWork is what is left of the hub that is being swept: the blocks with its
// edges, in ascending order. In that order each page of the store is written
// once; in the order of the topology, by neighbour, many times.
type sweepWork struct {
	hub    value.NodeID
	blocks []uint64
}

// next returns the blocks to sweep next, at most limit.
func (w *sweepWork) next(v *topo.Version, limit int) []uint64 {
	if len(w.blocks) == 0 {
		hubs := v.Doomed(1, nil)
		if len(hubs) == 0 {
			return nil
		}
		w.hub = hubs[0]
		for _, id := range v.DoomedEdges(w.hub, math.MaxInt, nil) {
			w.blocks = append(w.blocks, record.BlockOf(id))
		}
		slices.Sort(w.blocks)
		w.blocks = slices.Compact(w.blocks)
	}
	return w.blocks[:min(limit, len(w.blocks))]
}

// sweep removes a chunk of the edge records that deleted hubs left behind, in a
// transaction of its own, and returns how many edges it removed.
func (db *DB) sweep(ctx context.Context) (int, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	blocks := db.sweeping.next(tx.topo, db.opts.SweepBlocks)
	ends := map[value.NodeID]bool{}
	for _, block := range blocks {
		if err := tx.sweepBlock(block, ends); err != nil {
			return 0, err
		}
	}
	for end := range ends { // each ends in the write-set, which is sorted
		if !tx.topo.NodeExists(end) && len(tx.topo.DoomedEdges(end, 1, nil)) == 0 {
			tx.w.graves[end] = false
		}
	}
	if _, err := tx.Commit(ctx); err != nil {
		return 0, err
	}
	db.sweeping.blocks = db.sweeping.blocks[len(blocks):]
	return len(blocks), nil
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
		e := &edgeEdit{rec: rec, deleted: true, swept: true}
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
