package activation

import (
	"maps"
	"slices"
	"sort"
)

// WorkingMemory is what is on the mind of one conversation: promoted nodes with
// their weights, and the pressure of those that were kept down. Recalling does not
// move it. It is not safe for concurrent use.
type WorkingMemory struct {
	rules    Rules
	weights  map[ID]float64
	pressure map[ID]int
}

// Held is a node in working memory.
type Held struct {
	ID     ID
	Weight float64
}

// maxPressure bounds how many nodes are remembered as kept down; beyond it those
// with the least pressure are forgotten.
const maxPressure = 1024

// NewWorkingMemory makes an empty working memory.
func NewWorkingMemory(r Rules) *WorkingMemory {
	return &WorkingMemory{rules: r, weights: map[ID]float64{}, pressure: map[ID]int{}}
}

// Pressure is how often a node was kept down since it last came up.
func (w *WorkingMemory) Pressure(id ID) int { return w.pressure[id] }

// MostPressure is the highest Pressure of any node.
func (w *WorkingMemory) MostPressure() int {
	most := 0
	for _, n := range w.pressure {
		most = max(most, n)
	}
	return most
}

// EachPressure calls fn for every node that was kept down, in no order that means
// anything.
func (w *WorkingMemory) EachPressure(fn func(id ID, times int)) {
	for id, n := range w.pressure {
		fn(id, n)
	}
}

// Take lets what is held fade and takes in what was promoted. A node that was
// inhibited gains pressure; one that comes up loses it.
func (w *WorkingMemory) Take(decisions []Decision, less func(a, b ID) bool) {
	for id, weight := range w.weights {
		if weight *= w.rules.Fade; weight < w.rules.Least {
			delete(w.weights, id)
		} else {
			w.weights[id] = weight
		}
	}
	for _, d := range decisions {
		switch d.Reason {
		case Promoted:
			w.weights[d.ID] = max(w.weights[d.ID], d.Weight)
			delete(w.pressure, d.ID)
		case Inhibited:
			w.pressure[d.ID]++
		}
	}
	w.trim(less)
}

// Reinforce raises the weight of a node by a share of what it lacks to 1.
func (w *WorkingMemory) Reinforce(id ID, by float64, less func(a, b ID) bool) {
	now := w.weights[id]
	w.weights[id] = now + (1-min(now, 1))*unit(by)
	delete(w.pressure, id)
	w.trim(less)
}

// trim lets go of the weakest beyond the capacity.
func (w *WorkingMemory) trim(less func(a, b ID) bool) {
	for len(w.weights) > w.rules.Capacity {
		items := w.Items(less)
		for _, h := range items[w.rules.Capacity:] {
			delete(w.weights, h.ID)
		}
	}
	if len(w.pressure) > maxPressure {
		ids := slices.SortedFunc(maps.Keys(w.pressure), func(a, b ID) int {
			switch {
			case w.pressure[a] != w.pressure[b]:
				return w.pressure[b] - w.pressure[a]
			case less(a, b):
				return -1
			}
			return 1
		})
		for _, id := range ids[maxPressure:] {
			delete(w.pressure, id)
		}
	}
}

// Items lists what is held, strongest first, ties by less.
func (w *WorkingMemory) Items(less func(a, b ID) bool) []Held {
	out := make([]Held, 0, len(w.weights))
	for id, weight := range w.weights {
		out = append(out, Held{id, weight})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Weight != out[j].Weight {
			return out[i].Weight > out[j].Weight
		}
		return less(out[i].ID, out[j].ID)
	})
	return out
}

// Mean is the mean weight; 0 when nothing is held.
func (w *WorkingMemory) Mean(less func(a, b ID) bool) float64 {
	sum := 0.0
	items := w.Items(less) // in order, so that the sum has the same bits
	for _, h := range items {
		sum += h.Weight
	}
	if len(items) == 0 {
		return 0
	}
	return sum / float64(len(items))
}
