package recall

import (
	"engram/graph/value"
	"engram/query/internal/access"
)

// semantic finds what is near to the query in meaning.
func (r *run) semantic() error {
	vectors, ok := r.g.(access.VectorReader)
	if !ok || r.o.Legs.NoSemantic || r.t.Semantic == 0 || r.o.Query == "" {
		return nil
	}
	if r.near = r.o.Near; r.near == nil {
		r.near = vectors.EmbedText(r.o.Query)
	}
	if r.near == nil || r.t.SemanticPool == 0 {
		return nil
	}
	if len(r.hits) >= r.t.SemanticBelow && !r.o.Legs.NoLexical {
		return nil
	}
	hits, err := vectors.RankVectors(r.near, r.t.SemanticPool, nil)
	if err != nil {
		return err
	}
	floor := r.t.SemanticFloor
	if r.o.Legs.NoLexical {
		floor = 0 // there are no other legs, or none that tells
	}
	for _, h := range hits {
		if h.Score >= floor {
			r.candidates.of(h.Node)
		}
	}
	return nil
}

// similar compares the candidates with the query that came since the last time.
func (r *run) similar() error {
	added := r.candidates.all[r.compared:]
	r.compared = len(r.candidates.all)
	if r.near == nil || len(added) == 0 {
		return nil
	}
	nodes := make([]value.NodeID, len(added))
	for i := range nodes {
		nodes[i] = added[i].node
	}
	similarities, err := r.g.(access.VectorReader).Similarities(r.near, nodes)
	if err != nil {
		return err
	}
	for i, s := range similarities {
		added[i].semantic = max(s, 0)
	}
	return nil
}
