package graph

import (
	"context"

	"engram/graph/internal/key"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/internal/vector"
)

// EmbedMissing makes the vectors of up to limit nodes that wait for theirs, longest
// waiting first, and tells how many were made and how many still wait. The embedder
// is called with no transaction open; its error ends the call.
func (db *DB) EmbedMissing(ctx context.Context, limit int) (made, waiting int, err error) {
	v := db.vectors
	select {
	case <-v.ready:
	case <-ctx.Done():
		return 0, 0, wrap(ctx.Err())
	}
	if v.index == nil {
		return 0, 0, wrap(v.err)
	}
	tasks := v.index.Missing(limit)
	texts, err := db.textsOf(tasks)
	if err != nil {
		return 0, 0, err
	}
	if len(tasks) > 0 {
		vectors, err := v.embedder.Embed(ctx, texts)
		if err != nil {
			return 0, v.index.Stats().Pending, wrap(err)
		}
		for i, task := range tasks {
			if i >= len(vectors) {
				break
			}
			filled, err := v.index.Fill(task, vectors[i])
			if err != nil {
				return made, v.index.Stats().Pending, wrap(err)
			}
			if filled {
				made++
			}
		}
	}
	return made, v.index.Stats().Pending, nil
}

// textsOf reads what is to be embedded.
func (db *DB) textsOf(tasks []vector.Task) ([]string, error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return nil, wrap(err)
	}
	defer snap.Close()
	from := &loaded{r: scanner{snap}, opts: &db.opts, seal: db.seal, state: snap.Version()}
	out := make([]string, len(tasks))
	for i, t := range tasks {
		k := key.Node(t.Node)
		sealed, err := snap.Get(store.Nodes, k)
		if err != nil {
			return nil, wrap(err)
		}
		if sealed == nil {
			continue // deleted meanwhile: Fill refuses it
		}
		payload, err := db.seal.Open(store.Nodes, k, sealed)
		if err != nil {
			return nil, wrap(err)
		}
		var doc text.Doc
		if doc, err = from.document(t.Node, k, payload); err != nil {
			return nil, wrap(err)
		}
		out[i] = meaning(doc)
	}
	return out, nil
}
