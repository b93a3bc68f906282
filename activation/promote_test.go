package activation_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"engram/activation"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s = %.7f, want %.7f", what, got, want)
	}
}

const day = 24 * time.Hour

func TestSalience(t *testing.T) {
	f := activation.DefaultFactors()
	near(t, "nothing said", f.SalienceOf(activation.Memory{}), 1)
	near(t, "the usual importance", f.SalienceOf(activation.Memory{Importance: .5, HasImportance: true, Confidence: 1, HasConfidence: true}), 1)
	near(t, "importance 1", f.SalienceOf(activation.Memory{Importance: 1, HasImportance: true}), 1.2)
	near(t, "importance 0", f.SalienceOf(activation.Memory{HasImportance: true}), 0.8)
	near(t, "importance beyond 1", f.SalienceOf(activation.Memory{Importance: 7, HasImportance: true}), 1.2)
	near(t, "confidence .4", f.SalienceOf(activation.Memory{Confidence: .4, HasConfidence: true}), 0.7)
	// One use within a day: base level ln(1/.5) = .693147, logistic 2/3.
	near(t, "base level", activation.BaseLevel(1, time.Hour, .5), math.Log(2))
	near(t, "one use", f.SalienceOf(activation.Memory{Uses: 1, Age: time.Hour}), 1+.3*2/3)
	// Four uses in 16 days: ln 8 - .5 ln 16 = ln 2, the same.
	near(t, "four uses in 16 days", f.SalienceOf(activation.Memory{Uses: 4, Age: 16 * day}), 1.2)
	if !math.IsInf(activation.BaseLevel(0, day, .5), -1) {
		t.Error("without a use there is a base level")
	}
}

func TestRecency(t *testing.T) {
	f := activation.DefaultFactors()
	at := func(idle time.Duration, tier string, decay float64) float64 {
		return f.RecencyOf(activation.Memory{Idle: idle, HasTime: true, Tier: tier, Decay: decay})
	}
	near(t, "without times", f.RecencyOf(activation.Memory{Idle: 1e6 * time.Hour}), 1)
	near(t, "now", at(0, "", 0), 1)
	near(t, "ahead", at(-day, "", 0), 1)
	near(t, "7 days", at(7*day, "Working", 0), .8+.2*math.Exp(-.5))
	near(t, "28 days", at(28*day, "Working", 0), .8+.2*math.Exp(-.5)/2) // (7/28)^.5
	near(t, "14 days, episodic", at(14*day, "Episodic", 0), .8+.2*math.Exp(-.5))
	near(t, "70 days, canonical", at(70*day, "Canonical", 0), .8+.2*math.Exp(-.5))
	near(t, "3.5 days, fading twice as fast", at(84*time.Hour, "", 2), .8+.2*math.Exp(-.5))
	near(t, "weighed", f.Weigh(1.2, .9), 1.08)
	f.Salience, f.Recency = 0, 2
	near(t, "weighed by other exponents", f.Weigh(1.2, .9), .81)
}

func TestThresholds(t *testing.T) {
	th := activation.DefaultThresholds()
	for _, c := range []struct {
		labels []string
		tier   string
		want   float64
	}{
		{nil, "", .30},
		{[]string{"Memory"}, "Working", .30},
		{[]string{"Note"}, "", .40},
		{[]string{"Note", "Safety"}, "", .05},
		{[]string{"Lesson"}, "Canonical", .15},
		{[]string{"Note"}, "Canonical", .15},
	} {
		near(t, fmt.Sprint(c.labels, c.tier), th.Of(c.labels, c.tier), c.want)
	}
}

func less(a, b activation.ID) bool { return a < b }

// candidate is one with nothing but activation, and the usual threshold.
func candidate(id activation.ID, a float64) activation.Candidate {
	return activation.Candidate{ID: id, Activation: a, Salience: 1, Recency: 1, Relevance: 1, Threshold: .3}
}

// told writes decisions down: id weight, and what held it back.
func told(ds []activation.Decision) string {
	var out []string
	for _, d := range ds {
		s := fmt.Sprintf("%d %.3f", d.ID, d.Weight)
		if d.Reason != activation.Promoted {
			s += " " + string(d.Reason)
		}
		if d.Overridden {
			s += " overridden"
		}
		if d.Held {
			s += fmt.Sprintf(" by %d", d.By)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestPromote(t *testing.T) {
	structural := candidate(3, .06)
	structural.Structural = true
	faint := candidate(4, .04)
	faint.Structural = true
	pressed := candidate(2, .25)
	pressed.Pressure = 1 // threshold .3 × .8 = .24
	salient := candidate(2, .25)
	salient.Salience = 1.2 // .25 × 1.2 = .3
	cases := []struct {
		name  string
		cs    []activation.Candidate
		edges []activation.Inhibition
		want  string
	}{
		{"thresholds", []activation.Candidate{candidate(1, 1), candidate(2, .3), candidate(3, .29)}, nil, "1 1.000; 2 0.300; 3 0.290 below its threshold"},
		{"ties by id", []activation.Candidate{candidate(2, .5), candidate(1, .5)}, nil, "1 0.500; 2 0.500"},
		{"salience lifts over the threshold", []activation.Candidate{salient}, nil, "2 0.300"},
		{"pressure lowers the threshold", []activation.Candidate{pressed}, nil, "2 0.250"},
		{"a contradiction: .9 × (1 - .8)", []activation.Candidate{candidate(1, .9), candidate(2, .8)}, []activation.Inhibition{{From: 2, To: 1, Weight: 1}}, "2 0.800; 1 0.180 inhibited by 2"},
		{"a weak contradiction: .9 × (1 - .8 × .5)", []activation.Candidate{candidate(1, .9), candidate(2, .8)}, []activation.Inhibition{{From: 2, To: 1, Weight: .5}}, "2 0.800; 1 0.540 by 2"},
		{"of two that contradict each other the stronger is left", []activation.Candidate{candidate(1, .7), candidate(2, .8)}, []activation.Inhibition{{From: 2, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}}, "2 0.800; 1 0.140 inhibited by 2"},
		{"who is kept down holds nobody back", []activation.Candidate{candidate(1, .9), candidate(2, .8), candidate(3, .7)}, []activation.Inhibition{{From: 3, To: 2, Weight: 1}, {From: 2, To: 1, Weight: 1}}, "1 0.900; 3 0.700; 2 0.240 inhibited by 3"},
		{"nor does who is too weak itself", []activation.Candidate{candidate(1, .9), candidate(2, .2)}, []activation.Inhibition{{From: 2, To: 1, Weight: 1}}, "1 0.900; 2 0.200 below its threshold"},
		{"two together: 1 - .4 - .5, the stronger is named", []activation.Candidate{candidate(1, 1), candidate(2, .4), candidate(3, .5)}, []activation.Inhibition{{From: 2, To: 1, Weight: 1}, {From: 3, To: 1, Weight: 1}}, "3 0.500; 2 0.400; 1 0.100 inhibited by 3"},
		{"structure overrides", []activation.Candidate{candidate(1, 1), structural, faint}, nil, "1 1.000; 3 0.060 overridden; 4 0.040 below its threshold"},
		{"structure overrides inhibition", []activation.Candidate{candidate(1, 1), {ID: 3, Activation: .4, Salience: 1, Recency: 1, Relevance: 1, Threshold: .3, Structural: true}}, []activation.Inhibition{{From: 1, To: 3, Weight: .5}}, "1 1.000; 3 0.200 overridden by 1"},
	}
	for _, c := range cases {
		if got := told(activation.Promote(c.cs, c.edges, nil, less, activation.DefaultRules())); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestCopiesDoNotFillTheAnswer(t *testing.T) {
	cs := []activation.Candidate{candidate(1, .9), candidate(2, .8), candidate(3, .7), candidate(4, .6)}
	words := map[activation.ID][]string{1: {"a", "b"}, 2: {"a", "b"}, 3: {"a", "c"}, 4: {"a", "b"}}
	similar := func(a, b activation.ID) float64 { return activation.Similarity(words[a], words[b]) }
	got := told(activation.Promote(cs, nil, similar, less, activation.DefaultRules()))
	// A copy loses nine tenths.
	if want := "1 0.900; 3 0.700; 2 0.080 says the same as another by 1; 4 0.060 says the same as another by 1"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	near(t, "one word of three", activation.Similarity(words[1], words[3]), 1./3)
	near(t, "nothing", activation.Similarity(nil, words[1]), 0)
}

func TestCapacity(t *testing.T) {
	r := activation.DefaultRules()
	r.Capacity = 2
	structural := candidate(9, .1)
	structural.Structural = true
	got := told(activation.Promote([]activation.Candidate{candidate(1, .9), candidate(2, .8), candidate(3, .7), structural}, nil, nil, less, r))
	if want := "1 0.900; 9 0.100 overridden; 2 0.800 working memory is full; 3 0.700 working memory is full"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestPromotionDoesNotDependOnOrder shuffles candidates and edges, and expects
// what no order may change: the same bits, and no one both promoted and, at full
// strength, held back by one as strong.
func TestPromotionDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		cs := make([]activation.Candidate, n)
		for i := range cs {
			cs[i] = candidate(activation.ID(i), rapid.Float64Range(0, 1).Draw(t, "activation"))
			cs[i].Structural = rapid.IntRange(0, 4).Draw(t, "structural") == 0
		}
		edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) activation.Inhibition {
			id := rapid.Uint64Range(0, uint64(n-1))
			return activation.Inhibition{From: activation.ID(id.Draw(t, "from")), To: activation.ID(id.Draw(t, "to")), Weight: rapid.Float64Range(0, 1).Draw(t, "weight")}
		}), 0, 15).Draw(t, "edges")
		similar := func(a, b activation.ID) float64 { return float64((a + b) % 2) }
		r := activation.DefaultRules()
		r.Capacity = rapid.IntRange(1, 9).Draw(t, "capacity")
		want := activation.Promote(cs, edges, similar, less, r)
		got := activation.Promote(rapid.Permutation(cs).Draw(t, "cs"), rapid.Permutation(edges).Draw(t, "es"), similar, less, r)
		if !slices.Equal(got, want) {
			t.Fatalf("another order gave\n%s\nwant\n%s", told(got), told(want))
		}
		promoted := 0
		for _, d := range got {
			if d.Reason == activation.Promoted {
				promoted++
			}
			if d.Weight > d.Score || d.Weight < 0 {
				t.Fatalf("weight %v of score %v", d.Weight, d.Score)
			}
		}
		if promoted > r.Capacity {
			t.Fatalf("%d promoted, capacity %d", promoted, r.Capacity)
		}
	})
}

func TestWorkingMemory(t *testing.T) {
	r := activation.DefaultRules()
	r.Capacity = 2
	w := activation.NewWorkingMemory(r)
	held := func() string {
		var out []string
		for _, h := range w.Items(less) {
			out = append(out, fmt.Sprintf("%d %.3f", h.ID, h.Weight))
		}
		return strings.Join(out, "; ")
	}
	inhibit := func() {
		cs := []activation.Candidate{candidate(1, .9), candidate(2, .8)}
		cs[1].Pressure = w.Pressure(2)
		w.Take(activation.Promote(cs, []activation.Inhibition{{From: 1, To: 2, Weight: .9}}, nil, less, r), less)
	}
	inhibit() // 2 is left with .8 × (1 - .81) = .152 against .3
	if held() != "1 0.900" || w.Pressure(2) != 1 {
		t.Errorf("held %s, pressure %d", held(), w.Pressure(2))
	}
	inhibit() // .24
	inhibit() // .18
	if held() != "1 0.900" || w.Pressure(2) != 3 {
		t.Errorf("held %s, pressure %d", held(), w.Pressure(2))
	}
	inhibit() // .3 × .4 = .12: it breaks through
	if held() != "1 0.900; 2 0.152" || w.Pressure(2) != 0 {
		t.Errorf("held %s, pressure %d", held(), w.Pressure(2))
	}
	near(t, "mean", w.Mean(less), (.9+.152)/2)
	w.Take(activation.Promote([]activation.Candidate{candidate(3, .5)}, nil, nil, less, r), less)
	if held() != "1 0.720; 3 0.500" { // 2 faded to .1216 and was let go
		t.Errorf("held %s", held())
	}
	w.Reinforce(4, .8, less)
	if held() != "4 0.800; 1 0.720" {
		t.Errorf("held %s", held())
	}
	w.Reinforce(1, .5, less)
	if held() != "1 0.860; 4 0.800" {
		t.Errorf("held %s", held())
	}
	for range 30 {
		w.Take(nil, less)
	}
	if held() != "" {
		t.Errorf("held %s", held())
	}
	near(t, "mean of nothing", w.Mean(less), 0)
}
