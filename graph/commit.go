package graph

import (
	"context"
	"maps"
	"slices"

	"engram/graph/internal/commit"
	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/value"
)

// Commit ends the transaction and waits until its writes, and all that it could
// have read, are durable. It returns the seq of the transaction, or of the
// newest one that it read when it wrote nothing. A writing transaction's results
// may be given to nobody before Commit returned nil. When ctx ends first, the code
// is OutcomeUnknown if the transaction wrote: it goes on and may become durable.
func (tx *Tx) Commit(ctx context.Context) (seq uint64, err error) {
	return tx.CommitKey(ctx, "")
}

// CommitKey is Commit with an idempotency key of the caller: if a transaction
// with that key was committed before, nothing is written and its seq is
// returned. After an unknown outcome and reopening, the key tells what became of
// the transaction; see Committed. A key is remembered for as many transactions
// with a key as Options.IdempotencyKeys says, at least.
func (tx *Tx) CommitKey(ctx context.Context, idemKey string) (seq uint64, err error) {
	if tx.w == nil {
		err := tx.check()
		tx.end()
		return uint64(tx.seq), err
	}
	ticket, err := tx.finish(idemKey)
	if err != nil {
		return 0, tx.Abandon(ctx, err)
	}
	if idemKey != "" {
		tx.db.idemKeys.added.Add(1) // one too many when it fails: they are counted anew before any is forgotten
	}
	tx.prepareWhileWaiting()
	at, outcome, err := ticket.Wait(ctx)
	if outcome != store.Committed {
		return 0, wrap(err)
	}
	return uint64(at), nil
}

// finish hands the write-set over and gives the slot back.
func (tx *Tx) finish(idemKey string) (*commit.Ticket, error) {
	if err := tx.EndStatement(); err != nil {
		return nil, err
	}
	w := tx.w
	var ticket *commit.Ticket
	if w.empty() && idemKey == "" {
		ticket = w.slot.FinishReadOnly()
	} else {
		puts, next, err := tx.writeSet()
		if err != nil {
			return nil, err
		}
		w.next = next
		ticket = w.slot.Finish(puts, next, idemKey)
	}
	w.slot = nil
	<-tx.db.writer
	tx.end()
	return ticket, nil
}

// writeSet turns the edits into changes of the store and the next version.
func (tx *Tx) writeSet() ([]store.Put, *state, error) {
	w, seq := tx.w, tx.w.slot.Seq()+1
	changed, err := tx.changedDocs()
	if err != nil {
		return nil, nil, err
	}
	puts, err := tx.nodePuts(slices.Clone(w.names))
	if err != nil {
		return nil, nil, err
	}
	if puts, err = tx.edgePuts(puts); err != nil {
		return nil, nil, err
	}
	for _, k := range slices.Sorted(maps.Keys(w.index)) {
		put := store.Put{Space: store.Index, Key: []byte(k)}
		if payload := w.index[k]; payload != nil {
			put.Value = tx.db.seal.Seal(store.Index, put.Key, payload)
		}
		puts = append(puts, put)
	}
	for _, id := range slices.Sorted(maps.Keys(w.graves)) {
		put := store.Put{Space: store.Meta, Key: graveKey(id)}
		if w.graves[id] {
			put.Value = tx.db.seal.Seal(store.Meta, put.Key, nil)
		}
		puts = append(puts, put)
	}
	counts, err := tx.indexCounts()
	if err != nil {
		return nil, nil, err
	}
	puts = countPuts(tx.w.declared.puts(puts, tx.db.seal), tx.db.seal, tx.base.counts, counts)
	puts, activity, err := tx.learnPuts(puts)
	if err != nil {
		return nil, nil, err
	}
	if puts, err = tx.schemaPuts(tx.w.vocabPuts(puts, tx.db.seal)); err != nil {
		return nil, nil, err
	}
	entry := tx.entry(changed)
	entry.Counts = countsOf(w.ed.View())
	if puts, err = tx.db.logPuts(tx.extendMarks(puts), seq, entry); err != nil {
		return nil, nil, err
	}
	next := &state{
		topo: w.ed.Commit(uint64(seq)), names: tx.names, keys: tx.keys, marks: w.marks,
		schema: tx.schema, counts: counts, vocab: tx.vocab, activity: activity, partial: tx.base.partial,
		changed: newChanges(changed), recent: tx.db.recentText(tx.base, uint64(seq), changed),
	}
	if !w.learn.empty() {
		count := w.learn.count
		next.learned = &count
	}
	return puts, next, nil
}

// editedNodes lists the touched nodes in ascending order.
func (tx *Tx) editedNodes() []value.NodeID { return slices.Sorted(maps.Keys(tx.w.nodes)) }

// nodePuts appends the changed node records and what is out of line.
func (tx *Tx) nodePuts(puts []store.Put) ([]store.Put, error) {
	for _, id := range tx.editedNodes() {
		e := tx.w.nodes[id]
		put := store.Put{Space: store.Nodes, Key: key.Node(id)}
		var large []record.Large
		if !e.deleted {
			buf, out, err := record.AppendNode(tx.db.seal.Room(64), e.rec)
			if err != nil {
				return nil, wrap(err)
			}
			put.Value, large = tx.db.seal.Close(store.Nodes, put.Key, buf), out
		}
		if !(e.added && e.deleted) {
			puts = append(puts, put)
		}
		puts = tx.db.overflowPuts(puts, overflowNode, uint64(id), large, e.freed)
	}
	return puts, nil
}

// overflowPuts appends an element's values that are out of line now, and the
// removal of those that are not any more.
func (db *DB) overflowPuts(puts []store.Put, kind byte, id uint64, large []record.Large, freed []value.KeyID) []store.Put {
	for _, l := range large {
		k := overflowKey(kind, id, l.Key)
		puts = append(puts, store.Put{Space: store.Overflow, Key: k, Value: db.seal.Seal(store.Overflow, k, l.Encoded)})
	}
	slices.Sort(freed)
	for _, f := range slices.Compact(freed) {
		if !slices.ContainsFunc(large, func(l record.Large) bool { return l.Key == f }) {
			puts = append(puts, store.Put{Space: store.Overflow, Key: overflowKey(kind, id, f)})
		}
	}
	return puts
}

// edgePuts appends the changed blocks of edges and what is out of line.
func (tx *Tx) edgePuts(puts []store.Put) ([]store.Put, error) {
	edited := slices.Sorted(maps.Keys(tx.w.edges))
	for len(edited) > 0 {
		block := record.BlockOf(edited[0])
		n := 1
		for n < len(edited) && record.BlockOf(edited[n]) == block {
			n++
		}
		var err error
		if puts, err = tx.blockPuts(puts, block, edited[:n]); err != nil {
			return nil, err
		}
		edited = edited[n:]
	}
	return puts, nil
}

func (tx *Tx) blockPuts(puts []store.Put, block uint64, edited []value.EdgeID) ([]store.Put, error) {
	k := blockKey(block)
	payload, err := tx.blockPayload(block)
	if err != nil {
		return nil, err
	}
	var edges []record.Edge
	if payload != nil {
		if edges, err = record.DecodeBlock(block, payload); err != nil {
			return nil, tx.damaged(store.Edges, k, err)
		}
	}
	for _, id := range edited {
		if e := tx.w.edges[id]; e.deleted {
			edges = record.DropEdge(edges, id)
		} else {
			edges = record.PutEdge(edges, e.rec)
		}
	}
	put := store.Put{Space: store.Edges, Key: k}
	large := map[value.EdgeID][]record.Large{}
	if len(edges) > 0 {
		buf, out, err := record.AppendBlock(tx.db.seal.Room(32*len(edges)), edges)
		if err != nil {
			return nil, wrap(err)
		}
		put.Value = tx.db.seal.Close(store.Edges, k, buf)
		for _, l := range out {
			large[l.Edge] = append(large[l.Edge], l.Large)
		}
	}
	if put.Value != nil || payload != nil {
		puts = append(puts, put)
	}
	for _, id := range edited {
		puts = tx.db.overflowPuts(puts, overflowEdge, uint64(id), large[id], tx.w.edges[id].freed)
	}
	return puts, nil
}

// entry makes the log entry of the transaction.
func (tx *Tx) entry(changed []text.Doc) *logentry.Entry {
	w, out := tx.w, &logentry.Entry{EdgesSwept: tx.w.swept}
	for _, id := range tx.editedNodes() {
		switch e := w.nodes[id]; {
		case e.added && e.deleted:
		case e.deleted:
			out.NodesDeleted = append(out.NodesDeleted, id)
		case e.added:
			out.NodesAdded = append(out.NodesAdded, logentry.NodeAdded{ID: id, CreatedMS: e.rec.CreatedMS, Labels: e.rec.Labels})
		case e.labels:
			out.Labels = append(out.Labels, logentry.LabelsSet{ID: id, Labels: e.rec.Labels})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.edges)) {
		switch e := w.edges[id]; {
		case e.added && e.deleted, e.swept:
		case e.deleted:
			out.EdgesDeleted = append(out.EdgesDeleted, id)
		case e.added:
			out.EdgesAdded = append(out.EdgesAdded, logentry.EdgeAdded{
				ID: id, Src: e.rec.Src, Dst: e.rec.Dst, Type: e.rec.Type, CreatedMS: e.rec.CreatedMS,
			})
		}
	}
	for _, h := range w.hot {
		if !w.nodes[h.ID].deleted {
			out.Hot = append(out.Hot, h)
		}
	}
	for _, a := range w.attrs {
		if !w.edges[a.ID].deleted {
			out.Attrs = append(out.Attrs, a)
		}
	}
	if w.learn != nil {
		out.Learned = slices.DeleteFunc(w.learn.sets, func(s logentry.LearnedSet) bool { return !tx.edgeLives(s.ID) })
	}
	for _, c := range changed {
		out.TextChanged = append(out.TextChanged, c.Node)
	}
	return out
}

// Committed tells whether a transaction with the idempotency key was committed,
// and at which seq.
func (db *DB) Committed(idemKey string) (seq uint64, ok bool, err error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return 0, false, wrap(err)
	}
	defer snap.Close()
	at, ok, err := snap.Committed(idemKey)
	return uint64(at), ok, wrap(err)
}
