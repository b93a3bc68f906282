package graph

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"sync"

	"engram/graph/embedder"
	"engram/graph/internal/text"
	"engram/graph/internal/vector"
	"engram/graph/value"
)

// vectors is the follower that knows what texts mean. It is opened in the
// background, since that means reading all of it; the first search waits.
type vectors struct {
	embedder embedder.Embedder // nil: there are no vectors
	local    embedder.Local    // the same, if it calls nobody
	dir      string
	tag      string
	dim      int

	ready chan struct{} // closed when index and err are set for good
	index *vector.Index // nil: there are none
	err   error
	once  sync.Once // of a database open for reading: filled by the first search

	mu    sync.Mutex
	open  bool
	queue []textBatch // published while it was not open
}

func newVectors(o *Options, p place) *vectors {
	v := &vectors{embedder: o.Embedder, dir: p.vectorDir, ready: make(chan struct{})}
	if o.NoEmbedder {
		v.embedder = nil
		return v
	}
	if v.embedder == nil {
		builtin, err := embedder.Shared()
		if err != nil {
			v.err = err
			return v
		}
		v.embedder = builtin
	}
	v.local, _ = v.embedder.(embedder.Local)
	v.dim = v.embedder.Dim()
	return v
}

// beginVectors opens the vectors: at once where nothing has to be read, else in a
// goroutine that ends with ctx or when it is done. Nobody has read or written yet.
func (db *DB) beginVectors(ctx context.Context) {
	v := db.vectors
	v.tag = textIdentity(db.seal.Tag)
	switch {
	case !v.used():
		// Of an endpoint whose dimensions nobody knows yet there can be no vectors.
		close(v.ready)
	case db.readOnly:
		o := vector.Options{Model: v.embedder.Model(), Dim: v.dim}
		if v.local == nil { // only the endpoint could make them again
			o.Dir, o.ReadOnly, o.Identity, o.Head = v.dir, true, v.tag, db.Seq()
		}
		v.index, v.err = vector.Open(o)
		close(v.ready)
	case db.place.vectorDir == "" || db.opts.manual:
		db.openVectors(ctx)
	default:
		go db.openVectors(ctx)
	}
}

// openVectors opens the space of the model and brings it up to a snapshot: by the
// log if that reaches back, else from the records.
func (db *DB) openVectors(ctx context.Context) {
	v := db.vectors
	defer close(v.ready)
	snap, err := db.engine.Snapshot()
	if err != nil {
		v.err = wrap(err)
		return
	}
	defer snap.Close()
	head := uint64(snap.Seq())
	ix, err := vector.Open(vector.Options{Dir: v.dir, Model: v.embedder.Model(), Dim: v.dim, Identity: v.tag, Head: head})
	if err != nil {
		v.err = wrap(err)
		return
	}
	from := &loaded{ctx: ctx, r: scanner{snap}, head: snap.Seq(), opts: &db.opts, seal: db.seal, state: snap.Version()}
	if err := v.catchUp(ix, from, head); err != nil {
		_ = ix.Close()
		v.err = wrap(err)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range v.queue {
		ix.Publish(b.seq, v.docs(b.docs))
	}
	v.index, v.open, v.queue = ix, true, nil
}

func (v *vectors) catchUp(ix *vector.Index, from *loaded, head uint64) error {
	applied := ix.AppliedSeq()
	if applied == head || applied == 0 && from.state.topo.NodeCount(0) == 0 && !from.state.partial {
		ix.Publish(head, nil)
		return nil
	}
	if applied > 0 {
		docs, ok, err := from.changedSince(applied)
		if err != nil {
			return err
		}
		if ok {
			ix.Publish(head, v.docs(docs))
			return nil
		}
	}
	return ix.Load(head, v.all(from.documents()))
}

// all embeds documents one after the other.
func (v *vectors) all(docs iter.Seq2[text.Doc, error]) iter.Seq2[vector.Doc, error] {
	return func(yield func(vector.Doc, error) bool) {
		for d, err := range docs {
			if err != nil {
				yield(vector.Doc{}, err)
				return
			}
			if !yield(v.doc(d), nil) {
				return
			}
		}
	}
}

func (v *vectors) docs(docs []text.Doc) []vector.Doc {
	out := make([]vector.Doc, len(docs))
	for i, d := range docs {
		out[i] = v.doc(d)
	}
	return out
}

// doc makes the vector of a document, or notes that there is one to be made.
func (v *vectors) doc(d text.Doc) vector.Doc {
	out := vector.Doc{Node: d.Node}
	said := meaning(d)
	switch {
	case said == "":
	case v.local == nil:
		out.Pending = true
	default:
		out.Vector = v.local.EmbedOne(said)
	}
	return out
}

// meaning is what a document says, without who said it and when: those are found by
// words.
func meaning(d text.Doc) string {
	var parts []string
	for _, f := range d.Fields {
		if !isContext(f.Name) {
			parts = append(parts, f.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// isContext reports whether a text field tells who said something, or when, in place of
// what.
func isContext(field string) bool { return field == "speaker" || field == "date" }

// used reports whether there are vectors at all.
func (v *vectors) used() bool { return v.embedder != nil && v.dim != 0 }

// publish adds what a durable transaction changed, nil if nothing.
func (v *vectors) publish(seq uint64, c *changes) {
	if !v.used() {
		return
	}
	var docs []text.Doc
	var prepared []vector.Doc
	if c != nil {
		docs, prepared = c.docs, c.vectors
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open {
		v.index.Publish(seq, prepared)
		return
	}
	select {
	case <-v.ready: // it could not be opened: nobody will ask
	default:
		v.queue = append(v.queue, textBatch{seq, docs})
	}
}

// load fills the vectors anew after a bulk load. What keeps them from it is told to
// who searches, not to who loads.
func (v *vectors) load(seq uint64, docs iter.Seq2[text.Doc, error]) error {
	v.wait()
	if v.index == nil {
		return nil
	}
	return v.index.Load(seq, v.all(docs))
}

func (v *vectors) wait() { <-v.ready }

// applied is the seq up to which the files have everything.
func (v *vectors) applied() uint64 {
	select {
	case <-v.ready:
	default:
		return 0 // what it needs of the log is not known yet
	}
	if v.index == nil {
		return ^uint64(0) - 1
	}
	return v.index.AppliedSeq()
}

func (v *vectors) close() error {
	v.wait()
	if v.index == nil {
		return nil
	}
	return v.index.Close()
}

func (v *vectors) stats() VectorStats {
	out := VectorStats{}
	if v.embedder != nil {
		out.Model = v.embedder.Model()
	}
	select {
	case <-v.ready:
	default:
		return out
	}
	out.Err = v.err
	if v.index != nil {
		s := v.index.Stats()
		out.Published, out.Applied, out.Live, out.Pending = s.Published, s.Applied, s.Live, s.Pending
		out.Err = cmp.Or(v.err, s.LastError)
	}
	return out
}

// viewNow is the view of a transaction that may stay open for long, if the vectors
// are open already.
func (v *vectors) viewNow(seq uint64) *vector.View {
	select {
	case <-v.ready:
	default:
		return nil
	}
	if v.index == nil {
		return nil
	}
	view, err := v.index.At(seq)
	if err != nil {
		return nil // whoever looks is told
	}
	return view
}

// vectorView returns the vectors as the transaction sees them; nil without vectors.
func (tx *Tx) vectorView() (*vector.View, error) {
	v := tx.db.vectors
	select {
	case <-v.ready:
	case <-tx.ctx.Done():
		return nil, tx.ctx.Err()
	}
	if v.err != nil || v.index == nil {
		return nil, v.err
	}
	if tx.db.readOnly {
		v.once.Do(func() {
			from := &loaded{ctx: tx.ctx, r: tx.reader(), opts: &tx.db.opts, seal: tx.db.seal, state: tx.base}
			from.head = tx.seq
			v.err = v.catchUp(v.index, from, uint64(tx.seq))
		})
		if v.err != nil {
			return nil, v.err
		}
	}
	if tx.w == nil {
		if tx.near == nil {
			var err error
			if tx.near, err = v.index.At(uint64(tx.seq)); err != nil {
				return nil, err
			}
		}
		return tx.near, nil
	}
	return tx.ownVectors(v)
}

// ownVectors lays what is not published, and the own writes, over what is.
func (tx *Tx) ownVectors(v *vectors) (*vector.View, error) {
	published := v.index.PublishedSeq()
	view, err := v.index.At(published)
	if err != nil {
		return nil, err
	}
	var over []vector.Doc
	for _, b := range tx.base.recent {
		if b.seq > published {
			over = append(over, v.docs(b.docs)...)
		}
	}
	own, err := tx.changedDocs()
	if err != nil {
		return nil, err
	}
	if over = append(over, v.docs(own)...); len(over) > 0 {
		view = view.With(over)
	}
	return view, nil
}

// EmbedText returns the vector of a text; nil when the text says nothing to the
// model, and when only an endpoint could tell: then embed it before the transaction
// begins.
func (tx *Tx) EmbedText(s string) []float32 {
	if tx.db.vectors.local == nil {
		return nil
	}
	return tx.db.vectors.local.EmbedOne(s)
}

// RankVectors returns the nodes whose texts are nearest in meaning to a vector of the
// same model, best first, ties by external id. keep, when not nil, drops nodes before
// they are ranked. Nodes that are no nearer than the average are left out.
func (tx *Tx) RankVectors(near []float32, limit int, keep func(value.NodeID) bool) ([]value.VectorHit, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.vectorView()
	if view == nil || err != nil {
		return nil, wrap(err)
	}
	var bad error
	hits, err := view.Search(vector.Query{
		Vector: near, Limit: limit,
		Keep: func(id value.NodeID) bool { return tx.NodeExists(id) && (keep == nil || keep(id)) },
		Tie: func(a, b value.NodeID) int {
			x, err := tx.ElementID(a)
			y, err2 := tx.ElementID(b)
			bad = cmp.Or(bad, err, err2)
			return strings.Compare(x, y)
		},
	})
	if err = cmp.Or(err, bad); err != nil {
		return nil, wrap(err)
	}
	out := make([]value.VectorHit, len(hits))
	for i, h := range hits {
		out[i] = value.VectorHit{Node: h.Node, Score: h.Score}
	}
	return out, nil
}

// Similarities returns how near in meaning the text of each of some nodes is to a
// vector, -1 to 1, and 0 where it has no vector.
func (tx *Tx) Similarities(near []float32, nodes []value.NodeID) ([]float64, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.vectorView()
	if view == nil || err != nil {
		return make([]float64, len(nodes)), wrap(err)
	}
	out, err := view.Scores(near, false, nodes)
	return out, wrap(err)
}

// NodeVector returns the vector of a node's text, about of length 1; nil when it has
// none.
func (tx *Tx) NodeVector(id value.NodeID) ([]float32, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	view, err := tx.vectorView()
	if view == nil || err != nil || !tx.NodeExists(id) {
		return nil, wrap(err)
	}
	v, _ := view.Vector(id)
	return v, nil
}
