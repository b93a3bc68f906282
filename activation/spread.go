package activation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Result is what a spread left behind.
type Result struct {
	// Nodes are all nodes with activation, strongest first, ties by the Source's
	// order.
	Nodes []Activated
	// Limits are the bounds that were met, each once, in the order of their
	// constants.
	Limits []Limit
	// EdgesFollowed counts edges that activation went over.
	EdgesFollowed int

	*scratch
}

// state is what is known of a touched node. Amounts are in units of 1/one.
type state struct {
	id       ID
	residual uint64 // arrived and not yet pushed
	incoming uint64 // arriving in the round at hand
	kept     uint64
	planted  uint64 // what a seed started with
	best     uint64 // strongest single contribution
	bestFrom int32  // where it came from; -1 for a seed
	bestEdge Edge
	seed     bool
}

// Spread computes personalised PageRank from the seeds by forward push
// (Andersen, Chung, Lang: Local graph partitioning using PageRank vectors, FOCS
// 2006), bounded to Depth rounds. In a round every node whose residual r is at
// least Residual times its number of edges keeps Restart·r and hands on the rest
// over its edges, in proportion to weight times factor; then all arrivals become
// residuals together. What is left at the end is settled where it lies, without
// spreading: kept += Restart·r.
func Spread(ctx context.Context, src Source, seeds []Seed, params Params) (*Result, error) {
	p, err := params.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &spread{src: src, p: p, restart: uint64(p.Restart * float64(restartUnit)), res: newResult()}
	if err := s.plant(seeds, 0); err != nil {
		return nil, err
	}
	for s.step = 1; s.step <= p.Depth && !s.full; s.step++ {
		pushed, err := s.round(ctx)
		if err != nil {
			return nil, err
		}
		if !pushed {
			break
		}
	}
	return s.settle(), nil
}

type spread struct {
	src     Source
	p       Params
	restart uint64
	step    int // the one at hand, from 1
	res     *Result
	full    bool // MaxEdges was met: no further rounds

	hitNodes, hitEdges, hitPerNode bool
}

// plant gives the seeds their shares of unit; unit 0 stands for their sum.
func (s *spread) plant(seeds []Seed, unit float64) error {
	sum := 0.0
	for _, seed := range seeds {
		if !(seed.Weight > 0) || math.IsInf(seed.Weight, 0) {
			return fmt.Errorf("activation: seed %d has weight %v, want a positive number", seed.ID, seed.Weight)
		}
	}
	// Weights are summed in their own order, so that the sum has the same bits for
	// the same seeds in any order.
	ordered := slices.Clone(seeds)
	slices.SortFunc(ordered, func(a, b Seed) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, seed := range ordered {
		sum += seed.Weight
	}
	if len(ordered) == 0 {
		return ErrNoSeeds
	}
	if unit != 0 {
		sum = unit
	}
	if len(ordered) > s.p.MaxNodes {
		s.orderSeeds(ordered)
	}
	for _, seed := range ordered {
		i, ok := s.touch(seed.ID)
		if !ok {
			continue
		}
		st := &s.res.nodes[i]
		planted := uint64(seed.Weight / sum * float64(one))
		st.residual += planted
		st.planted += planted
		st.seed = true
	}
	return nil
}

// orderSeeds puts seeds in order where some may find no room.
func (s *spread) orderSeeds(seeds []Seed) {
	slices.SortStableFunc(seeds, func(a, b Seed) int {
		if a.Weight != b.Weight {
			return cmp.Compare(b.Weight, a.Weight)
		}
		return s.compare(a.ID, b.ID)
	})
}

// compare is the Source's order.
func (s *spread) compare(a, b ID) int {
	switch {
	case a == b:
		return 0
	case s.src.Less(a, b):
		return -1
	}
	return 1
}

// touch finds or makes the state of a node; false means MaxNodes is reached.
func (s *spread) touch(id ID) (int32, bool) {
	if i, ok := s.res.index.get(id); ok {
		return i, true
	}
	if len(s.res.nodes) >= s.p.MaxNodes {
		s.hitNodes = true
		return 0, false
	}
	i := int32(len(s.res.nodes))
	s.res.nodes = append(s.res.nodes, state{id: id, bestFrom: -1})
	s.res.index.put(id, i)
	return i, true
}

// round pushes every node that has residual and reports whether there was one.
func (s *spread) round(ctx context.Context) (bool, error) {
	frontier := s.frontier()
	if len(frontier) == 0 {
		return false, nil
	}
	return true, s.visit(ctx, frontier, func(k int, edges []Edge) { s.push(frontier[k], edges) })
}

// visit hands the edges of every node of the frontier to fn, and then turns what
// arrived into residuals.
func (s *spread) visit(ctx context.Context, frontier []int32, fn func(k int, edges []Edge)) error {
	err := s.src.Edges(ctx, s.idsOf(frontier), func(k int, edges []Edge) error {
		if !s.full {
			fn(k, edges)
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("activation: reading edges: %w", err)
	}
	for i := range s.res.nodes {
		st := &s.res.nodes[i]
		st.residual += st.incoming
		st.incoming = 0
	}
	return nil
}

func (s *spread) idsOf(nodes []int32) []ID {
	ids := s.res.ids[:0]
	for _, i := range nodes {
		ids = append(ids, s.res.nodes[i].id)
	}
	s.res.ids = ids
	return ids
}

// frontier lists the nodes with residual. Where a limit could be met they are
// sorted, strongest first, so that what it cuts off is the weakest and is the same in
// any insertion order; elsewhere their order changes nothing.
func (s *spread) frontier() []int32 {
	least := uint64(s.p.Residual * float64(one))
	var out []int32
	for i := range s.res.nodes {
		if s.res.nodes[i].residual > least {
			out = append(out, int32(i))
		}
	}
	if s.roomFor(out) {
		return out
	}
	slices.SortFunc(out, func(a, b int32) int {
		x, y := &s.res.nodes[a], &s.res.nodes[b]
		if x.residual != y.residual {
			return cmp.Compare(y.residual, x.residual)
		}
		return s.compare(x.id, y.id)
	})
	return out
}

// roomFor reports whether following all edges of some nodes meets no limit.
func (s *spread) roomFor(frontier []int32) bool {
	edges := len(frontier) * s.p.EdgesPerNode * tiesAllowed
	if sizer, ok := s.src.(Sizer); ok {
		edges = min(edges, sizer.Size(s.idsOf(frontier)))
	}
	return s.res.EdgesFollowed+edges <= s.p.MaxEdges && len(s.res.nodes)+edges <= s.p.MaxNodes
}

func (s *spread) push(from int32, edges []Edge) {
	edges, total := s.open(edges)
	r := s.res.nodes[from].residual
	if total == 0 || float64(r) < s.p.Residual*float64(one)*float64(len(edges)) {
		return
	}
	if !s.afford(len(edges)) {
		return
	}
	s.makeRoom(edges)
	st := &s.res.nodes[from]
	st.residual = 0
	st.kept += r * s.restart / restartUnit
	onward := r - r*s.restart/restartUnit
	for k, e := range edges {
		share := mulDiv(onward, s.res.factors[k], total)
		if share == 0 {
			continue
		}
		to, ok := s.touch(e.To)
		if !ok {
			continue
		}
		s.arrive(to, from, e, share)
	}
}

// afford counts edges to follow; false means that MaxEdges ends the spread.
func (s *spread) afford(edges int) bool {
	if s.res.EdgesFollowed+edges > s.p.MaxEdges {
		s.hitEdges, s.full = true, true
		return false
	}
	s.res.EdgesFollowed += edges
	return true
}

// makeRoom sorts edges, strongest first, when some may find no room: then those
// are the weakest.
func (s *spread) makeRoom(edges []Edge) {
	if len(s.res.nodes)+len(edges) > s.p.MaxNodes {
		sort.Sort(&strongest{edges, s.res.factors, s.src})
	}
}

func (s *spread) arrive(to, from int32, e Edge, share uint64) {
	st := &s.res.nodes[to]
	st.incoming += share
	if s.p.NoPaths || st.seed || share < st.best {
		return
	}
	if share == st.best && st.bestFrom >= 0 && !s.earlier(from, e, st) {
		return
	}
	if s.leadsBack(from, to) {
		return
	}
	st.best, st.bestFrom, st.bestEdge = share, from, e
}

// earlier breaks a tie between two equally strong ways to st: the origin that
// is first in the Source's order, then the lower edge id.
func (s *spread) earlier(from int32, e Edge, st *state) bool {
	was, now := s.res.nodes[st.bestFrom].id, s.res.nodes[from].id
	if was == now {
		return parallelLess(e, st.bestEdge)
	}
	return s.src.Less(now, was)
}

// leadsBack reports whether the strongest way to from already goes through to,
// so that taking it would make the path a loop.
func (s *spread) leadsBack(from, to int32) bool {
	for i := from; i >= 0; i = s.res.nodes[i].bestFrom {
		if i == to {
			return true
		}
	}
	return false
}

// tiesAllowed is how many times EdgesPerNode are followed at most where the edges at
// the cap are equally strong.
const tiesAllowed = 16

// open gives each edge its factor, drops closed ones, and of too many keeps the
// strongest. It changes edges. The factors are left in s.res.factors.
func (s *spread) open(edges []Edge) ([]Edge, uint64) {
	kept := edges[:0]
	s.res.factors = s.res.factors[:0]
	for _, e := range edges {
		if f := s.factor(e); f > 0 {
			kept, s.res.factors = append(kept, e), append(s.res.factors, f)
		}
	}
	if len(kept) > s.p.EdgesPerNode {
		s.hitPerNode = true
		kept = s.capped(kept)
	}
	var total uint64
	for _, f := range s.res.factors {
		total += f
	}
	return kept, total
}

// capped keeps the strongest edges. Edges as strong as the last one that has room stay
// or go together: a choice among equals would say nothing, and asking for their
// ids would cost more than all the rest.
func (s *spread) capped(edges []Edge) []Edge {
	s.res.sorted = append(s.res.sorted[:0], s.res.factors...)
	least := nthLargest(s.res.sorted, s.p.EdgesPerNode)
	reaching := 0
	for _, f := range s.res.factors {
		if f >= least {
			reaching++
		}
	}
	if reaching > s.p.EdgesPerNode*tiesAllowed {
		least++
	}
	kept, n := edges[:0], 0
	for k, e := range edges {
		if s.res.factors[k] >= least {
			kept, s.res.factors[n] = append(kept, e), s.res.factors[k]
			n++
		}
	}
	s.res.factors = s.res.factors[:n]
	return kept
}

func (s *spread) factor(e Edge) uint64 {
	f := min(max(e.Weight, 0), weightMax)
	if s.p.Factor != nil {
		f = min(f*min(max(s.p.Factor(s.step, e.Type, e.Out), 0), factorMax), factorMax)
	}
	return uint64(f * float64(factorOne))
}

type strongest struct {
	edges   []Edge
	factors []uint64
	src     Source
}

func (s *strongest) Len() int { return len(s.edges) }
func (s *strongest) Less(i, j int) bool {
	if s.factors[i] != s.factors[j] {
		return s.factors[i] > s.factors[j]
	}
	if s.edges[i].To != s.edges[j].To {
		return s.src.Less(s.edges[i].To, s.edges[j].To)
	}
	return parallelLess(s.edges[i], s.edges[j])
}

// parallelLess orders edges between the same two nodes. Ids come last, since
// they depend on the order of insertion.
func parallelLess(a, b Edge) bool {
	switch {
	case a.Out != b.Out:
		return a.Out
	case a.Type != b.Type:
		return a.Type < b.Type
	}
	return a.Edge < b.Edge
}

func (s *strongest) Swap(i, j int) {
	s.edges[i], s.edges[j] = s.edges[j], s.edges[i]
	s.factors[i], s.factors[j] = s.factors[j], s.factors[i]
}

func (s *spread) settle() *Result {
	r := s.res
	r.Nodes = r.activated
	for i := range r.nodes {
		st := &r.nodes[i]
		st.kept += st.residual * s.restart / restartUnit
		if st.kept > 0 {
			r.Nodes = append(r.Nodes, Activated{
				ID: st.id, Activation: float64(st.kept) / float64(one),
				Received: float64(s.received(st)) / float64(one), Seed: st.seed,
			})
		}
	}
	r.activated = r.Nodes
	if !s.p.Unsorted {
		slices.SortFunc(r.Nodes, func(a, b Activated) int {
			if a.Activation != b.Activation {
				return cmp.Compare(b.Activation, a.Activation)
			}
			return s.compare(a.ID, b.ID)
		})
	}
	r.Limits = s.limits()
	return r
}

// received is what a node keeps of what came over edges. All that is ever at a
// node is kept by the same share, so what it keeps of its own start is known.
func (s *spread) received(st *state) uint64 {
	own := st.planted * s.restart / restartUnit
	if own > st.kept { // rounding
		return 0
	}
	return st.kept - own
}

// Activation returns the activation of a node, 0 when it was not reached.
func (r *Result) Activation(id ID) float64 {
	i, ok := r.index.get(id)
	if !ok {
		return 0
	}
	return float64(r.nodes[i].kept) / float64(one)
}

// Path returns the strongest way activation came to a node; false when it was
// not reached.
func (r *Result) Path(id ID) (Path, bool) {
	i, ok := r.index.get(id)
	if !ok {
		return Path{}, false
	}
	var back []Step
	for r.nodes[i].bestFrom >= 0 {
		st := &r.nodes[i]
		back = append(back, Step{Edge: st.bestEdge.Edge, Out: st.bestEdge.Out, To: st.id})
		i = st.bestFrom
	}
	path := Path{From: r.nodes[i].id}
	for k := len(back) - 1; k >= 0; k-- {
		path.Steps = append(path.Steps, back[k])
	}
	return path, true
}
