package graph

import (
	"context"

	"engram/graph/internal/commit"
	"engram/graph/internal/logentry"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
)

// finish hands a batch over, waits for it and starts the next one empty.
func (l *Loader) finish(slot *commit.Slot[*state], puts []store.Put, next *state, rec *loadRecord) error {
	seq, outcome, err := slot.Finish(puts, next, "").Wait(l.ctx)
	if outcome != store.Committed {
		return wrap(err)
	}
	l.base, l.rec = next, rec
	l.report.Batches++
	l.report.Seq = uint64(seq)
	clear(l.index)
	l.declared = declared{}
	l.puts, l.other, l.changed = nil, nil, nil
	l.nodes, l.bytes = l.nodes[:0], 0
	return nil
}

// newID hands out an id, after making a large block of them durable.
func (l *Loader) newID(c *counter) (uint64, error) {
	if c.next >= maxID {
		return 0, fail(LimitExceeded, "all %d ids are used up", uint64(maxID))
	}
	if c.next > c.safe.Load() {
		if err := l.reserve(c); err != nil {
			return 0, err
		}
	}
	id := c.next
	c.next++
	return id, nil
}

func (l *Loader) reserve(c *counter) error {
	slot, err := l.db.engine.AcquireSlot(l.ctx)
	if err != nil {
		return wrap(err)
	}
	defer slot.Abort()
	mark := c.next + loadIDs
	*c.mark(&l.marks) = mark
	next := *l.base
	next.marks, next.changed = l.marks, nil
	puts := []store.Put{markPut(l.db.seal, c.key, mark)}
	var rec *loadRecord
	if l.rec != nil {
		again := *l.rec
		again.marks, rec = l.marks, &again
		puts = append(puts, l.db.loadPut(rec))
	}
	if puts, err = l.db.logPuts(puts, slot.Seq()+1, nil); err != nil {
		return err
	}
	_, outcome, err := slot.Finish(puts, &next, "").Wait(l.ctx)
	if outcome != store.Committed {
		return wrap(err)
	}
	l.base, l.rec = &next, rec
	return nil
}

// Abort ends the load. The batches that were written before stay.
func (l *Loader) Abort() {
	if l.db == nil {
		return
	}
	if l.fresh && l.report.Batches > 0 {
		// What is durable must become visible: the next open would show it.
		l.err = nil
		l.ctx = context.WithoutCancel(l.ctx)
		l.nodes, l.changed, l.puts, l.other = nil, nil, nil, nil
		l.edges, l.head, l.blocks, l.edgeFrom = nil, nil, nil, 0
		l.declared = declared{}
		l.names, l.keys = l.base.names, l.base.keys
		clear(l.index)
		if err := l.publish(false); err != nil {
			l.db.tidyErr.set(err)
		}
	}
	if l.rec != nil {
		// As after opening again: whoever takes ids now has to raise the marks, which
		// resuming notices.
		l.db.ids.node.next, l.db.ids.edge.next = l.marks.node+1, l.marks.edge+1
	}
	l.end()
}

func (l *Loader) end() {
	if l.db == nil {
		return
	}
	<-l.db.writer
	l.db = nil
	l.err = fail(TxDone, "the load has ended")
}

// Close writes the last batch, makes everything visible and ends the load.
func (l *Loader) Close() (LoadReport, error) {
	if l.err != nil {
		err := l.err
		l.Abort()
		return l.report, err
	}
	err := l.flush(true)
	if err == nil && l.fresh {
		err = l.publish(true)
	}
	if err != nil {
		l.err = err
		l.Abort()
		return l.report, err
	}
	l.end()
	return l.report, nil
}

// publish builds the topology of what was loaded into the empty graph and makes
// it the version of one more, empty transaction, which also ends the load when it
// is complete.
func (l *Loader) publish(complete bool) error {
	snap, err := l.db.engine.Snapshot()
	if err != nil {
		return wrap(err)
	}
	from := &loaded{ctx: l.ctx, r: scanner{snap}, opts: &l.db.opts, seal: l.db.seal, state: snap.Version()}
	// Nobody sees these documents before the topology has their nodes. It comes
	// second, so that it and what filling the text takes are not in memory together.
	if l.textLater {
		err = l.db.text.LoadLater(uint64(snap.Seq()), l.db.fillLater)
	} else {
		err = l.db.text.Load(uint64(snap.Seq()), from.documents())
	}
	var v *topo.Version
	if err == nil {
		v, err = from.topology()
	}
	if err == nil {
		err = l.db.vectors.load(uint64(snap.Seq()), from.documents())
	}
	snap.Close()
	if err != nil {
		return wrap(err)
	}
	slot, err := l.db.engine.AcquireSlot(l.ctx)
	if err != nil {
		return wrap(err)
	}
	defer slot.Abort()
	seq := slot.Seq() + 1
	puts, err := l.db.logPuts(nil, seq, &logentry.Entry{Bulk: true, Counts: countsOf(v)})
	if err != nil {
		return err
	}
	rec := l.rec
	if complete && rec != nil {
		puts, rec = append(puts, l.db.loadPut(nil)), nil
	}
	next := *slot.Version()
	ed := v.Edit()
	next.topo, next.changed, next.partial = ed.Commit(uint64(seq)), nil, false
	return l.finish(slot, puts, &next, rec)
}

// scanner reads a snapshot of the engine as a store's reader.
type scanner struct{ *commit.Snapshot[*state] }

// Close implements store.Reader; the snapshot is closed by whoever opened it.
func (scanner) Close() error { return nil }
