package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
)

// When a memory grows into the next tier. A day makes an episode of what was at
// work; to be known for good it has to have lasted, been of use again and again, and
// stand in connection with other things.
const (
	EpisodicSeconds  = 24 * 3600
	EpisodicUses     = 2
	CanonicalSeconds = 30 * 24 * 3600
	CanonicalUses    = 5
	CanonicalLinks   = 2
	// DuplicateFloor is the Overlap from which two memories are proposed as saying
	// the same.
	DuplicateFloor = 0.85
)

// Finding is one thing that CONSOLIDATE did, or would do.
type Finding struct {
	Action string // "promote" or "duplicate"
	Node   value.NodeID
	Other  value.NodeID // of a duplicate: the older of the two; else 0
	From   string       // tier
	To     string       // tier; "" for a duplicate
	Reason string
}

// Consolidation says what to consolidate.
type Consolidation struct {
	Nodes  []value.NodeID
	To     string // only into this tier; "": any
	DryRun bool   // only list
}

// Consolidate moves memories into the next tier where they are ripe for it, links
// those it moves into what exists, and proposes near-duplicates, which it leaves as
// they are. Telemetry, verdicts and what is forgotten or superseded stay out of it.
func Consolidate(g Graph, c Consolidation) ([]Finding, error) {
	if _, ok := tiers[c.To]; c.To != "" && (!ok || c.To == vocab.TierWorking) {
		return nil, refused("NoSuchTier", "memories are consolidated into %s or %s, not into %q", vocab.TierEpisodic, vocab.TierCanonical, c.To)
	}
	nodes, err := candidates(g, c.Nodes)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, id := range nodes {
		f, ripe, err := ripens(g, id)
		if err != nil {
			return nil, err
		}
		if !ripe || c.To != "" && f.To != c.To {
			continue
		}
		out = append(out, f)
		if c.DryRun {
			continue
		}
		if err := promote(g, f); err != nil {
			return nil, err
		}
	}
	twins, err := duplicates(g, nodes)
	return append(out, twins...), err
}

// tiers tells what follows a tier.
var tiers = map[string]string{
	vocab.TierWorking: vocab.TierEpisodic, vocab.TierEpisodic: vocab.TierCanonical, vocab.TierCanonical: "",
}

// candidates returns those that may be consolidated, each once, by external id.
func candidates(g Graph, nodes []value.NodeID) ([]value.NodeID, error) {
	ids := map[value.NodeID]string{}
	var out []value.NodeID
	for _, id := range nodes {
		if err := g.Step(1); err != nil {
			return nil, err
		}
		if _, seen := ids[id]; seen || !g.NodeExists(id) || labelled(g, id, vocab.LabelTelemetry) || labelled(g, id, vocab.LabelVerdict) {
			continue
		}
		now, err := status(g, id)
		if err != nil {
			return nil, err
		}
		if now != vocab.StatusActive {
			continue
		}
		if ids[id], err = g.ElementID(id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b value.NodeID) int { return cmp.Compare(ids[a], ids[b]) })
	return out, nil
}

// ripens tells whether a memory is ripe for the next tier, and why.
func ripens(g Graph, id value.NodeID) (f Finding, ripe bool, err error) {
	tier, err := prop(g, id, vocab.KeyTier)
	if err != nil {
		return f, false, err
	}
	f = Finding{Action: "promote", Node: id, From: tier.AsString(), To: tiers[tier.AsString()]}
	if f.To == "" {
		return f, false, nil
	}
	age, err := seconds(g, id)
	if err != nil {
		return f, false, err
	}
	uses, err := Uses(g, id)
	if err != nil {
		return f, false, err
	}
	links, err := ties(g, id)
	if err != nil {
		return f, false, err
	}
	switch f.To {
	case vocab.TierEpisodic:
		ripe = age >= EpisodicSeconds || uses >= EpisodicUses
	case vocab.TierCanonical:
		ripe = age >= CanonicalSeconds && uses >= CanonicalUses && links >= CanonicalLinks
	}
	f.Reason = fmt.Sprintf("%s old, used %s, %s", count(age/(24*3600), "day"), count(uses, "time"), count(int64(links), "link"))
	return f, ripe, nil
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// seconds is how long ago a memory was created; 0 when it does not say.
func seconds(g Graph, id value.NodeID) (int64, error) {
	v, err := prop(g, id, vocab.KeyCreatedAt)
	if err != nil || v.Kind() != value.KindDateTime {
		return 0, err
	}
	return max(g.Now().Seconds-v.AsDateTime().Seconds, 0), nil
}

// Uses is how often a memory was used: as its property says, and as was learned.
func Uses(g access.Reader, id value.NodeID) (int64, error) {
	v, err := prop(g, id, vocab.KeyUses)
	n := int64(0)
	if v.Kind() == value.KindInt {
		n = v.AsInt()
	}
	if l, ok := under(g).(access.LearningReader); ok && err == nil {
		n += l.Activity(id).Uses
	}
	return n, err
}

// ties counts the other nodes that a memory is joined with, but for what merely
// contains or precedes it.
func ties(g Graph, id value.NodeID) (int, error) {
	all, err := g.Expand(id, access.Both, nil, nil)
	if err != nil {
		return 0, err
	}
	others := map[value.NodeID]bool{}
	for _, e := range all {
		if t := g.RelTypeName(e.Type); t != vocab.Contains && t != vocab.Precedes && t != vocab.Supersedes && e.Node != id {
			others[e.Node] = true
		}
	}
	return len(others), g.Step(len(all))
}

func promote(g Graph, f Finding) error {
	if err := set(g, f.Node, value.Prop{Key: vocab.KeyTier, Value: value.String(f.To)}); err != nil {
		return err
	}
	text, err := content(g, f.Node)
	if err != nil || text == "" {
		return err
	}
	matches, err := Matches(g, text)
	if err != nil {
		return err
	}
	_, err = Associate(g, f.Node, matches)
	return err
}

// duplicates proposes pairs that say nearly the same: each memory with those of the
// others that its own words find.
func duplicates(g Graph, nodes []value.NodeID) ([]Finding, error) {
	rank := make(map[value.NodeID]int, len(nodes))
	for i, id := range nodes {
		rank[id] = i
	}
	var out []Finding
	for i, id := range nodes {
		text, err := content(g, id)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		matches, err := Matches(g, text)
		if err != nil {
			return nil, err
		}
		if err := g.Step(candidatesAsked); err != nil {
			return nil, err
		}
		for _, m := range matches {
			if j, there := rank[m.Node]; !there || j >= i || m.Score < DuplicateFloor {
				continue
			}
			older, newer := m.Node, id
			if older > newer {
				older, newer = newer, older
			}
			tier, err := prop(g, newer, vocab.KeyTier)
			if err != nil {
				return nil, err
			}
			out = append(out, Finding{
				Action: "duplicate", Node: newer, Other: older, From: tier.AsString(),
				Reason: fmt.Sprintf("%.0f %% of their words are the same", 100*m.Score),
			})
		}
	}
	return out, nil
}
