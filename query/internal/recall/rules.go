package recall

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is a leg or a rule of recall that can be switched off by itself, for
// measuring what it is good for (engramd bench recall --ablation). Every part of
// recall that changes scores has one.
type Rule struct {
	Name  string
	About string // what it does, in a few words
	off   func(*Legs, *Tuning)
}

// Rules are all rules, legs first.
func Rules() []Rule {
	return []Rule{
		{"lexical", "leg: the words of the query", func(l *Legs, _ *Tuning) { l.NoLexical = true }},
		{"semantic", "leg: what means much the same as the query", func(l *Legs, _ *Tuning) { l.NoSemantic = true }},
		{"associative", "leg: what is joined to the best hits", func(l *Legs, _ *Tuning) { l.NoAssociative = true }},
		{"title", "a memory whose title the query names counts more", func(_ *Legs, t *Tuning) { t.Title = 0 }},
		{"context", "what contains many hits lifts what it contains", func(_ *Legs, t *Tuning) { t.Context = 0 }},
		{"agreement", "similarity in meaning counts more where its container has many hits", func(_ *Legs, t *Tuning) { t.SemanticAgreed = 0 }},
		{"window", "what stands beside a hit, or answers it, gets a share", func(_ *Legs, t *Tuning) { t.WindowHits = 0 }},
		{"window-second", "a share goes one step of order further", func(_ *Legs, t *Tuning) { t.Window2 = 0 }},
		{"window-answers", "a question's answers get a share", func(_ *Legs, t *Tuning) { t.WindowAnswer = 0 }},
		{"window-semantic", "shares are of similarity in meaning too", func(_ *Legs, t *Tuning) { t.WindowSemantic = 0 }},
		{"speaker", "a speaker whom the query names counts more", func(_ *Legs, t *Tuning) { t.Speaker = 0 }},
		{"date", "a memory of a time that the query names, such as last week, counts more", func(_ *Legs, t *Tuning) { t.Date = 0 }},
		{"factors", "relations spread by type and direction, not all alike", func(_ *Legs, t *Tuning) {
			t.Factors = map[string][2]float64{contains: t.Factors[contains]}
		}},
		{"containers", "nothing spreads through containers", func(_ *Legs, t *Tuning) {
			t.Factors = without(t.Factors, contains)
		}},
		{"decay", "steps after the first spread less", func(_ *Legs, t *Tuning) { t.Decay, t.DecayTransitive = 1, 1 }},
		{"decay-transitive", "order in time spreads further than other relations", func(_ *Legs, t *Tuning) { t.DecayTransitive = t.Decay }},
		{"learned", "what was learned from use adds to the weights of relations", func(_ *Legs, t *Tuning) { t.Learned = 0 }},
		{"salience", "importance, confidence and use weigh", func(_ *Legs, t *Tuning) { t.Promotion.Factors.Salience = 0 }},
		{"recency", "what was used or stored lately weighs more", func(_ *Legs, t *Tuning) { t.Promotion.Factors.Recency = 0 }},
		{"inhibition", "what is contradicted weighs less", func(_ *Legs, t *Tuning) { t.Promotion.Inhibition = 0 }},
		{"duplicates", "what says the same as another weighs less", func(_ *Legs, t *Tuning) { t.Promotion.Lateral = 0 }},
		{"seed-power", "strong seeds weigh over proportion", func(_ *Legs, t *Tuning) { t.SeedPower = 1 }},
	}
}

func without(factors map[string][2]float64, name string) map[string][2]float64 {
	out := make(map[string][2]float64, len(factors))
	for k, v := range factors {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// SwitchOff returns legs, and the default tuning, without the named rules.
func SwitchOff(legs Legs, names []string) (Legs, *Tuning, error) {
	if len(names) == 0 {
		return legs, nil, nil
	}
	t := DefaultTuning()
	rules := Rules()
	for _, name := range names {
		i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
		if i < 0 {
			var known []string
			for _, r := range rules {
				known = append(known, r.Name)
			}
			return Legs{}, nil, fmt.Errorf("recall has no rule %q to switch off; there are %s", name, strings.Join(known, ", "))
		}
		rules[i].off(&legs, &t)
	}
	return legs, &t, nil
}
