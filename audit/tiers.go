package audit

import (
	"fmt"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
)

// dayMS is a day in milliseconds.
const dayMS = 24 * 3600 * 1000

// Pressed is a node that thinking held back: how often, over all conversations.
type Pressed struct {
	Node  value.NodeID
	Count int
}

// tiersAndDecay distributes memories by tier, age and last use, and finds those that
// stay where they are for ever.
func tiersAndDecay() rule {
	return rule{
		name:  "tiers_and_decay",
		title: "Memories by tier, age and last use; Working ones that are stuck; what is held back; what nothing can bring up.",
		thresholds: []Threshold{{
			Name: "stuck_days", Default: 30, Min: 1, Max: 3650,
			Meaning: "Age and time without use, in days, from which a Working memory counts as stuck.",
		}},
		begin: func(a *audit) (work, error) {
			w := &tierWork{
				a: a, joined: newBits(a.shape.Slots()), tiers: map[string]int64{}, ages: map[int]int64{}, used: map[int]int64{},
				tier: a.want(vocab.KeyTier), status: a.want(vocab.KeyStatus), created: a.want(vocab.KeyCreatedAt), lastUsed: a.want(vocab.KeyLastUsed),
			}
			w.telemetry, _ = a.tx.Label(vocab.LabelTelemetry)
			w.verdict, _ = a.tx.Label(vocab.LabelVerdict)
			return work{edge: w.edge, record: w.record, end: w.end}, nil
		},
	}
}

type tierWork struct {
	a                               *audit
	tier, status, created, lastUsed value.KeyID
	telemetry, verdict              value.LabelID
	joined                          bits
	tiers                           map[string]int64
	ages, used                      map[int]int64 // by index of ageNames
	memories                        int64
	undated, ageless                int64 // that do not say when they were created: all, and Working ones
	stuck                           []value.NodeID
	unknown                         []hit // tiers that there are not
	mute                            []value.NodeID
}

// ageNames are the classes of ages, each up to ageDays; useNames has one more, for what
// was never used.
var (
	ageDays  = []int64{1, 7, 30, 365}
	ageNames = []string{"under a day", "under a week", "under 30 days", "under a year", "a year and more", "never"}
)

func ageClass(ms int64) int {
	for i, d := range ageDays {
		if ms < d*dayMS {
			return i
		}
	}
	return len(ageDays)
}

const neverUsed = 5 // in ageNames

func (w *tierWork) edge(e edge) {
	if e.from != e.to {
		w.joined.set(e.from)
		w.joined.set(e.to)
	}
}

// record counts nodes that have a tier, and are neither telemetry nor verdicts.
func (w *tierWork) record(r *record) error {
	tier := r.Prop(w.tier)
	if tier.IsNull() || slices.Contains(r.Labels, w.telemetry) && w.telemetry != 0 || slices.Contains(r.Labels, w.verdict) && w.verdict != 0 {
		return nil
	}
	w.memories++
	name := tier.AsString()
	if tier.Kind() != value.KindString {
		name = tier.String()
	}
	w.tiers[name]++
	created, dated := momentOf(r.Prop(w.created))
	age := w.a.o.Now - created
	if dated {
		w.ages[ageClass(age)]++
	} else {
		w.undated++
		if name == vocab.TierWorking {
			w.ageless++
		}
	}
	last, _ := momentOf(r.Prop(w.lastUsed))
	last = max(last, w.a.tx.Activity(r.ID).LastUsed)
	idle := w.a.o.Now - last
	if last == 0 {
		w.used[neverUsed]++
	} else {
		w.used[ageClass(idle)]++
	}
	if s := r.Prop(w.status); s.Kind() == value.KindString && s.AsString() != vocab.StatusActive {
		return nil
	}
	return w.judge(r, tier, name, dated, age, idle)
}

// judge decides on a memory that is active.
func (w *tierWork) judge(r *record, tier value.Value, name string, dated bool, age, idle int64) error {
	limit := int64(w.a.threshold("stuck_days") * dayMS)
	if name == vocab.TierWorking && dated && age >= limit && idle >= limit {
		w.stuck = append(w.stuck, r.ID)
	}
	if tier.Kind() != value.KindString || !knownTier(name) {
		w.unknown = append(w.unknown, hit{r.ID, "its tier is " + tier.String() + ", which is none, so that nothing moves it to another"})
		return nil
	}
	if w.joined.has(r.slot) {
		return nil
	}
	text, err := w.a.tx.HasText(r.ID)
	if err == nil && !text {
		w.mute = append(w.mute, r.ID)
	}
	return err
}

func knownTier(name string) bool {
	return name == vocab.TierWorking || name == vocab.TierEpisodic || name == vocab.TierCanonical
}

func (w *tierWork) end(f *Finding) error {
	a := w.a
	f.How = fmt.Sprintf("exact: over the %d nodes with a tier that are neither telemetry nor verdicts", w.memories)
	for _, name := range unionKeys(w.tiers, nil) {
		f.part("tier", name, w.tiers[name], "")
	}
	for i, name := range ageNames {
		if n := w.ages[i]; n > 0 {
			f.part("age", name, n, "")
		}
	}
	for i, name := range ageNames {
		if n := w.used[i]; n > 0 {
			f.part("last used", name, n, "")
		}
	}
	f.measure("memories", w.memories, "nodes")
	f.measure("without_creation_time", w.undated, "nodes")
	var stuck any = int64(len(w.stuck))
	if w.ageless > 0 && w.ageless == w.tiers[vocab.TierWorking] {
		stuck = nil // nobody knows how old they are
	}
	f.measure("stuck_working", stuck, "nodes")
	f.measure("never_promoted", len(w.unknown)+len(w.mute), "nodes")
	w.pressure(f)
	if err := w.suggest(f); err != nil {
		return err
	}
	w.note(f)
	hits := slices.Clone(w.unknown)
	for _, id := range w.stuck {
		hits = append(hits, hit{id, fmt.Sprintf("Working and unused for %g days and more", a.threshold("stuck_days"))})
	}
	for _, id := range w.mute {
		hits = append(hits, hit{id, "it has neither text nor an edge, so that nothing can bring it up"})
	}
	return a.listHits(f, hits)
}

func (w *tierWork) note(f *Finding) {
	var parts []string
	if n := len(w.stuck); n > 0 {
		parts = append(parts, fmt.Sprintf("%s not used for %g days and never moved on: CONSOLIDATE does that",
			amount(n, "Working memory was", "Working memories were"), w.a.threshold("stuck_days")))
	}
	if n := len(w.unknown); n > 0 {
		parts = append(parts, amount(n, "has", "have")+" a tier that there is not")
	}
	if n := len(w.mute); n > 0 {
		parts = append(parts, amount(n, "has neither text nor an edge, so that nothing can bring it up", "have neither text nor an edge, so that nothing can bring them up"))
	}
	switch {
	case len(parts) > 0:
		f.Status = Notice
		f.Note = "Of those with a tier, " + strings.Join(parts, "; ") + "."
	case w.memories == 0:
		f.Note = "No node has a tier."
	default:
		f.Note = "Every memory is in a tier that there is, and none is stuck."
	}
	if w.undated > 0 {
		f.Note += " " + amount(w.undated, "does not say when it was created, so that its age is unknown, and time alone does not move it.",
			"do not say when they were created, so that their age is unknown, and time alone moves none of them.")
	}
}

// pressure tells how much thinking holds back: state of this process.
func (w *tierWork) pressure(f *Finding) {
	if w.a.o.Pressed == nil {
		f.measure("held_back", nil, "nodes")
		f.measure("most_pressure", nil, "times")
		return
	}
	n, most := 0, 0
	for _, p := range *w.a.o.Pressed {
		if p.Count > 0 {
			n++
			most = max(most, p.Count)
		}
	}
	f.measure("held_back", n, "nodes")
	f.measure("most_pressure", most, "times")
	f.How += "; what is held back is state of this process, since it was started"
}

func (w *tierWork) suggest(f *Finding) error {
	a := w.a
	if !a.o.Suggest {
		return nil
	}
	for _, h := range w.unknown {
		ext, err := a.tx.ElementID(h.id)
		if err != nil {
			return err
		}
		v, err := a.prop(h.id, vocab.KeyTier)
		if err != nil {
			return err
		}
		a.suggest(f, fmt.Sprintf("MATCH (m {id: %s}) SET m.tier = %s", quoted(ext), quoted(likelyTier(v))))
	}
	var ids []string
	for _, id := range w.stuck {
		ext, err := a.tx.ElementID(id)
		if err != nil {
			return err
		}
		ids = append(ids, quoted(ext))
		if len(ids) == maxSuggestions {
			break
		}
	}
	if len(ids) > 0 {
		a.suggest(f, "CONSOLIDATE WHERE node.id IN ["+strings.Join(ids, ", ")+"] TO Episodic")
	}
	for _, id := range w.mute {
		ext, err := a.tx.ElementID(id)
		if err != nil {
			return err
		}
		a.suggest(f, "FORGET "+quoted(ext))
	}
	return nil
}

// likelyTier is the tier that another name is near to, else the first one.
func likelyTier(v value.Value) string {
	if v.Kind() == value.KindString {
		for _, t := range []string{vocab.TierWorking, vocab.TierEpisodic, vocab.TierCanonical} {
			if distance(strings.ToLower(v.AsString()), strings.ToLower(t)) <= 2 {
				return t
			}
		}
	}
	return vocab.TierWorking
}
