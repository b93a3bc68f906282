package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// Activated is a node that ACTIVATE reached.
type Activated struct {
	Node         value.NodeID
	Activation   float64 // share of the strongest, 0 to 1
	Weight       float64 // in working memory, if it is promoted
	Promoted     bool
	SuppressedBy value.NodeID // what held it back most; 0: nothing
	Reason       string       // why it was not promoted, or that structure promoted it
	Path         *value.Path
}

// Mind is the working memory of a conversation.
type Mind interface {
	Pressure(activation.ID) int
	MostPressure() int // of any node
	Take([]activation.Decision, func(a, b activation.ID) bool)
}

// DefaultActivated is how many nodes ACTIVATE returns at most unless told otherwise.
const DefaultActivated = 64

// Activate spreads from the nodes of o.From and decides what of it comes to mind.
// mind, when not nil, takes that in. The promoted come first, then by weight, ties
// by external id.
func Activate(ctx context.Context, g access.Reader, o Options, mind Mind) ([]Activated, error) {
	if o.Limit == 0 {
		o.Limit = DefaultActivated
	}
	r := newRun(ctx, g, o)
	defer r.release()
	r.screen = newScreen(g, o.Filter, o.Now)
	r.weigher = newWeigher(g, &r.t, o.Now)
	if len(r.seeds()) == 0 {
		return nil, nil
	}
	if err := r.spreadOut(); err != nil {
		return nil, err
	}
	if r.spread == nil {
		return nil, nil // the leg is off
	}
	p := newPromotion(r, mind)
	if err := p.gather(o.Limit); err != nil {
		return nil, err
	}
	decisions, err := p.decide()
	if err != nil {
		return nil, err
	}
	if mind != nil {
		mind.Take(decisions, p.less)
	}
	return p.activated(decisions[:min(len(decisions), o.Limit)])
}

// promotion gathers what could come to mind.
type promotion struct {
	r          *run
	mind       Mind // or nil
	thresholds activation.Thresholds
	labels     map[value.LabelID]string // those with a threshold
	tier       value.KeyID
	cs         []activation.Candidate
	texts      *texts
}

func newPromotion(r *run, mind Mind) *promotion {
	usual := activation.DefaultRules()
	p := &promotion{r: r, mind: mind, thresholds: activation.DefaultThresholds(), labels: map[value.LabelID]string{}, texts: newTexts(r.g, usual.Similar)}
	for name := range p.thresholds.Labels {
		if l, ok := r.g.Label(name); ok {
			p.labels[l] = name
		}
	}
	p.tier, _ = r.g.Key(vocab.KeyTier)
	return p
}

func (p *promotion) less(a, b activation.ID) bool { return p.r.ids.less(nodeOf(a), nodeOf(b)) }

// gather takes the activated nodes, strongest first, as long as one could be
// promoted or be among the rows.
func (p *promotion) gather(limit int) error {
	nodes := p.r.spread.Nodes
	b := spareBuffers.Get().(*buffers)
	defer spareBuffers.Put(b)
	b.bounds = b.bounds[:0]
	for i, a := range nodes {
		b.bounds = append(b.bounds, bounded{a.Activation, int32(i)})
	}
	queue := boundQueue{items: b.bounds}
	queue.build()
	most := 1.0
	if p.r.weigher != nil {
		most = p.r.weigher.most()
	}
	rules := &p.r.t.Promotion
	least := p.least()
	last, counted := 0.0, 0 // the weight of the last row, of the first counted candidates
	p.cs = make([]activation.Candidate, 0, min(len(nodes), firstCandidates))
	strongest := 0.0
	for queue.next() {
		a := nodes[queue.top().index]
		strongest = max(strongest, a.Activation) // the first is
		bound := a.Activation / strongest * most
		if bound < least && len(p.cs) >= limit {
			if counted == 0 || len(p.cs) >= counted+max(limit/4, 4) { // now and then: it only rises
				last, counted = p.lastWeight(limit, rules), len(p.cs)
			}
			if bound < last {
				return nil
			}
		}
		c := activation.Candidate{ID: a.ID, Activation: a.Activation / strongest, Relevance: 1}
		if err := p.add(c); err != nil {
			return err
		}
	}
	return nil
}

// firstCandidates is for how many candidates there is room at first.
const firstCandidates = 128

// least is the lowest threshold that any node could have.
func (p *promotion) least() float64 {
	least := p.thresholds.Other
	if p.r.screen.layer != 0 {
		least = min(least, p.r.t.Promotion.Override)
	}
	if p.tier != 0 {
		for _, t := range p.thresholds.Tiers {
			least = min(least, t)
		}
	}
	for _, name := range p.labels {
		least = min(least, p.thresholds.Labels[name])
	}
	if p.mind != nil {
		least *= p.r.t.Promotion.Lowered(p.mind.MostPressure())
	}
	return least
}

func (p *promotion) lastWeight(limit int, rules *activation.Rules) float64 {
	weights := make([]float64, len(p.cs))
	for i := range p.cs {
		weights[i] = rules.ScoreOf(&p.cs[i])
	}
	slices.Sort(weights)
	return weights[len(weights)-limit]
}

// add completes a candidate and takes it, unless it is left out.
func (p *promotion) add(c activation.Candidate) error {
	id := nodeOf(c.ID)
	if !p.r.g.NodeExists(id) {
		return nil
	}
	x, err := p.r.dropped(id)
	if err != nil {
		return err
	}
	if x != Kept {
		p.r.drop(id, x)
		return nil
	}
	if c.Salience == 0 {
		c.Salience, c.Recency = 1, 1
		if p.r.weigher != nil {
			if c.Salience, c.Recency, err = p.r.weigher.of(id); err != nil {
				return err
			}
		}
	}
	if c.Threshold, err = p.threshold(id); err != nil {
		return err
	}
	layer, err := p.r.screen.layerOf(id)
	if err != nil {
		return err
	}
	c.Structural = !layer.Suppressible
	if p.mind != nil {
		c.Pressure = p.mind.Pressure(c.ID)
	}
	p.cs = append(p.cs, c)
	return nil
}

func (p *promotion) threshold(id value.NodeID) (float64, error) {
	tier, err := p.r.screen.prop(id, p.tier)
	if err != nil {
		return 0, err
	}
	var names []string
	for l, name := range p.labels {
		if p.r.g.HasLabel(id, l) {
			names = append(names, name)
		}
	}
	return p.thresholds.Of(names, tier.AsString()), nil
}

// decide promotes.
func (p *promotion) decide() ([]activation.Decision, error) {
	rules := p.r.t.Promotion
	if usual := activation.DefaultRules(); rules.Lateral > 0 { // the tuning has those of rows
		rules.Similar, rules.Lateral = usual.Similar, usual.Lateral
	}
	var edges []activation.Inhibition
	if in := newInhibitors(p.r.g); in != nil && rules.Inhibition > 0 {
		for i := range p.cs {
			c := &p.cs[i]
			if rules.ScoreOf(c) < rules.ThresholdOf(c) {
				continue
			}
			var err error
			if edges, err = in.onto(nodeOf(c.ID), edges); err != nil {
				return nil, err
			}
		}
	}
	similar := p.texts.similar
	if rules.Lateral == 0 {
		similar = nil
	}
	out := activation.Promote(p.cs, edges, similar, p.less, rules)
	return out, cmp.Or(p.texts.err, p.r.ids.err)
}

// activated makes the rows of decisions.
func (p *promotion) activated(decisions []activation.Decision) ([]Activated, error) {
	background := make(map[activation.ID]float64, len(p.cs))
	for i := range p.cs {
		background[p.cs[i].ID] = p.cs[i].Activation
	}
	out := make([]Activated, len(decisions))
	for i, d := range decisions {
		a := Activated{Node: nodeOf(d.ID), Activation: background[d.ID], Weight: d.Weight, Promoted: d.Reason == activation.Promoted, Reason: string(d.Reason)}
		if d.Held {
			a.SuppressedBy = nodeOf(d.By)
		}
		if d.Overridden {
			a.Reason = "promoted by its layer"
		}
		if p.r.o.Explain {
			var err error
			if a.Path, err = p.r.path(a.Node); err != nil {
				return nil, err
			}
		}
		out[i] = a
	}
	return out, nil
}

// contentOf returns the first of some properties that has text.
func contentOf(g access.Reader, id value.NodeID, keys []value.KeyID) (string, error) {
	for _, k := range keys {
		if k == 0 {
			continue
		}
		v, err := g.NodeProp(id, k)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(v.AsString()) != "" {
			return v.AsString(), nil
		}
	}
	return "", nil
}
