package activation

import (
	"context"
	"math"
	"slices"
)

// Steps spreads from the seeds in Depth synchronous steps: whatever arrives at a
// node stays there, and a copy goes on over each of its edges, times weight and
// factor and divided by the square root of the number of edges, so that a hub
// says little about each neighbour but not nothing. Edges count by strength: the
// strongest as 1, one half as strong as a half. Restart is not used.
//
// Unlike Spread, amounts do not add up to a whole: the strongest seed counts as
// 1, and a neighbour may gather more than that from several. That is what makes
// them fit to be added to another score. It is spreading activation in the sense
// of Collins and Loftus (1975) with a fan effect (Anderson 1974), bounded in
// steps, since without a bound it would forget where it began.
func Steps(ctx context.Context, src Source, seeds []Seed, params Params) (*Result, error) {
	p, err := params.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &spread{src: src, p: p, restart: restartUnit, res: newResult()}
	if err := s.plant(seeds, heaviest(seeds)); err != nil {
		return nil, err
	}
	for s.step = 1; s.step <= p.Depth && !s.full; s.step++ {
		moved, err := s.copyAll(ctx)
		if err != nil {
			return nil, err
		}
		if !moved {
			break
		}
	}
	return s.settle(), nil
}

func heaviest(seeds []Seed) float64 {
	best := 0.0
	for _, s := range seeds {
		best = max(best, s.Weight)
	}
	return best
}

// copyAll keeps what arrived in the last step and hands on copies of it.
func (s *spread) copyAll(ctx context.Context) (bool, error) {
	frontier := s.frontier()
	if len(frontier) == 0 {
		return false, nil
	}
	amounts := make([]uint64, len(frontier))
	for k, i := range frontier {
		st := &s.res.nodes[i]
		amounts[k] = st.residual
		st.kept += st.residual
		st.residual = 0
	}
	return true, s.visit(ctx, frontier, func(k int, edges []Edge) {
		s.copyOn(frontier[k], amounts[k], edges)
	})
}

func (s *spread) copyOn(from int32, amount uint64, edges []Edge) {
	edges, total := s.open(edges)
	if total == 0 || !s.afford(len(edges)) {
		return
	}
	s.makeRoom(edges)
	strong := slices.Max(s.res.factors[:len(edges)])
	fan := uint64(float64(factorOne) / math.Sqrt(float64(total)/float64(strong)))
	for k, e := range edges {
		share := mulDiv(amount, mulDiv(s.res.factors[k], fan, factorOne), factorOne)
		if float64(share) < s.p.Residual*float64(one) {
			continue
		}
		if to, ok := s.touch(e.To); ok {
			s.arrive(to, from, e, share)
		}
	}
}

// limits lists the bounds that were met, in the order of their constants.
func (s *spread) limits() []Limit {
	var out []Limit
	for _, l := range []struct {
		hit   bool
		limit Limit
	}{{s.hitNodes, LimitNodes}, {s.hitEdges, LimitEdges}, {s.hitPerNode, LimitEdgesPerNode}} {
		if l.hit {
			out = append(out, l.limit)
		}
	}
	return slices.Clip(out)
}
