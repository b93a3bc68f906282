package activation

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sort"
)

// Candidate is an activated node that may be promoted to working memory.
type Candidate struct {
	ID         ID
	Activation float64 // background: share of the strongest, 0 to 1
	Salience   float64 // 1: neutral
	Recency    float64
	Relevance  float64 // 1: nothing was asked
	Threshold  float64
	// Structural nodes are in a layer that may not be kept down.
	Structural bool
	// Pressure counts how often the node was kept down since it last came up.
	Pressure int
}

// Inhibition is an edge that holds its end back, 0 to 1 strong.
type Inhibition struct {
	From, To ID
	Weight   float64
}

// Reason tells why a candidate was not promoted.
type Reason string

// The reasons.
const (
	Promoted       Reason = ""
	BelowThreshold Reason = "below its threshold"
	Inhibited      Reason = "inhibited"
	NearDuplicate  Reason = "says the same as another"
	OverCapacity   Reason = "working memory is full"
)

// Decision is what became of a candidate.
type Decision struct {
	ID     ID
	Score  float64 // before inhibition
	Weight float64 // after it: what it has in working memory when it is promoted
	Reason Reason
	// Overridden tells that the node was promoted by structure only.
	Overridden bool
	// By held it back most, when Held.
	By   ID
	Held bool
}

// Rules are the constants of promotion.
type Rules struct {
	// Exponent is that of activation in the score.
	Exponent float64
	Factors  Factors
	// Inhibition scales what an inhibitory edge takes away: its weight times the
	// weight of its start, as a share.
	Inhibition float64
	// Similar is from where on two memories say the same, and Lateral what a copy
	// loses then, as a share; the next one loses it twice, and so on.
	Similar, Lateral float64
	// Capacity is how much working memory holds.
	Capacity int
	// Override is the background activation at which structural nodes are promoted
	// whatever else.
	Override float64
	// Pressure lowers a threshold for each time the node was kept down, as a share;
	// at most to MinThreshold of it.
	Pressure, MinThreshold float64
	// Fade is what working memory keeps of its weights from one activation to the
	// next, and Least the weight at which a node is let go.
	Fade, Least float64
}

// DefaultRules are the rules of ACTIVATE and COMPILE.
func DefaultRules() Rules {
	return Rules{
		Exponent: 1, Factors: DefaultFactors(), Inhibition: 1, Similar: 0.85, Lateral: 0.9,
		Capacity: 64, Override: 0.05, Pressure: 0.2, MinThreshold: 0.2, Fade: 0.8, Least: 0.01,
	}
}

// ScoreOf is the candidate's score before inhibition.
func (r *Rules) ScoreOf(c *Candidate) float64 {
	return power(c.Activation, r.Exponent) * r.Factors.Weigh(c.Salience, c.Recency) * c.Relevance
}

// Lowered is the share of its threshold that a node has to reach under a pressure.
func (r *Rules) Lowered(pressure int) float64 {
	return max(1-r.Pressure*float64(pressure), r.MinThreshold)
}

// ThresholdOf is the candidate's threshold, lowered by pressure.
func (r *Rules) ThresholdOf(c *Candidate) float64 {
	return c.Threshold * r.Lowered(c.Pressure)
}

// Promote decides which candidates come to mind, strongest first, ties by less.
//
// Whoever inhibits is decided before whom it inhibits, and in a circle the
// stronger goes first: of two that contradict each other one is left. An
// inhibitory edge counts only when its start was promoted, and takes Inhibition
// times its weight times the start's weight off its end, as a share. similar, when
// not nil, tells how much two nodes say the same, 0 to 1; a copy loses Lateral for
// each promoted one that says the same. What is left has to reach the threshold. Then capacity cuts off
// the weakest, and last structural nodes are promoted in their place.
func Promote(cs []Candidate, edges []Inhibition, similar func(a, b ID) float64, less func(a, b ID) bool, r Rules) []Decision {
	p := &promotion{rules: &r, similar: similar, less: less}
	p.order(cs)
	p.link(edges)
	p.decide()
	p.limit()
	sort.SliceStable(p.out, func(i, j int) bool {
		a, b := &p.out[i], &p.out[j]
		if (a.Reason == Promoted) != (b.Reason == Promoted) {
			return a.Reason == Promoted
		}
		return p.before(a, b)
	})
	return p.out
}

type promotion struct {
	rules   *Rules
	similar func(a, b ID) float64
	less    func(a, b ID) bool
	cs      []Candidate
	out     []Decision // by score
	at      map[ID]int
	onto    map[int][]held // inhibitions by their end
	from    map[int][]int  // ends by their start
	waits   []int          // undecided starts of inhibitions onto it
	taken   []int          // promoted so far
}

type held struct {
	by     int
	weight float64
}

func (p *promotion) before(a, b *Decision) bool {
	if a.Weight != b.Weight {
		return a.Weight > b.Weight
	}
	return p.less(a.ID, b.ID)
}

// order sorts the candidates by score.
func (p *promotion) order(cs []Candidate) {
	type scored struct {
		score float64
		place int // in cs
	}
	order := make([]scored, len(cs))
	for i := range cs {
		order[i] = scored{p.rules.ScoreOf(&cs[i]), i}
	}
	slices.SortFunc(order, func(a, b scored) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		if p.less(cs[a.place].ID, cs[b.place].ID) {
			return -1
		}
		return 1
	})
	p.at = make(map[ID]int, len(cs))
	p.cs, p.out = make([]Candidate, 0, len(cs)), make([]Decision, 0, len(cs))
	for i, o := range order {
		id := cs[o.place].ID
		p.cs = append(p.cs, cs[o.place])
		p.at[id] = i
		p.out = append(p.out, Decision{ID: id, Score: o.score, Weight: o.score, Reason: BelowThreshold})
	}
}

// reaches reports whether a candidate's weight is enough.
func (p *promotion) reaches(i int) bool {
	return p.out[i].Weight >= p.rules.ThresholdOf(&p.cs[i])
}

// link keeps the inhibitions between candidates that could be promoted.
func (p *promotion) link(edges []Inhibition) {
	p.onto, p.from, p.waits = map[int][]held{}, map[int][]int{}, make([]int, len(p.cs))
	strongest := map[[2]int]float64{}
	for _, e := range edges {
		from, ok := p.at[e.From]
		to, also := p.at[e.To]
		if !ok || !also || from == to || !p.reaches(from) || !p.reaches(to) || !(e.Weight > 0) {
			continue
		}
		k := [2]int{from, to}
		if w, twice := strongest[k]; !twice {
			p.from[from] = append(p.from[from], to)
			p.waits[to]++
			strongest[k] = e.Weight
		} else {
			strongest[k] = max(w, e.Weight)
		}
	}
	for from := range p.cs { // in order of score, so that sums have the same bits
		for _, to := range p.from[from] {
			p.onto[to] = append(p.onto[to], held{from, unit(strongest[[2]int{from, to}])})
		}
	}
}

// decide goes through all that could be promoted.
func (p *promotion) decide() {
	done := make([]bool, len(p.cs))
	ready := &indexes{}
	for i := range p.cs {
		if p.reaches(i) && p.waits[i] == 0 {
			heap.Push(ready, i)
		}
	}
	for first := 0; ; {
		i := -1
		for ready.Len() > 0 && i < 0 {
			if k := heap.Pop(ready).(int); !done[k] {
				i = k
			}
		}
		if i < 0 { // a circle, or the end
			for first < len(p.cs) && (done[first] || !p.reaches(first)) {
				first++
			}
			if first == len(p.cs) {
				return
			}
			i = first
		}
		done[i] = true
		p.settle(i)
		for _, to := range p.from[i] {
			if p.waits[to]--; p.waits[to] == 0 && !done[to] {
				heap.Push(ready, to)
			}
		}
	}
}

// settle takes off what holds a candidate back and promotes it if enough is left.
func (p *promotion) settle(i int) {
	d, most := &p.out[i], 0.0
	loss := 0.0
	for _, h := range p.onto[i] {
		if by := &p.out[h.by]; by.Reason == Promoted {
			share := p.rules.Inhibition * h.weight * min(by.Weight, 1)
			loss += share
			if share > most {
				most, d.By, d.Held = share, by.ID, true
			}
		}
	}
	d.Weight *= 1 - min(loss, 1)
	reason := Inhibited
	if first, n := p.copies(i); n > 0 {
		left := math.Pow(1-p.rules.Lateral, float64(n))
		d.Weight *= left
		if 1-left > most {
			d.By, d.Held, reason = p.out[first].ID, true, NearDuplicate
		}
	}
	if p.reaches(i) {
		d.Reason = Promoted
		p.taken = append(p.taken, i)
		return
	}
	d.Reason = reason
}

// copies counts the promoted nodes that say the same, and returns the first.
func (p *promotion) copies(i int) (first, n int) {
	if p.similar == nil {
		return 0, 0
	}
	for _, k := range p.taken {
		if p.similar(p.out[k].ID, p.out[i].ID) >= p.rules.Similar {
			if n == 0 {
				first = k
			}
			n++
		}
	}
	return first, n
}

// limit applies capacity, and promotes what structure demands.
func (p *promotion) limit() {
	for i := range p.out {
		d := &p.out[i]
		if d.Reason != Promoted && p.cs[i].Structural && p.cs[i].Activation >= p.rules.Override {
			d.Reason, d.Overridden = Promoted, true
			p.taken = append(p.taken, i)
		}
	}
	sort.Slice(p.taken, func(a, b int) bool {
		i, j := p.taken[a], p.taken[b]
		if p.cs[i].Structural != p.cs[j].Structural {
			return p.cs[i].Structural
		}
		return p.before(&p.out[i], &p.out[j])
	})
	for k := p.rules.Capacity; k < len(p.taken); k++ {
		d := &p.out[p.taken[k]]
		d.Reason, d.Overridden = OverCapacity, false
	}
}

// indexes is a heap of positions, smallest first.
type indexes []int

func (h indexes) Len() int           { return len(h) }
func (h indexes) Less(i, j int) bool { return h[i] < h[j] }
func (h indexes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexes) Push(x any)        { *h = append(*h, x.(int)) }
func (h *indexes) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Similarity is the share of words that two texts have in common (Jaccard), given
// as sorted lists without repetition of the words or of numbers that stand for
// them; 0 when one has none.
func Similarity[W cmp.Ordered](a, b []W) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(a)+len(b)-common)
}
