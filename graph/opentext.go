package graph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/value"
)

// replayDocs is up to how many changed documents the log is replayed into an
// index that is behind; beyond that it is filled anew.
const replayDocs = 50_000

// openText opens the text index and brings it up to the loaded seq. Where
// nothing may be written it stays in memory and is filled by the first search.
func (l *loaded) openText(place place) (*text.Index, error) {
	head := uint64(l.r.Seq())
	o := text.Options{Fields: l.opts.textFields(), Identity: textIdentity(l.seal.Tag), Head: head}
	if !place.readOnly {
		o.Dir = place.textDir
		if ix, err := l.openTextLater(o); ix != nil || err != nil {
			return ix, err
		}
	}
	ix, err := text.Open(o)
	if err != nil {
		return nil, err
	}
	if !place.readOnly {
		if err = l.catchUp(ix, head); err != nil {
			_ = ix.Close()
			return nil, err
		}
	}
	return ix, nil
}

// openTextLater leaves to the background what takes long: opening an index means
// reading it, and one that is missing, damaged, of another version or too far behind
// is filled anew. Gives nil where there is little to do or opening is going to fail.
func (l *loaded) openTextLater(o text.Options) (*text.Index, error) {
	if o.Dir == "" || l.state.topo.NodeCount(0) == 0 || l.opts.Rebuild {
		return nil, nil
	}
	applied, err := text.Peek(o)
	if errors.Is(err, text.ErrBusy) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	ok := err == nil && applied > 0 // else a load left the text for later, or a crash did
	var docs []text.Doc
	if ok && applied < o.Head {
		if docs, ok, err = l.changedSince(applied); err != nil {
			return nil, err
		}
	}
	l.textLater = true
	if !ok {
		return text.OpenToFill(o)
	}
	return text.OpenLater(o, applied, docs)
}

// beginText starts an index that is opened later. If it turns out to be damaged,
// it is filled anew as of a snapshot taken then.
func (db *DB) beginText() {
	db.text.Begin(db.fillLater)
}

// fillLater hands the text of all nodes to load, as of a snapshot taken now.
func (db *DB) fillLater(load func(seq uint64, docs iter.Seq2[text.Doc, error]) error) error {
	ctx := context.Background() // the index ends it when it is closed
	snap, err := db.engine.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	from := &loaded{ctx: ctx, r: scanner{snap}, opts: &db.opts, seal: db.seal, state: snap.Version()}
	return load(uint64(snap.Seq()), from.documents())
}

// textIdentity names the database in its text index.
func textIdentity(tag uint64) string { return fmt.Sprintf("%010x", tag) }

func (l *loaded) catchUp(ix *text.Index, head uint64) error {
	applied := ix.AppliedSeq()
	if applied == head || l.state.topo.NodeCount(0) == 0 && applied == 0 {
		ix.Publish(head, nil)
		return nil
	}
	if applied > 0 {
		docs, ok, err := l.changedSince(applied)
		if err != nil {
			return err
		}
		if ok {
			// One batch is enough: nobody looks at the seqs in between.
			ix.Publish(head, docs)
			return nil
		}
	}
	return ix.Load(head, l.documents())
}

// changedSince reads from the log which documents changed after a seq, and from
// the records what they are now. ok is false when the log does not reach back so
// far, or there are too many.
func (l *loaded) changedSince(seq uint64) (docs []text.Doc, ok bool, err error) {
	changed := map[value.NodeID]bool{}
	next, few := store.Seq(seq+1), true
	err = readLog(l.r, l.seal, store.Seq(seq), func(at store.Seq, e *logentry.Entry) error {
		few = few && at == next && len(changed) <= replayDocs
		next = at + 1
		// A load into an empty graph does not list its documents.
		few = few && !(e.Bulk && e.NodeTo > e.NodeFrom && len(e.TextChanged) == 0)
		if few {
			for _, id := range e.TextChanged {
				changed[id] = true
			}
		}
		return nil
	})
	if err != nil || !few || next != l.r.Seq()+1 {
		return nil, false, err
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		k := key.Node(id)
		sealed, err := l.r.Get(store.Nodes, k)
		if err != nil {
			return nil, false, err
		}
		doc := text.Doc{Node: id}
		if sealed != nil {
			payload, err := l.seal.Open(store.Nodes, k, sealed)
			if err != nil {
				return nil, false, err
			}
			if doc, err = l.document(id, k, payload); err != nil {
				return nil, false, err
			}
		}
		docs = append(docs, doc)
	}
	return docs, true, nil
}

func (l *loaded) document(id value.NodeID, k, payload []byte) (text.Doc, error) {
	rec, err := record.DecodeNode(payload)
	if err != nil {
		return text.Doc{}, l.seal.Damaged(store.Nodes, k, err.Error())
	}
	return l.opts.document(id, rec, l.state.keys, l.state.schema.texts, func(p value.KeyID) (value.Value, error) {
		return fetchOverflow(l.r, l.seal, nodeOverflow(id, p))
	})
}

// documents walks all nodes that have text.
func (l *loaded) documents() iter.Seq2[text.Doc, error] {
	return func(yield func(text.Doc, error) bool) {
		stopped := false
		err := l.scan(store.Nodes, nil, nil, func(k, payload []byte) error {
			id, _ := key.ParseUint(k)
			doc, err := l.document(value.NodeID(id), k, payload)
			if err == nil && len(doc.Fields) > 0 && !yield(doc, nil) {
				stopped = true
				return errStop
			}
			return err
		})
		if err != nil && !stopped {
			yield(text.Doc{}, err)
		}
	}
}

// errStop ends a scan early.
var errStop = fmt.Errorf("stop")

// textLoaded fills the index of a database that is open for reading, once.
func (db *DB) textLoaded(tx *Tx) error {
	if !db.readOnly {
		return nil
	}
	db.textOnce.Do(func() {
		from := &loaded{ctx: tx.ctx, r: tx.reader(), opts: &db.opts, seal: db.seal, state: tx.base}
		db.textErr = db.text.Load(uint64(tx.seq), from.documents())
	})
	if db.textErr != nil || tx.view != nil {
		return db.textErr
	}
	var err error
	tx.view, err = db.text.At(uint64(tx.seq))
	return err
}

// reader is the transaction's source as a store's reader.
func (tx *Tx) reader() store.Reader { return scanner{tx.snap} }
