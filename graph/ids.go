package graph

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"

	"engram/graph/internal/commit"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
)

// ids hands out the numbers of nodes and edges. A number is handed out only
// when the stored high-water mark is durably above it, so that a number that
// was seen in a transaction with an unknown outcome is never seen again. Only
// the holder of the write slot hands out.
type ids struct {
	node, edge counter
}

// counter is one sequence of ids.
type counter struct {
	key  []byte                 // of the mark in the meta space
	mark func(m *marks) *uint64 // its mark
	next uint64                 // the id to hand out next
	safe atomic.Uint64          // ids up to it may be handed out: the durable mark
}

// maxID is the largest id: external ids hold 40 bits.
const maxID = 1<<40 - 2

func (i *ids) init(m marks) {
	i.node.key, i.edge.key = metaNodeMark, metaEdgeMark
	i.node.mark = func(m *marks) *uint64 { return &m.node }
	i.edge.mark = func(m *marks) *uint64 { return &m.edge }
	i.node.next, i.edge.next = m.node+1, m.edge+1
	i.published(m)
}

// published notes that marks are durable.
func (i *ids) published(m marks) {
	i.node.safe.Store(m.node)
	i.edge.safe.Store(m.edge)
}

// newID hands out an id. When the reserved ones are used up it makes the next
// block durable first, in a transaction of its own.
func (tx *Tx) newID(c *counter) (uint64, error) {
	if c.next >= maxID {
		return 0, fail(LimitExceeded, "all %d ids are used up", uint64(maxID))
	}
	if c.next > c.safe.Load() {
		if err := tx.reserve(); err != nil {
			return 0, tx.doom(err)
		}
	}
	id := c.next
	c.next++
	return id, nil
}

// reserve commits higher marks in front of the transaction, which keeps its place
// in the order: nobody else gets the slot in between, because the database's own
// lock is held. It happens at the first write after opening, and in the middle of
// a very large transaction, where blocks double.
func (tx *Tx) reserve() error {
	w, db := tx.w, tx.db
	w.block = max(db.opts.IDBlock, 2*w.block)
	var puts []store.Put
	for _, c := range []*counter{&db.ids.node, &db.ids.edge} {
		mark := c.mark(&w.marks)
		*mark = max(*mark, c.next+w.block)
		puts = append(puts, markPut(db.seal, c.key, *mark))
	}
	next := *tx.base
	next.marks, next.changed = w.marks, nil
	puts, err := db.logPuts(puts, w.slot.Seq()+1, nil)
	if err != nil {
		return err
	}
	ticket := w.slot.Finish(puts, &next, "")
	w.slot = nil // Rollback must not end it again
	if _, outcome, err := ticket.Wait(tx.ctx); outcome != store.Committed {
		<-db.writer
		if errors.Is(err, commit.ErrGoesOn) { // only the ids: nothing of the transaction
			return &Error{Code: Canceled, Message: "gave up waiting for ids to be reserved; nothing was written", Err: context.Cause(tx.ctx)}
		}
		return wrap(err)
	}
	slot, err := db.engine.AcquireSlot(tx.ctx)
	if err != nil {
		<-db.writer
		return wrap(err)
	}
	w.slot, tx.src, tx.base, tx.seq = slot, slot, slot.Version(), slot.Seq()
	return nil
}

func markPut(seal record.Sealer, k []byte, mark uint64) store.Put {
	return store.Put{Space: store.Meta, Key: k, Value: seal.Seal(store.Meta, k, binary.AppendUvarint(nil, mark))}
}

// extendMarks raises the marks that are nearly reached, in the same batch as the
// transaction, so that reserve is needed seldom.
func (tx *Tx) extendMarks(puts []store.Put) []store.Put {
	for _, c := range []*counter{&tx.db.ids.node, &tx.db.ids.edge} {
		mark := c.mark(&tx.w.marks)
		if c.next+tx.db.opts.IDBlock/2 > *mark {
			*mark = c.next + tx.db.opts.IDBlock
			puts = append(puts, markPut(tx.db.seal, c.key, *mark))
		}
	}
	return puts
}
