package vocab

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"engram/graph/value"
)

// The kinds of layers, from the most binding one.
const (
	KindSafety  = 0
	KindCore    = 1 // core identity; nodes and edges that name no layer are here
	KindDomain  = 2 // what is known
	KindImprint = 3
	KindSuit    = 4
)

// Layer is a layer of memory.
type Layer struct {
	Name string `json:"-"`
	Kind int    `json:"kind"`
	// Priority orders layers where only some fit, smaller first.
	Priority int64 `json:"priority"`
	// Suppressible layers may be kept down by inhibition and thresholds; nodes of
	// the others are promoted by structure.
	Suppressible bool `json:"suppressible"`
	// Transparent layers let activation pass on to nodes of other layers.
	Transparent bool `json:"transparent"`
	// Injectable layers may be put into a prompt.
	Injectable bool `json:"injectable"`
}

// BuiltInLayers returns the layers that every database has, by kind.
func BuiltInLayers() []Layer {
	safety, core, domain := PlainLayer("safety", KindSafety), PlainLayer("core", KindCore), PlainLayer("domain", KindDomain)
	safety.Suppressible = false
	return []Layer{safety, core, domain}
}

// PlainLayer is a layer of which nothing is said but its name and kind.
func PlainLayer(name string, kind int) Layer {
	return Layer{Name: name, Kind: kind, Priority: int64(kind), Suppressible: true, Transparent: true, Injectable: true}
}

// Layer returns the layer of a name.
func (v *Vocabulary) Layer(name string) (Layer, bool) {
	if l, ok := v.layers[name]; ok {
		return l, true
	}
	for _, l := range BuiltInLayers() {
		if l.Name == name {
			return l, true
		}
	}
	return Layer{}, false
}

// LayerOf returns the layer that a value of KeyLayer names: a kind or a name. What
// names none is in the core layer.
func (v *Vocabulary) LayerOf(layer value.Value) Layer {
	switch layer.Kind() {
	case value.KindString:
		if l, ok := v.Layer(layer.AsString()); ok {
			return l
		}
	case value.KindInt:
		switch n := layer.AsInt(); {
		case n >= KindSafety && n <= KindDomain:
			return BuiltInLayers()[n]
		case n == KindImprint:
			return PlainLayer("imprint", KindImprint)
		case n == KindSuit:
			return PlainLayer("suit", KindSuit)
		}
	}
	return BuiltInLayers()[KindCore]
}

// Layers returns the layers in order of priority, then kind, then name.
func (v *Vocabulary) Layers() []Layer {
	out := BuiltInLayers()
	for _, l := range v.layers {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Layer) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}

// AllTransparent reports whether activation passes through every layer.
func (v *Vocabulary) AllTransparent() bool {
	for _, l := range v.layers {
		if !l.Transparent {
			return false
		}
	}
	return true
}

// WithLayer returns the vocabulary with a layer, in place of one of its name.
func (v *Vocabulary) WithLayer(l Layer) *Vocabulary {
	next := *v
	next.layers = put(v.layers, l.Name, l)
	return &next
}

// WithoutLayer returns the vocabulary without a layer that was created. Nodes that
// name it are in the core layer then.
func (v *Vocabulary) WithoutLayer(name string) *Vocabulary {
	next := *v
	next.layers = maps.Clone(v.layers)
	delete(next.layers, name)
	return &next
}

// Self returns the node that stands for the one who remembers; 0 when none was
// declared.
func (v *Vocabulary) Self() value.NodeID { return v.self }

// WithSelf returns the vocabulary with another self; 0 for none.
func (v *Vocabulary) WithSelf(n value.NodeID) *Vocabulary {
	next := *v
	next.self = n
	return &next
}

// Pillar is a node that was declared to hold everything up, under a name.
type Pillar struct {
	Name string
	Node value.NodeID
}

// Pillars returns the pillars in order of name.
func (v *Vocabulary) Pillars() []Pillar {
	var out []Pillar
	for _, name := range slices.Sorted(maps.Keys(v.pillars)) {
		out = append(out, Pillar{name, v.pillars[name]})
	}
	return out
}

// IsPillar reports whether a node was declared a pillar.
func (v *Vocabulary) IsPillar(n value.NodeID) bool {
	for _, p := range v.pillars {
		if p == n {
			return true
		}
	}
	return false
}

// WithPillar returns the vocabulary with a pillar, in place of one of its name;
// node 0 takes it away.
func (v *Vocabulary) WithPillar(name string, n value.NodeID) *Vocabulary {
	next := *v
	next.pillars = put(v.pillars, name, n)
	if n == 0 {
		delete(next.pillars, name)
	}
	return &next
}

// put is a copy of m with one more entry.
func put[V any](m map[string]V, name string, v V) map[string]V {
	next := maps.Clone(m)
	if next == nil {
		next = map[string]V{}
	}
	next[name] = v
	return next
}
