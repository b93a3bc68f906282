package graph

import (
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
)

// addEdge takes an edge, and encodes the block before it once that is complete.
func (l *Loader) addEdge(e record.Edge) error {
	if len(l.edges) > 0 && record.BlockOf(l.edges[0].ID) != record.BlockOf(e.ID) {
		if len(l.edges) < record.BlockSize {
			l.head = append(l.head, l.edges...)
		} else if err := l.encodeBlock(); err != nil {
			return err
		}
		l.edges = l.edges[:0]
	}
	if l.edgeFrom == 0 {
		l.edgeFrom = e.ID
	}
	if l.edges == nil {
		l.edges = make([]record.Edge, 0, record.BlockSize)
	}
	l.edges = append(l.edges, e)
	return nil
}

// encodeBlock encodes the newest block, all edges of which are in l.edges.
func (l *Loader) encodeBlock() (err error) {
	l.blocks, err = l.blockPuts(l.blocks, nil, l.edges)
	return err
}

// edgePuts are the blocks of the batch. A load into an empty graph keeps back the
// edges of a block that is not complete; other loads do not, since the version that is
// published has them already.
func (l *Loader) edgePuts(puts []store.Put, entry *logentry.Entry, src source, last bool) (_ []store.Put, err error) {
	entry.EdgeFrom, entry.EdgeTo = l.edgeFrom, l.edgeFrom
	for head := l.head; len(head) > 0; {
		n := 1
		for n < len(head) && record.BlockOf(head[n].ID) == record.BlockOf(head[0].ID) {
			n++
		}
		if puts, err = l.blockPuts(puts, src, head[:n]); err != nil {
			return nil, err
		}
		head = head[n:]
	}
	puts = append(puts, l.blocks...)
	if len(l.edges) > 0 {
		entry.EdgeTo = l.edges[0].ID
		if !l.fresh || last || len(l.edges) == record.BlockSize {
			if puts, err = l.blockPuts(puts, src, l.edges); err != nil {
				return nil, err
			}
			entry.EdgeTo = l.edges[len(l.edges)-1].ID + 1
			l.edges = l.edges[:0]
		}
	}
	l.head, l.blocks, l.edgeFrom = nil, nil, 0
	if len(l.edges) > 0 {
		l.edgeFrom = l.edges[0].ID
	}
	return puts, nil
}

// blockPuts encodes edges of one block, on top of those of src, which is nil when it
// cannot have any.
func (l *Loader) blockPuts(puts []store.Put, src source, edges []record.Edge) ([]store.Put, error) {
	for i := range edges {
		if err := l.declareLoaded(edgeElement(&edges[i])); err != nil {
			return nil, err
		}
	}
	block := record.BlockOf(edges[0].ID)
	k := blockKey(block)
	if src != nil {
		sealed, err := src.Get(store.Edges, k)
		if err != nil {
			return nil, wrap(err)
		}
		if sealed != nil {
			payload, err := l.db.seal.Open(store.Edges, k, sealed)
			if err != nil {
				return nil, wrap(err)
			}
			old, err := record.DecodeBlock(block, payload)
			if err != nil {
				return nil, wrap(l.db.seal.Damaged(store.Edges, k, err.Error()))
			}
			edges = append(old, edges...)
		}
	}
	buf, large, err := record.AppendBlock(l.db.seal.Room(24*len(edges)), edges)
	if err != nil {
		return nil, wrap(err)
	}
	puts = append(puts, store.Put{Space: store.Edges, Key: k, Value: l.db.seal.Close(store.Edges, k, buf)})
	for _, x := range large {
		puts = l.db.overflowPuts(puts, overflowEdge, uint64(x.Edge), []record.Large{x.Large}, nil)
	}
	return puts, nil
}
