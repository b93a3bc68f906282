package graph

import (
	"cmp"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/text"
	"engram/graph/internal/vector"
	"engram/graph/schema"
	"engram/graph/value"
)

// IndexedTexts calls fn for every node that the text index has, as of the
// transaction's snapshot, in no certain order and, if it is damaged, more than once.
// ok is false while a full-text index is being dropped, whose words may still be there.
func (tx *Tx) IndexedTexts(fn func(value.NodeID)) (ok bool, err error) {
	if err := tx.check(); err != nil {
		return false, err
	}
	view, err := tx.textView()
	if err != nil {
		return false, wrap(err)
	}
	err = view.EachNode(func(id value.NodeID) bool { fn(id); return true })
	dropping := slices.ContainsFunc(tx.schema.texts, func(d *indexDef) bool { return d.State == schema.Dropping })
	return !dropping, wrap(err)
}

// VectorSpace is what lies on disk of the vectors of one model.
type VectorSpace struct {
	Model string
	// Entries counts vectors, among them some that newer ones replaced.
	Entries int
}

// IndexedVectors calls fn for every node that has a vector, like IndexedTexts. It
// returns the name of the model, empty when no vectors are kept, and the nodes that
// wait for their vector now, in ascending order.
func (tx *Tx) IndexedVectors(fn func(value.NodeID)) (model string, waiting []value.NodeID, err error) {
	if err := tx.check(); err != nil {
		return "", nil, err
	}
	v := tx.db.vectors
	if v.embedder == nil {
		return "", nil, wrap(v.err)
	}
	view, err := tx.vectorView()
	if err != nil {
		return v.embedder.Model(), nil, wrap(err)
	}
	if view == nil {
		return v.embedder.Model(), nil, fail(NotSupported, "the model %s has not told how many dimensions its vectors have", v.embedder.Model())
	}
	view.EachNode(func(id value.NodeID) bool { fn(id); return true })
	for _, task := range v.index.Missing(v.index.Stats().Pending) {
		waiting = append(waiting, task.Node)
	}
	slices.Sort(waiting)
	return v.embedder.Model(), waiting, nil
}

// OtherVectors lists what lies on disk of other models' vectors, by model. Nobody
// searches those.
func (tx *Tx) OtherVectors() ([]VectorSpace, error) {
	v := tx.db.vectors
	if v.dir == "" || v.embedder == nil {
		return nil, nil
	}
	spaces, err := vector.Spaces(v.dir)
	if err != nil {
		return nil, wrap(err)
	}
	var out []VectorSpace
	for _, s := range spaces {
		if s.Model != v.embedder.Model() {
			out = append(out, VectorSpace{s.Model, s.Entries})
		}
	}
	slices.SortFunc(out, func(a, b VectorSpace) int { return cmp.Compare(a.Model, b.Model) })
	return out, nil
}

// HasWords reports whether there is a word in a node's text, so that the text index has
// it: a text such as "?" has none.
func (tx *Tx) HasWords(id value.NodeID) (bool, error) {
	doc, err := tx.storedDocument(id)
	for _, f := range doc.Fields {
		if len(tx.db.text.Terms(f.Text)) > 0 {
			return true, err
		}
	}
	return false, err
}

// MayMean reports whether a node's text could say anything to the model, and so whether
// the node might have a vector: false is certain, and HasMeaning is for the rest.
func (r *Record) MayMean() bool {
	tx := r.chunk.tx
	words, ok := tx.db.vectors.embedder.(interface{ Knows(text string) bool })
	if !ok || r.outOfLine || len(tx.schema.texts) > 0 {
		return true
	}
	may := false
	err := record.WalkNode(r.payload, &r.chunk.scratch, func(k value.KeyID) record.Want {
		if i, text := tx.keys.text[k]; !may && text && !isContext(tx.db.opts.TextFields[i]) {
			return record.Share
		}
		return record.Skip
	}, func(p record.Prop, _ record.Want) {
		// Days are written in words.
		may = may || p.Value.Kind() != value.KindString || words.Knows(p.Value.AsString())
	})
	return may || err != nil
}

// HasMeaning reports whether a node's text says anything to the model, if that calls
// nobody, so that the node has a vector.
func (tx *Tx) HasMeaning(id value.NodeID) (bool, error) {
	v := tx.db.vectors
	if v.local == nil {
		return false, nil
	}
	doc, err := tx.storedDocument(id)
	return err == nil && v.doc(doc).Vector != nil, err
}

// storedDocument makes the document of a living node in a reading transaction.
func (tx *Tx) storedDocument(id value.NodeID) (text.Doc, error) {
	if !tx.NodeExists(id) {
		return text.Doc{Node: id}, nil
	}
	payload, err := tx.nodePayload(id)
	if err != nil {
		return text.Doc{}, err
	}
	from := &loaded{r: tx.reader(), opts: &tx.db.opts, seal: tx.db.seal, state: tx.base}
	doc, err := from.document(id, key.Node(id), payload)
	return doc, wrap(err)
}

// IndexedOtherwise calls fn for those of some nodes whose words in the text index, or
// whose vector, are not those of their record: words or vector tells which. What an
// index does not have at all is passed over. It analyses the texts anew, which takes some ten
// microseconds each.
func (tx *Tx) IndexedOtherwise(nodes []value.NodeID, fn func(id value.NodeID, words, vector bool)) error {
	view, err := tx.textView()
	if err != nil {
		return wrap(err)
	}
	other := map[value.NodeID]bool{}
	var docs []text.Doc
	err = view.Differ(func(yield func(text.Doc, error) bool) {
		for _, id := range nodes {
			doc, err := tx.storedDocument(id)
			docs = append(docs, doc)
			if !yield(doc, err) {
				return
			}
		}
	}, func(id value.NodeID) { other[id] = true })
	if err != nil {
		return wrap(err)
	}
	for _, doc := range docs {
		stale := false
		if v := tx.db.vectors; v.local != nil {
			have, err := tx.NodeVector(doc.Node)
			if err != nil {
				return err
			}
			stale = have != nil && !alike(have, v.doc(doc).Vector)
		}
		if other[doc.Node] || stale {
			fn(doc.Node, other[doc.Node], stale)
		}
	}
	return nil
}

// alike reports whether two vectors point the same way but for rounding.
func alike(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab > 0 && ab*ab > 0.999*0.999*aa*bb
}

// Followers tells how far the copies are that searches use.
func (tx *Tx) Followers() (TextStats, VectorStats) {
	s := tx.db.text.Stats()
	return TextStats{Published: s.Published, Applied: s.Applied, Err: s.LastError}, tx.db.vectors.stats()
}
