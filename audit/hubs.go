package audit

import (
	"fmt"
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
)

// componentsAndHubs tells into how many pieces the graph falls, and which nodes draw
// activation to themselves.
func componentsAndHubs() rule {
	return rule{
		name:  "components_and_hubs",
		title: "Connected components and their sizes; hubs by degree, with the share of activation that they attract.",
		thresholds: []Threshold{{
			Name: "hub_edges", Default: 1024, Min: 1, Max: 1e9,
			Meaning: "Number of edges beyond which a node is a hub; from more than 1024 recall does not pass activation on.",
		}},
		begin: func(a *audit) (work, error) {
			n := a.shape.Slots()
			w := &hubWork{a: a, parent: make([]uint32, n), degree: make([]uint32, n), strength: make([]float64, n)}
			for i := range w.parent {
				w.parent[i] = uint32(i)
			}
			return work{edge: w.edge, end: w.end}, nil
		},
	}
}

type hubWork struct {
	a        *audit
	parent   []uint32  // union-find
	degree   []uint32  // a loop counts once
	strength []float64 // incoming
	total    float64
	flow     []flow // by type
}

// flow is how activation passes along edges of a type.
type flow struct {
	weight, forward, backward float64
	inhibitory                bool
}

func (w *hubWork) flowOf(t value.TypeID) *flow {
	for len(w.flow) <= int(t) {
		name := w.a.tx.RelTypeName(value.TypeID(len(w.flow)))
		r := vocab.Default(name)
		if known, ok := w.a.tx.Vocabulary().Lookup(name); ok {
			r = *known
		}
		w.flow = append(w.flow, flow{r.Weight, r.Forward, r.Backward, r.Inhibitory})
	}
	return &w.flow[t]
}

func (w *hubWork) edge(e edge) {
	w.degree[e.from]++
	if e.to == e.from {
		return // a loop joins nothing and passes nothing on
	}
	w.degree[e.to]++
	w.union(e.from, e.to)
	fl := w.flowOf(e.typ)
	if fl.inhibitory || e.inhibitory {
		return // it holds back and draws nothing
	}
	weight := fl.weight
	if e.weighted {
		weight = float64(e.weight)
	}
	weight += float64(e.learned)
	if weight <= 0 {
		return
	}
	w.strength[e.to] += weight * fl.forward
	w.strength[e.from] += weight * fl.backward
	w.total += weight * (fl.forward + fl.backward)
}

func (w *hubWork) find(i uint32) uint32 {
	for w.parent[i] != i {
		w.parent[i] = w.parent[w.parent[i]]
		i = w.parent[i]
	}
	return i
}

// union joins two components under their lower slot.
func (w *hubWork) union(i, j uint32) {
	i, j = w.find(i), w.find(j)
	if i < j {
		w.parent[j] = i
	} else {
		w.parent[i] = j
	}
}

func (w *hubWork) end(f *Finding) error {
	a := w.a
	nodes := a.tx.NodeCount(0)
	f.How = fmt.Sprintf("exact: union-find over %d nodes and %d edges; the share of activation is a node's part of the sum of all incoming strengths: "+
		"an edge brings its weight times its type's factor to each of its ends, one that holds back brings nothing", nodes, a.tx.EdgeCount(0))
	components, largest, linked := w.sizes(f)
	least := a.threshold("hub_edges")
	var hubs []uint32
	edges, drawn := int64(0), 0.0
	for s := range a.shape.Slots() {
		if a.shape.Living(s) && float64(w.degree[s]) > least {
			hubs = append(hubs, s)
			drawn += w.strength[s]
		}
		edges = max(edges, int64(w.degree[s]))
	}
	slices.SortStableFunc(hubs, func(x, y uint32) int { return compare(w.degree[y], w.degree[x]) })
	f.measure("components", components, "components")
	f.measure("largest_component", largest, "nodes")
	f.measure("largest_share", share(largest, nodes), "share")
	f.measure("linked_components", linked, "components")
	f.measure("largest_degree", edges, "edges")
	f.measure("hubs", len(hubs), "nodes")
	f.measure("hubs_attract", part(drawn, w.total), "share")
	f.Note = fmt.Sprintf("The graph falls into %s, %d of them with more than one node; the largest has %d of %s.", plural(components, "component"), linked, largest, plural(nodes, "node"))
	if components == 1 {
		f.Note = fmt.Sprintf("The graph is one component of %s.", plural(nodes, "node"))
	}
	if nodes == 0 {
		f.Note = "There are no nodes."
	}
	if len(hubs) > 0 {
		f.Status = Notice
		f.Note += fmt.Sprintf(" %s more than %g edges each and attract %.1f %% of the activation; what they get, recall does not pass on from there.",
			amount(len(hubs), "node has", "nodes have"), least, 100*drawn/max(w.total, 1e-300))
	}
	return a.listNodes(f, len(hubs), a.slotIDs(hubs), func(i int) string {
		s := hubs[i]
		return fmt.Sprintf("%d edges; attracts %.1f %% of the activation", w.degree[s], 100*w.strength[s]/max(w.total, 1e-300))
	})
}

// part is share for numbers that are not counted.
func part(p, whole float64) any {
	if whole == 0 {
		return nil
	}
	return p / whole
}

// sizeClasses are the ends of the classes of component sizes.
var sizeClasses = []struct {
	upTo int64
	name string
}{{1, "1"}, {2, "2"}, {9, "3-9"}, {99, "10-99"}, {999, "100-999"}, {9_999, "1000-9999"}, {1 << 62, "10000 and more"}}

// sizes distributes the components by size.
func (w *hubWork) sizes(f *Finding) (components, largest, linked int64) {
	size := make([]uint32, len(w.parent))
	for s := range w.a.shape.Slots() {
		if w.a.shape.Living(s) {
			size[w.find(s)]++
		}
	}
	classes := make([]int64, len(sizeClasses))
	for _, n := range size {
		if n == 0 {
			continue
		}
		components++
		largest = max(largest, int64(n))
		if n > 1 {
			linked++
		}
		for i, c := range sizeClasses {
			if int64(n) <= c.upTo {
				classes[i]++
				break
			}
		}
	}
	for i, c := range sizeClasses {
		if classes[i] > 0 {
			f.part("size", c.name, classes[i], "")
		}
	}
	return components, largest, linked
}
