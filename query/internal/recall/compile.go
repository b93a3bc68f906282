package recall

import (
	"context"
	"fmt"

	"engram/activation"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// DefaultBudget is how many tokens COMPILE takes unless told otherwise.
const DefaultBudget = 1000

// Compiled is a text for a prompt.
type Compiled struct {
	Text   string
	Tokens int
	Nodes  []value.NodeID // whose texts are in it, in order
	// Considered came to mind; Delivered of them are in the text, Withheld are not.
	Considered, Delivered, Withheld int
	Rule                            string // by which that was decided
	// RestReachable tells that all that was withheld for want of room could be
	// recalled; false when some of it may not be put into a prompt.
	RestReachable bool
}

// Compile recalls for a query, decides what of it comes to mind and makes a text
// of at most budget tokens of that.
func Compile(ctx context.Context, g access.Reader, o Options, budget int) (*Compiled, error) {
	rules := activation.DefaultRules()
	o.Limit = rules.Capacity
	r := newRun(ctx, g, o)
	if err := r.find(); err != nil {
		return nil, err
	}
	best, err := r.rank()
	if err != nil {
		return nil, err
	}
	p := newPromotion(r, nil)
	for _, x := range best {
		// Salience and recency are in the score already.
		c := activation.Candidate{ID: activation.ID(x.node), Activation: x.score / best[0].score, Salience: 1, Recency: 1, Relevance: 1}
		if err := p.add(c); err != nil {
			return nil, err
		}
	}
	if err := p.addStructural(); err != nil {
		return nil, err
	}
	decisions, err := p.decide()
	if err != nil {
		return nil, err
	}
	return p.compile(decisions, budget)
}

// addStructural takes nodes of layers that may not be kept down, if they are
// activated enough, by their background; one that ranks takes the higher of both.
func (p *promotion) addStructural() error {
	if p.r.screen.layer == 0 {
		return nil
	}
	at := make(map[activation.ID]int, len(p.cs))
	for i := range p.cs {
		at[p.cs[i].ID] = i
	}
	for i := range p.r.candidates.all {
		c := &p.r.candidates.all[i]
		if c.activation < p.r.t.Promotion.Override {
			continue
		}
		layer, err := p.r.screen.layerOf(c.node)
		if err != nil {
			return err
		}
		if layer.Suppressible {
			continue
		}
		id := activation.ID(c.node)
		if k, ok := at[id]; ok {
			p.cs[k].Activation = max(p.cs[k].Activation, c.activation)
			continue
		}
		if err := p.add(activation.Candidate{ID: id, Activation: c.activation, Relevance: 1}); err != nil {
			return err
		}
	}
	return nil
}

// compile makes the text of what was promoted.
func (p *promotion) compile(decisions []activation.Decision, budget int) (*Compiled, error) {
	out := &Compiled{RestReachable: true}
	var keys []value.KeyID
	for _, name := range []string{vocab.KeyContent, "title", "name"} {
		k, _ := p.r.g.Key(name)
		keys = append(keys, k)
	}
	var passages []activation.Passage
	barred := 0
	for _, d := range decisions {
		if d.Reason != activation.Promoted {
			continue
		}
		out.Considered++
		id := nodeOf(d.ID)
		layer, err := p.r.screen.layerOf(id)
		if err != nil {
			return nil, err
		}
		if !layer.Injectable {
			barred++
			continue
		}
		text, err := contentOf(p.r.g, id, keys)
		if err != nil {
			return nil, err
		}
		passages = append(passages, activation.Passage{ID: d.ID, Text: text, Structural: !layer.Suppressible})
	}
	c := activation.Compile(passages, budget)
	out.Text, out.Tokens, out.Delivered = c.Text, c.Tokens, len(c.Nodes)
	for _, id := range c.Nodes {
		out.Nodes = append(out.Nodes, nodeOf(id))
	}
	out.Withheld = out.Considered - out.Delivered
	out.RestReachable = barred == 0
	out.Rule = rule(budget, barred, c.Cut)
	return out, nil
}

func rule(budget, barred int, cut bool) string {
	s := fmt.Sprintf("structure first, then by weight, whole memories as long as %d tokens last", budget)
	if cut {
		s += "; one had to be cut"
	}
	if barred > 0 {
		s += fmt.Sprintf("; %d in layers that may not be put into a prompt", barred)
	}
	return s
}
