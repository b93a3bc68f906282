// Package activation spreads activation from seeds over typed, weighted edges.
// It knows no database: it reads a graph through the Source it declares, and
// writes nothing.
//
//	res, err := activation.Spread(ctx, src, []activation.Seed{{ID: 7, Weight: 1}}, activation.Params{Depth: 2})
//	for _, a := range res.Nodes { fmt.Println(a.ID, a.Activation, res.Path(a.ID)) }
//
// Results are the same to the bit for the same records, whatever the order they
// were stored in: amounts are fixed-point integers, whose sum does not depend
// on the order of addition, rounds are synchronous, and ties are broken by the
// Source's own order of ids.
package activation

import (
	"context"
	"errors"
	"fmt"
)

// ID names a node of a Source.
type ID uint64

// Edge is one edge seen from a node.
type Edge struct {
	Edge   uint64  // the edge's own id, for paths
	To     ID      // the other end
	Type   uint32  // relation type, as the Source numbers them
	Out    bool    // the edge leaves the node it was seen from
	Weight float64 // 0 to 2: at most 1 asserted and 1 learned; outside values are clamped
}

// Source is the graph that activation spreads over.
type Source interface {
	// Edges calls visit for each of ids, in order, with its edges in any order.
	// The slice given to visit is valid during the call only.
	Edges(ctx context.Context, ids []ID, visit func(i int, edges []Edge) error) error
	// Less orders nodes by external id; it breaks ties. It may be slow: it is asked
	// only where a tie matters.
	Less(a, b ID) bool
}

// Sizer is what a Source may offer besides: a bound on the edges that Edges would
// visit of some nodes. It spares putting nodes in order where no limit can be met.
type Sizer interface {
	Size(ids []ID) int
}

// Seed is a node that activation starts from. Weights are relative: they are
// normalised to sum to 1. A weight that is not a positive, finite number is an
// error.
type Seed struct {
	ID     ID
	Weight float64
}

// Params tune a spread. The zero value of each field takes the default.
type Params struct {
	// Restart is the share of its activation that a node keeps at every push,
	// 0 < Restart < 1; default 0.3. It bounds how far activation travels.
	Restart float64
	// Residual is the smallest share of all activation, per edge followed, that
	// is still pushed on; default 1e-5.
	Residual float64
	// Depth is how many hops activation travels at most, 1 to 16; default 2.
	Depth int
	// Factor scales an edge by its type and direction, and by the step, from 1,
	// in which activation goes over it; nil: 1 for all. A factor of 0 closes the
	// edge. Values are clamped to 0 to 16.
	Factor func(step int, relType uint32, out bool) float64
	// EdgesPerNode caps the edges followed from one node, strongest first;
	// default 256. Edges as strong as the last one are followed too, up to 16 times
	// the cap; of more than that, which nothing tells apart, none is.
	EdgesPerNode int
	// MaxNodes and MaxEdges bound the whole spread; defaults 20,000 and 200,000.
	MaxNodes, MaxEdges int
	// NoPaths spares keeping the strongest ways: Path knows none.
	NoPaths bool
	// Unsorted leaves Result.Nodes in no particular order, for callers that rank
	// what they get by something else.
	Unsorted bool
}

// Activated is a node that activation reached.
type Activated struct {
	ID         ID
	Activation float64 // share of all activation, 0 to 1
	Received   float64 // the part of Activation that came over edges
	Seed       bool
}

// Limit names a bound that a spread ran into.
type Limit string

// The limits.
const (
	LimitNodes        Limit = "nodes"
	LimitEdges        Limit = "edges"
	LimitEdgesPerNode Limit = "edges per node"
)

// Step is one hop of a path: over Edge, which leaves the earlier node when Out.
type Step struct {
	Edge uint64
	Out  bool
	To   ID
}

// Path is the strongest way activation came to a node: from a seed, step by
// step. A seed's own path has no steps.
type Path struct {
	From  ID
	Steps []Step
}

// ErrNoSeeds is returned when there is nothing to start from.
var ErrNoSeeds = errors.New("activation: no seeds")

const (
	one         = uint64(1) << 40 // all the activation there is
	factorOne   = uint64(1) << 16 // an edge factor of 1
	factorMax   = 16.0
	weightMax   = 2.0
	restartUnit = uint64(1) << 16
)

func (p Params) withDefaults() (Params, error) {
	if p.Restart == 0 {
		p.Restart = 0.3
	}
	if p.Residual == 0 {
		p.Residual = 1e-5
	}
	if p.Depth == 0 {
		p.Depth = 2
	}
	if p.EdgesPerNode == 0 {
		p.EdgesPerNode = 256
	}
	if p.MaxNodes == 0 {
		p.MaxNodes = 20_000
	}
	if p.MaxEdges == 0 {
		p.MaxEdges = 200_000
	}
	switch {
	case !(p.Restart > 0 && p.Restart < 1):
		return p, fmt.Errorf("activation: restart %v is not between 0 and 1", p.Restart)
	case !(p.Residual > 0 && p.Residual < 1):
		return p, fmt.Errorf("activation: residual %v is not between 0 and 1", p.Residual)
	case p.Depth < 1 || p.Depth > 16:
		return p, fmt.Errorf("activation: depth %d is not between 1 and 16", p.Depth)
	case p.EdgesPerNode < 0 || p.MaxNodes < 0 || p.MaxEdges < 0:
		return p, errors.New("activation: a limit is negative")
	}
	return p, nil
}
