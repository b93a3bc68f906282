package recall

import (
	"context"
	"fmt"

	"engram/graph/value"
	"engram/query/internal/access"
)

// WhyNot tells whether a recall returns a node, and in a line why not, or where it
// stands.
func WhyNot(ctx context.Context, g access.Reader, o Options, node value.NodeID) (recalled bool, reason string, err error) {
	r := newRun(ctx, g, o)
	limit := max(r.o.Limit, 0)
	r.o.Limit = max(limit, 1)
	if err := r.find(); err != nil {
		return false, "", err
	}
	at := r.candidates.index(node)
	if x, err := r.outside(node); x != Kept || err != nil {
		return false, r.excluded(x, node), err
	}
	if at < 0 {
		return false, r.unreached(node), r.ids.err
	}
	r.o.Limit = len(r.candidates.all) + 1
	ranks, err := r.promoted()
	if err != nil {
		return false, "", err
	}
	for i, x := range ranks {
		if x.node != node {
			continue
		}
		if x.score <= 0 {
			return false, "score 0" + r.heldBack(x), nil
		}
		if limit == 0 {
			return false, fmt.Sprintf("rank %d of %d, score %.4f; LIMIT 0 asks for no row%s", i+1, len(ranks), x.score, r.heldBack(x)), nil
		}
		if i < limit {
			return true, fmt.Sprintf("rank %d of %d, score %.4f%s", i+1, len(ranks), x.score, r.heldBack(x)), nil
		}
		return false, fmt.Sprintf("rank %d of %d, score %.4f; the last of the %d rows has %.4f%s",
			i+1, len(ranks), x.score, limit, ranks[limit-1].score, r.heldBack(x)), nil
	}
	return false, "it shares no word with the query, and no activation came to it over edges that spread", nil
}

// outside is what keeps a node out whatever its score.
func (r *run) outside(node value.NodeID) (Exclusion, error) {
	if ok, err := r.g.HasText(node); !ok || err != nil {
		return WithoutText, err
	}
	return r.dropped(node)
}

// excluded words an exclusion.
func (r *run) excluded(x Exclusion, node value.NodeID) string {
	switch x {
	case WithoutText:
		return "it has no text, so it is no memory"
	case DroppedByWhere:
		return "WHERE leaves it out"
	case IsSuperseded:
		s := "it is superseded"
		if chain, err := r.screen.succession(node, r.ids.less); err == nil && len(chain) > 0 {
			s += " by " + r.ids.of(chain[len(chain)-1].Node)
		}
		return s + "; INCLUDING SUPERSEDED, or AS OF a time when it held, finds it"
	case IsForgotten:
		return "it is forgotten; INCLUDING FORGOTTEN finds it, RESTORE brings it back"
	case IsTelemetry:
		return "it is telemetry; INCLUDING TELEMETRY finds it"
	case IsVerdict:
		return "it is a verdict; INCLUDING VERDICTS finds it"
	case InAnotherLayer:
		l, _ := r.screen.layerOf(node)
		return "it is in the layer " + l.Name + ", which IN LAYERS does not name"
	}
	return "it is " + string(x)
}

// reach is how many hops WhyNot looks further at most.
const reach = 6

// unreached says from where on a node would have been reached.
func (r *run) unreached(node value.NodeID) string {
	s := fmt.Sprintf("it shares no word with the query, and activation does not reach it within DEPTH %d", r.o.Depth)
	if r.spread == nil {
		return s + ": nothing was activated"
	}
	for depth := r.o.Depth + 1; depth <= reach; depth++ {
		again := *r
		again.o.Depth, again.candidates, again.o.Trace = depth, candidates{}, nil
		if again.associative() == nil && again.candidates.index(node) >= 0 {
			return s + fmt.Sprintf("; within %d it would", depth)
		}
	}
	return s
}

func (r *run) heldBack(x ranked) string {
	switch {
	case x.copy:
		return "; it says the same as " + r.ids.of(x.heldBy)
	case x.heldBy == 0:
		return ""
	}
	return "; inhibited by " + r.ids.of(x.heldBy)
}

// index returns the position of a node's candidate, -1 when it is none.
func (c *candidates) index(id value.NodeID) int {
	if len(c.slots) == 0 {
		return -1
	}
	return int(c.slots[c.spot(id)]) - 1
}
