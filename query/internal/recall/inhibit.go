package recall

import (
	"slices"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// inhibitors finds the edges that hold memories back.
type inhibitors struct {
	g        access.Reader
	types    map[value.TypeID]float64 // the inhibitory ones that have edges, with their usual weight
	own      value.KeyID              // by which an edge says so of itself
	weight   value.KeyID
	adjacent []access.Adjacent
}

// newInhibitors returns nil when no edge in the graph holds anything back.
func newInhibitors(g access.Reader) *inhibitors {
	words := &vocab.Vocabulary{}
	if r, ok := g.(access.VocabularyReader); ok {
		words = r.Vocabulary()
	}
	in := &inhibitors{g: g, types: map[value.TypeID]float64{}}
	for _, r := range words.All() {
		if t, ok := g.RelType(r.Name); ok && r.Inhibitory && g.EdgeCount(t) > 0 {
			in.types[t] = r.Weight
		}
	}
	in.own, _ = g.Key(vocab.KeyInhibitory)
	in.weight, _ = g.Key(vocab.KeyWeight)
	if len(in.types) == 0 && in.own == 0 {
		return nil
	}
	return in
}

// onto appends the inhibitory edges that end at a node.
func (in *inhibitors) onto(id value.NodeID, out []activation.Inhibition) ([]activation.Inhibition, error) {
	var types []value.TypeID
	if in.own == 0 {
		for t := range in.types {
			types = append(types, t)
		}
		slices.Sort(types)
	}
	var err error
	if in.adjacent, err = in.g.Expand(id, access.In, types, in.adjacent[:0]); err != nil {
		return out, err
	}
	for _, a := range in.adjacent {
		weight, holds := in.types[a.Type]
		if in.own != 0 {
			v, err := in.g.EdgeProp(a.Edge, in.own)
			if err != nil {
				return out, err
			}
			if v.Kind() == value.KindBool {
				if holds = v.AsBool(); weight == 0 {
					weight = 1
				}
			}
		}
		if !holds || a.Node == id {
			continue
		}
		if in.weight != 0 {
			v, err := in.g.EdgeProp(a.Edge, in.weight)
			if err != nil {
				return out, err
			}
			if v.IsNumber() {
				weight = v.AsFloat()
			}
		}
		out = append(out, activation.Inhibition{From: activation.ID(a.Node), To: activation.ID(id), Weight: weight})
	}
	return out, nil
}

// promoted ranks the candidates and lets those that hold others back do so: by
// contradicting them, or by saying the same. There is no threshold: who recalls
// asked for the best there are. What is in a layer that may not be kept down is not.
func (r *run) promoted() ([]ranked, error) {
	best, err := r.rank()
	if err != nil || len(best) == 0 {
		return best, err
	}
	rules, said := r.t.Promotion, newTexts(r.g, r.t.Promotion.Similar)
	in := newInhibitors(r.g)
	if rules.Inhibition == 0 {
		in = nil
	}
	copies := rules.Lateral > 0 && said.copies(best, rules.Similar)
	if in == nil && !copies {
		return best, said.err
	}
	limit := r.o.Limit
	r.o.Limit = 2*limit + 10 // what moves up stood behind the last row
	best, err = r.rank()
	r.o.Limit = limit
	if err != nil {
		return nil, err
	}
	return r.promote(best, in, said, copies)
}

// promote ranks anew what is held back.
func (r *run) promote(best []ranked, in *inhibitors, said *texts, copies bool) ([]ranked, error) {
	byID := make(map[activation.ID]int, len(best))
	var cs []activation.Candidate
	var edges []activation.Inhibition
	for i, x := range best {
		id := activation.ID(x.node)
		byID[id] = i
		cs = append(cs, activation.Candidate{ID: id, Activation: x.score / best[0].score, Salience: 1, Recency: 1, Relevance: 1})
		l, err := r.screen.layerOf(x.node)
		if err != nil {
			return nil, err
		}
		if in == nil || !l.Suppressible {
			continue
		}
		if edges, err = in.onto(x.node, edges); err != nil {
			return nil, err
		}
	}
	rules := r.t.Promotion
	rules.Exponent, rules.Capacity = 1, len(cs)
	similar := said.similar
	if !copies {
		similar = nil
	}
	out := make([]ranked, 0, len(best))
	top := best[0].score
	less := func(a, b activation.ID) bool { return r.ids.less(nodeOf(a), nodeOf(b)) }
	for _, d := range activation.Promote(cs, edges, similar, less, rules) {
		x := best[byID[d.ID]]
		if d.Held || d.Weight < d.Score {
			x.score, x.heldBy = top*d.Weight, nodeOf(d.By)
			x.copy = similar != nil && similar(d.By, d.ID) >= rules.Similar
		}
		out = append(out, x)
	}
	return out[:min(r.o.Limit, len(out))], said.err
}
