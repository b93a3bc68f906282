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
	if enough, err := r.enoughHits(); enough || err != nil {
		return err
	}
	return r.nearest(vectors)
}

// enoughHits reports whether so many texts with words of the query may be rows that
// none would be one by its meaning alone.
func (r *run) enoughHits() (bool, error) {
	if len(r.hits) < r.t.SemanticBelow || r.o.Legs.NoLexical {
		return false, nil
	}
	if !r.chosen() {
		return true, nil
	}
	passed := 0
	for _, h := range r.hits {
		x, err := r.dropped(h.Node)
		if err != nil {
			return false, err
		}
		if x == Kept {
			passed++
		}
		if passed == r.t.SemanticBelow {
			return true, nil
		}
	}
	return false, nil
}

// chosen reports whether the statement itself says what may be a row.
func (r *run) chosen() bool {
	return r.o.Where != nil || r.o.Filter.Layers != nil || r.o.Filter.Since != nil
}

// nearest makes candidates of the nodes that are nearest in meaning: of so many, and
// where those may not be rows, of the ones behind them until as many may be, or none
// is near.
func (r *run) nearest(vectors access.VectorReader) error {
	floor := r.t.SemanticFloor
	if r.o.Legs.NoLexical {
		floor = 0 // there are no other legs, or none that tells
	}
	for limit, seen, passed := r.t.SemanticPool, 0, 0; ; limit *= 4 {
		hits, err := vectors.RankVectors(r.near, limit, nil)
		if err != nil {
			return err
		}
		for _, h := range hits[min(seen, len(hits)):] {
			if h.Score < floor || passed == r.t.SemanticPool {
				return nil
			}
			x := Kept
			if !r.screen.open() || r.o.Where != nil {
				if x, err = r.dropped(h.Node); err != nil {
					return err
				}
			}
			if x == Kept {
				passed++
			}
			if x == Kept || limit == r.t.SemanticPool {
				r.candidates.of(h.Node)
			}
		}
		if seen = len(hits); seen < limit || passed >= r.t.SemanticPool {
			return nil
		}
	}
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
