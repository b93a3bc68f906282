package recall

import (
	"engram/graph/value"
	"engram/query/internal/access"
)

// containers rate what CONTAINS memories by the text hits in it: a session in
// which many memories match is the one that is meant. They are rated against the
// best of them; where there is only one, or none, nothing can be told.
type containers struct {
	g        access.Reader
	types    []value.TypeID
	sums     map[value.NodeID]float64
	best     float64
	adjacent []access.Adjacent
}

// contexts looks at what contains the best hits.
func (r *run) contexts() error {
	contained, ok := r.g.RelType(contains)
	if !ok || r.t.Context == 0 || r.o.Legs.NoAssociative || len(r.hits) == 0 {
		return nil
	}
	c := &containers{g: r.g, types: []value.TypeID{contained}, sums: map[value.NodeID]float64{}}
	least := r.hits[min(len(r.hits), r.t.ContextHits)-1].Score
	for _, h := range r.hits {
		if h.Score < least {
			break
		}
		if err := c.of(h.Node); err != nil {
			return err
		}
		for _, a := range c.adjacent {
			c.sums[a.Node] += h.Score / r.hits[0].Score
			c.best = max(c.best, c.sums[a.Node])
		}
	}
	if len(c.sums) > 1 {
		r.containers = c
	}
	return nil
}

// of finds what contains a node.
func (c *containers) of(id value.NodeID) error {
	var err error
	c.adjacent, err = c.g.Expand(id, access.In, c.types, c.adjacent[:0])
	return err
}

// rate returns how much speaks for what contains a node, 0 to 1.
func (c *containers) rate(id value.NodeID) (float64, error) {
	if err := c.of(id); err != nil {
		return 0, err
	}
	rate := 0.0
	for _, a := range c.adjacent {
		rate = max(rate, c.sums[a.Node]/c.best)
	}
	return rate, nil
}
