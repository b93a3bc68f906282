package activation

import (
	"math"
	"time"
)

// Memory is what is known of a memory besides where it stands. The zero value is
// one of which nothing was said.
type Memory struct {
	Importance    float64 // 0 to 1
	HasImportance bool    // false: 0.5
	Confidence    float64 // 0 to 1
	HasConfidence bool    // false: 1
	Uses          int64
	// Age is the time since it was stored, Idle since it was used last, or stored
	// when it never was. Times ahead of the reference count as none.
	Age, Idle time.Duration
	HasTime   bool    // false: nothing is known of either
	Tier      string  // Working, Episodic, Canonical, or anything else
	Decay     float64 // how fast it fades, a factor; 0: 1
}

// Factors are the constants that weigh memories. A factor of 1 is neutral: it is
// what a memory has of which nothing was said, so that a graph imported without
// importance, use or times ranks by relevance alone.
type Factors struct {
	// Salience and Recency are the exponents of the two factors; 0 switches one off.
	Salience, Recency float64
	// Importance is how far an importance of 1 raises, and one of 0 lowers, the
	// salience; Confidence how far one of 0 lowers it; Use how far use raises it at
	// most.
	Importance, Confidence, Use float64
	// UseDecay is the d of ACT-R's base level.
	UseDecay float64
	// RecencyFloor is what is left of recency after an eternity. Fresh is how long
	// it fades exponentially, by the time constant FreshScale; then it fades by the
	// power OldPower of time.
	RecencyFloor      float64
	Fresh, FreshScale time.Duration
	OldPower          float64
	// TierDecay says how fast the tiers fade; others like 1.
	TierDecay map[string]float64
}

// DefaultFactors are the factors of RECALL, ACTIVATE and COMPILE.
//
// They are small on purpose: what was asked decides, and importance, use and age
// between what fits about as well. Forgetting is exponential for a week and a
// power law from then on (Wixted and Ebbesen 1991); what has become canonical
// fades ten times as slowly as what was just noted.
func DefaultFactors() Factors {
	return Factors{
		Salience: 1, Recency: 1,
		Importance: 0.2, Confidence: 0.5, Use: 0.3, UseDecay: 0.5,
		RecencyFloor: 0.8, Fresh: 7 * day, FreshScale: 14 * day, OldPower: 0.5,
		TierDecay: map[string]float64{"Working": 1, "Episodic": 0.5, "Canonical": 0.1},
	}
}

const day = 24 * time.Hour

// BaseLevel is the base-level activation of ACT-R by its optimised learning
// (Anderson and Lebiere 1998): ln(n/(1-d)) - d·ln(L) for n uses over a life of L
// days, at least one. Without a use it is minus infinity.
func BaseLevel(uses int64, age time.Duration, d float64) float64 {
	if uses <= 0 {
		return math.Inf(-1)
	}
	return math.Log(float64(uses)/(1-d)) - d*math.Log(max(age.Hours()/24, 1))
}

// SalienceOf is how much a memory matters by itself, 1 for one of which nothing
// was said: importance against the usual 0.5, doubt, and use, whose base level is
// mapped to 0 to 1 by the logistic function.
func (f Factors) SalienceOf(m Memory) float64 {
	s := 1.0
	if m.HasImportance {
		s *= 1 + 2*f.Importance*(unit(m.Importance)-0.5)
	}
	if m.HasConfidence {
		s *= 1 - f.Confidence*(1-unit(m.Confidence))
	}
	if m.Uses > 0 {
		s *= 1 + f.Use/(1+math.Exp(-BaseLevel(m.Uses, m.Age, f.UseDecay)))
	}
	return s
}

// RecencyOf is 1 for a memory just used, or without times, and falls to the floor.
func (f Factors) RecencyOf(m Memory) float64 {
	if !m.HasTime || m.Idle <= 0 {
		return 1
	}
	decay, ok := f.TierDecay[m.Tier]
	if !ok {
		decay = 1
	}
	if m.Decay > 0 {
		decay *= m.Decay
	}
	t, fresh := m.Idle.Hours()*decay, f.Fresh.Hours()
	left := math.Exp(-min(t, fresh) / f.FreshScale.Hours())
	if t > fresh {
		left *= math.Pow(fresh/t, f.OldPower)
	}
	return f.RecencyFloor + (1-f.RecencyFloor)*left
}

// Weigh is salience and recency to their exponents.
func (f Factors) Weigh(salience, recency float64) float64 {
	return power(salience, f.Salience) * power(recency, f.Recency)
}

func power(x, e float64) float64 {
	switch e {
	case 0:
		return 1
	case 1:
		return x
	}
	return math.Pow(x, e)
}

func unit(x float64) float64 { return min(max(x, 0), 1) }

// Thresholds say how much of the strongest activation a memory needs to come to
// mind, by kind and tier.
type Thresholds struct {
	Labels map[string]float64
	Tiers  map[string]float64
	Other  float64
}

// DefaultThresholds: what keeps people safe comes up at a touch, what was merely
// noted needs more than the rest.
func DefaultThresholds() Thresholds {
	return Thresholds{
		Labels: map[string]float64{"Safety": 0.05, "Lesson": 0.25, "Note": 0.40},
		Tiers:  map[string]float64{"Canonical": 0.15},
		Other:  0.30,
	}
}

// Of returns the lowest threshold that applies, Other when none does.
func (t Thresholds) Of(labels []string, tier string) float64 {
	least, found := t.Tiers[tier]
	for _, l := range labels {
		if x, ok := t.Labels[l]; ok && (!found || x < least) {
			least, found = x, true
		}
	}
	if !found {
		return t.Other
	}
	return least
}
