package logical

import (
	"math"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// boolType is the static type of a predicate.
var boolType = bound.OneOf(value.KindBool)

// estimator guesses how many rows a step of a pattern yields.
type estimator struct {
	g     Graph
	preds []bound.Expr
}

func newEstimator(g Graph, preds []bound.Expr) estimator { return estimator{g: g, preds: preds} }

// Without statistics a graph is taken to have this many nodes, a tenth of them
// under each label, and edges to each.
const (
	guessNodes  = 10_000
	guessDegree = 10
	// eqShare and filterShare are the part of the rows that an equality and any
	// other predicate are taken to keep.
	eqShare     = .05
	filterShare = .4
)

// start is the estimated number of nodes to look at when slot is scanned first.
func (e estimator) start(have Slots, slot int) float64 {
	rows := e.nodes("")
	share := 1.0
	for _, p := range e.preds {
		if label, ok := labelTest(p, slot); ok {
			rows = math.Min(rows, e.nodes(label))
			continue
		}
		if _, _, ok := idTest(p, slot, have); ok {
			return 1
		}
		if reads := SlotsOf(p); reads.Has(slot) && have.With(slot).Covers(reads) {
			share *= predShare(p)
		}
	}
	rows *= .5 + .5*share // a scan costs, whatever the filter keeps
	if seek, n := e.nodeIndex(e.preds, slot, have); seek != nil {
		rows = math.Min(rows, n+1)
	}
	return rows
}

func predShare(p bound.Expr) float64 {
	if b, ok := p.(*bound.Binary); ok && b.Op == syntax.OpEq {
		return eqShare
	}
	return filterShare
}

func (e estimator) nodes(label string) float64 {
	if e.g == nil {
		if label == "" {
			return guessNodes
		}
		return guessNodes / 10
	}
	if label == "" {
		return float64(e.g.NodeCount(0))
	}
	id, ok := e.g.Label(label)
	if !ok {
		return 0
	}
	return float64(e.g.NodeCount(id))
}

// fanout is the estimated number of rows that following s makes of one.
func (e estimator) fanout(have Slots, s *step) float64 {
	from, to := s.left, s.right
	if !have.Has(from) {
		from, to = to, from
	}
	degree := e.degree(s, from, to)
	for _, p := range e.preds {
		if _, counted := labelTest(p, to); counted && degree.byLabel {
			continue
		}
		if reads := SlotsOf(p); reads.Has(to) && have.With(to, s.rel.Slot).Covers(reads) {
			degree.n *= predShare(p)
		}
	}
	if s.rel.VarLength {
		return math.Pow(math.Max(degree.n, 2), 3)
	}
	return degree.n
}

// degree is an estimated number of edges at a node.
type degree struct {
	n       float64
	byLabel bool // the labels of the other end are counted in
}

// degree is how many edges of s there are for a node at from, on an average.
func (e estimator) degree(s *step, from, to int) degree {
	if e.g == nil {
		n := float64(guessDegree)
		if s.rel.Dir == syntax.Undirected {
			n *= 2
		}
		return degree{n: n}
	}
	out, in := s.rel.Dir != syntax.RelIn, s.rel.Dir != syntax.RelOut
	if from != s.left {
		out, in = in, out
	}
	edges, byLabel := 0.0, true
	for _, t := range e.types(s) {
		n, ok := e.edgesBetween(from, t, to, out, in)
		edges, byLabel = edges+n, byLabel && ok
	}
	return degree{n: edges / math.Max(1, e.holders(from)), byLabel: byLabel}
}

// types are the types that a step follows, as far as there are such; 0 for any.
func (e estimator) types(s *step) []value.TypeID {
	if len(s.rel.Types) == 0 {
		return []value.TypeID{0}
	}
	var out []value.TypeID
	for _, t := range s.rel.Types {
		if id, ok := e.g.RelType(t); ok {
			out = append(out, id)
		}
	}
	return out
}

// edgesBetween is how many edges of a type there are between nodes with the labels
// demanded of two slots, and whether the labels of to are counted in.
func (e estimator) edgesBetween(from int, t value.TypeID, to int, out, in bool) (n float64, byLabel bool) {
	pairs, ok := e.g.(access.PairCounter)
	if !ok {
		return e.edges(t, out && in), false
	}
	least := math.Inf(1)
	for _, a := range e.labelIDs(from) {
		for _, b := range e.labelIDs(to) {
			n := int64(0)
			if out {
				found, known := pairs.EdgesBetween(a, t, b)
				n, ok = n+found, ok && known
			}
			if in {
				found, known := pairs.EdgesBetween(b, t, a)
				n, ok = n+found, ok && known
			}
			least = math.Min(least, float64(n))
		}
	}
	if !ok {
		return e.edges(t, out && in), false
	}
	return least, true
}

// edges is how many edges of a type there are, seen from one end or from both.
func (e estimator) edges(t value.TypeID, both bool) float64 {
	n := float64(e.g.EdgeCount(t))
	if both {
		n *= 2
	}
	return n
}

// noLabel is a label that no node has.
const noLabel = value.LabelID(1<<32 - 1)

// labelIDs are the labels demanded of a slot; 0, for any, when there is none.
func (e estimator) labelIDs(slot int) []value.LabelID {
	var out []value.LabelID
	for _, name := range labelsOf(e.preds, slot) {
		id, ok := e.g.Label(name)
		if !ok {
			id = noLabel
		}
		out = append(out, id)
	}
	if len(out) == 0 {
		return []value.LabelID{0}
	}
	return out
}

// holders is how many nodes the edges at slot are taken to be spread over: those
// of the rarest label it must have. Edges of a type mostly begin, and end, at
// nodes of one label.
func (e estimator) holders(slot int) float64 {
	n := e.nodes("")
	for _, label := range labelsOf(e.preds, slot) {
		n = math.Min(n, e.nodes(label))
	}
	return n
}

// labelTest tells whether p tests slot for one plain label.
func labelTest(p bound.Expr, slot int) (string, bool) {
	h, ok := p.(*bound.HasLabels)
	if !ok {
		return "", false
	}
	s, ok := h.E.(*bound.Slot)
	if !ok || s.Index != slot {
		return "", false
	}
	l, ok := h.Labels.(*syntax.LabelName)
	if !ok {
		return "", false
	}
	return l.Text, true
}

// idTest tells whether p is slot.id = e or slot.id IN e where e only reads
// slots of have.
func idTest(p bound.Expr, slot int, have Slots) (e bound.Expr, in, ok bool) {
	b, isBinary := p.(*bound.Binary)
	if !isBinary || b.Op != syntax.OpEq && b.Op != syntax.OpIn {
		return nil, false, false
	}
	if isID(b.L, slot) && usable(b.R, slot, have) {
		return b.R, b.Op == syntax.OpIn, true
	}
	if b.Op == syntax.OpEq && isID(b.R, slot) && usable(b.L, slot, have) {
		return b.L, false, true
	}
	return nil, false, false
}

func isID(e bound.Expr, slot int) bool {
	p, ok := e.(*bound.Prop)
	if !ok || p.Key != "id" {
		return false
	}
	s, ok := p.E.(*bound.Slot)
	return ok && s.Index == slot
}

func usable(e bound.Expr, slot int, have Slots) bool {
	reads := SlotsOf(e)
	return !reads.Has(slot) && have.Covers(reads)
}
