package recall

import (
	"math"
	"slices"

	"engram/activation"
	"engram/graph/value"
	"engram/query/internal/access"
)

// associative spreads from the best text hits and the given seeds, and makes
// candidates of what is reached.
func (r *run) associative() error {
	if err := r.spreadOut(); err != nil || r.spread == nil {
		return err
	}
	r.takeActivated()
	return nil
}

func (r *run) spreadOut() error {
	if r.o.Legs.NoAssociative {
		return nil
	}
	seeds := r.seeds()
	if len(seeds) == 0 {
		return nil
	}
	if r.o.Trace != nil {
		for _, s := range seeds {
			r.o.Trace.Seeds = append(r.o.Trace.Seeds, Seed{Node: nodeOf(s.ID), Weight: s.Weight})
		}
	}
	src, err := newSource(r.g, &r.ids, &r.t, r.o.Via, r.o.Against)
	if err != nil {
		return err
	}
	defer src.release()
	src.screen = r.screen
	params := activation.Params{
		Residual: r.t.Residual, Depth: r.o.Depth, Factor: src.factor, EdgesPerNode: r.t.EdgesPerNode,
		Unsorted: true, NoPaths: !r.o.Explain,
	}
	if most := src.give(r.o.From); most > params.EdgesPerNode {
		params.EdgesPerNode, params.MaxNodes = most, givenNodes
	}
	r.spread, err = activation.Steps(r.ctx, src, seeds, params)
	if err != nil {
		return err
	}
	if r.o.Trace != nil {
		r.o.Trace.Limits = r.spread.Limits
	}
	return nil
}

// takeActivated makes candidates of all that the spread reached.
func (r *run) takeActivated() {
	best := 0.0
	for _, a := range r.spread.Nodes {
		best = max(best, a.Activation)
	}
	for _, a := range r.spread.Nodes {
		c := r.candidates.of(nodeOf(a.ID))
		c.activation, c.received = a.Activation/best, a.Received
	}
}

// givenNodes bounds a spread from a hub that was asked for by name.
const givenNodes = 200_000

// seeds are the best hits and the nodes given. Of hits with equal scores those are
// taken whose external id is first.
func (r *run) seeds() []activation.Seed {
	hits := r.bestHits(r.t.Seeds)
	var seeds []activation.Seed
	for _, h := range hits {
		share := h.Score / hits[0].Score
		seeds = append(seeds, activation.Seed{ID: activation.ID(h.Node), Weight: math.Pow(share, r.t.SeedPower)})
	}
	for _, s := range r.o.From {
		if s.Weight > 0 {
			seeds = append(seeds, activation.Seed{ID: activation.ID(s.Node), Weight: s.Weight})
		}
	}
	if r.o.Self != 0 {
		seeds = append(seeds, activation.Seed{ID: activation.ID(r.o.Self), Weight: r.t.SelfSeed})
	}
	r.began = make(map[value.NodeID]bool, len(seeds))
	for _, s := range seeds {
		r.began[nodeOf(s.ID)] = true
	}
	return seeds
}

// bestHits returns the n best hits.
func (r *run) bestHits(n int) []access.TextHit {
	if len(r.hits) <= n {
		return r.hits
	}
	last := r.hits[n-1].Score
	if r.hits[n].Score < last {
		return r.hits[:n]
	}
	from := slices.IndexFunc(r.hits, func(h access.TextHit) bool { return h.Score == last })
	to := n
	for to < len(r.hits) && r.hits[to].Score == last {
		to++
	}
	equal := slices.Clone(r.hits[from:to])
	slices.SortFunc(equal, func(a, b access.TextHit) int { return r.ids.compare(a.Node, b.Node) })
	return append(slices.Clone(r.hits[:from]), equal[:n-from]...)
}
