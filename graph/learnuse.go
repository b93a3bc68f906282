package graph

import (
	"math"

	"engram/graph/internal/learn"
	"engram/graph/internal/store"
	"engram/graph/value"
	"engram/graph/vocab"
)

// OriginLearned marks edges that were made by learning. What they assert weighs
// nothing: all they have was learned.
const OriginLearned = "learned"

// LearnResult counts what became of uses.
type LearnResult struct {
	Written int // uses that were noted
	Refused int // uses of what is not there any more, or does not learn
}

// Learn notes that memories were used: how often and when, and by Oja's rule how
// strongly those that were used together belong together. Two without an edge
// get one when that happened three times within seven days. Telemetry and verdicts
// do not learn. Nothing of a node's record is touched.
func (tx *Tx) Learn(uses []value.Use) (LearnResult, error) {
	var out LearnResult
	l, err := tx.learning()
	if err != nil {
		return out, err
	}
	for _, u := range uses {
		nodes := tx.learners(u.Nodes)
		if len(nodes) == 0 {
			out.Refused++
			continue
		}
		for _, n := range nodes {
			tx.noteUse(n.Node, u.At)
		}
		if err := tx.strengthenAll(nodes[:min(len(nodes), learn.Group)], u.At); err != nil {
			return out, err
		}
		out.Written++
		if err := tx.charge(40 * len(nodes)); err != nil {
			return out, err
		}
	}
	l.count.Written += uint64(out.Written)
	l.count.Refused += uint64(out.Refused)
	if !l.settles {
		l.count.Lost += tx.db.lostUses()
		l.settles = true
	}
	return out, nil
}

// learners are those of the nodes that are there and learn, each once.
func (tx *Tx) learners(nodes []value.UsedNode) []value.UsedNode {
	var out []value.UsedNode
	seen := map[value.NodeID]bool{}
	for _, n := range nodes {
		if seen[n.Node] || !tx.NodeExists(n.Node) || tx.labelled(n.Node, vocab.LabelTelemetry) || tx.labelled(n.Node, vocab.LabelVerdict) {
			continue
		}
		seen[n.Node] = true
		n.Strength = min(max(n.Strength, 0), 1)
		out = append(out, n)
	}
	return out
}

func (tx *Tx) labelled(id value.NodeID, label string) bool {
	l, ok := tx.Label(label)
	return ok && tx.HasLabel(id, l)
}

func (tx *Tx) noteUse(id value.NodeID, at int64) {
	a := &tx.activityBucket(uint64(id) / learn.PerBucket)[uint64(id)%learn.PerBucket]
	if a.Uses == math.MaxUint32 {
		return
	}
	tx.w.learn.events = append(tx.w.learn.events, learn.Event{At: at, Kind: learn.Used, Element: uint64(id), Before: a.Last})
	a.Uses++
	a.Last = max(a.Last, at)
}

// strengthenAll looks at each pair of nodes that were used together.
func (tx *Tx) strengthenAll(nodes []value.UsedNode, at int64) error {
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if a.Seed && b.Seed {
				continue
			}
			joined, edges, err := tx.edgesBetween(a.Node, b.Node)
			if err != nil {
				return err
			}
			for _, e := range edges {
				x, y := a.Strength, b.Strength
				if !e.Out {
					x, y = y, x
				}
				if err := tx.strengthen(e.Edge, x, y, at); err != nil {
					return err
				}
			}
			if !joined {
				if err := tx.together(a, b, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// edgesBetween returns the edges between two nodes that can be strengthened, as seen
// from a, and whether there is any edge at all.
func (tx *Tx) edgesBetween(a, b value.NodeID) (joined bool, edges []value.Adjacent, err error) {
	from, to, turned := a, b, false
	if tx.topo.Degree(a, value.Both, nil) > tx.topo.Degree(b, value.Both, nil) {
		from, to, turned = b, a, true
	}
	all, err := tx.Expand(from, value.Both, nil, nil)
	if err != nil {
		return false, nil, err
	}
	for _, e := range all {
		if e.Node != to {
			continue
		}
		joined = true
		if tx.plastic(e.Edge, e.Type) {
			e.Out = e.Out != turned
			edges = append(edges, e)
		}
	}
	return joined, edges, nil
}

// plastic reports whether an edge may be strengthened: one that holds back or
// replaces says nothing about belonging together.
func (tx *Tx) plastic(id value.EdgeID, t value.TypeID) bool {
	name := tx.RelTypeName(t)
	if r, ok := tx.vocab.Lookup(name); name == vocab.Supersedes || ok && r.Inhibitory {
		return false
	}
	s, ok := tx.topo.EdgeSlot(id)
	return ok && !tx.topo.InhibitorySlot(s)
}

func (tx *Tx) strengthen(id value.EdgeID, x, y float64, at int64) error {
	src, _, _, _ := tx.topo.EdgeEnds(id)
	out, err := tx.learnedOut(src)
	if err != nil {
		return err
	}
	b, err := tx.weightsBucket(uint64(id) / learn.PerBucket)
	if err != nil {
		return err
	}
	units := learn.Strengthen(b[uint64(id)%learn.PerBucket], x, y, out)
	if units == 0 {
		return nil
	}
	l := tx.w.learn
	l.out[src] = out + int64(units)
	l.events = append(l.events, learn.Event{At: at, Kind: learn.Strengthened, Element: uint64(id), Units: units})
	return tx.addWeight(id, units)
}

// learnedOut sums what was learned for the edges that leave a node, in units.
func (tx *Tx) learnedOut(src value.NodeID) (int64, error) {
	if sum, ok := tx.w.learn.out[src]; ok {
		return sum, nil
	}
	all, err := tx.Expand(src, value.Out, nil, nil)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, e := range all {
		sum += int64(learn.Units(tx.LearnedWeight(e.Edge)))
	}
	tx.w.learn.out[src] = sum
	return sum, nil
}

// together notes that two nodes without an edge were used together, and makes one
// between them when that was often enough.
func (tx *Tx) together(a, b value.UsedNode, at int64) error {
	lo, hi := min(a.Node, b.Node), max(a.Node, b.Node)
	k := weightsKey(weightsPair, uint64(lo), uint64(hi))
	payload, err := tx.learnRecord(store.Weights, k)
	if err != nil {
		return err
	}
	var p learn.Pair
	if payload != nil {
		if p, err = learn.DecodePair(payload); err != nil {
			return tx.damaged(store.Weights, k, err)
		}
	}
	next, enough := learn.Observe(p, at)
	l := tx.w.learn
	if !enough {
		l.other[string(k)] = learn.AppendPair(nil, next)
		return tx.charge(64)
	}
	l.other[string(k)] = nil
	id, err := tx.linkLearned(a.Node, b.Node)
	if id == 0 || err != nil {
		return err
	}
	l.events = append(l.events, learn.Event{At: at, Kind: learn.Linked, Element: uint64(id)})
	return tx.strengthen(id, a.Strength, b.Strength, at)
}

// linkLearned makes the edge of a pair; 0 when the vocabulary does not allow it.
func (tx *Tx) linkLearned(a, b value.NodeID) (value.EdgeID, error) {
	t, err := tx.InternRelType(vocab.Activates)
	if err != nil {
		return 0, err
	}
	if tx.checkRelation(t, a, b) != nil {
		return 0, nil
	}
	weight, err := tx.InternKey(vocab.KeyWeight)
	if err != nil {
		return 0, err
	}
	origin, err := tx.InternKey(vocab.KeyOrigin)
	if err != nil {
		return 0, err
	}
	return tx.CreateEdge(a, b, t, []value.KeyProp{
		{Key: weight, Value: value.Float(0)}, {Key: origin, Value: value.String(OriginLearned)},
	})
}
