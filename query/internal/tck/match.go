package tck

import (
	"math"
	"slices"

	"engram/graph/value"
)

// matcher compares what is with what should be. Kinds have to agree: 1 is not
// 1.0. Floats are compared as numbers, and NaN equals NaN.
type matcher struct {
	anyOrder bool // of the elements of lists
}

func (m matcher) match(want cell, got value.Value) bool {
	switch want := want.(type) {
	case scalar:
		return m.scalar(want.v, got)
	case list:
		return got.Kind() == value.KindList && m.list(want.elems, got.AsList())
	case record:
		return got.Kind() == value.KindMap && m.props(want, got.AsMap().Entries)
	case node:
		n := got.AsNode()
		return n != nil && m.node(want, n)
	case edge:
		e := got.AsEdge()
		return e != nil && m.edge(want, e)
	case walk:
		p := got.AsPath()
		return p != nil && m.path(want, p)
	}
	return false
}

func (m matcher) scalar(want, got value.Value) bool {
	switch want.Kind() {
	case value.KindNull:
		return got.IsNull()
	case value.KindBool:
		return got.Kind() == value.KindBool && got.AsBool() == want.AsBool()
	case value.KindInt:
		return got.Kind() == value.KindInt && got.AsInt() == want.AsInt()
	case value.KindFloat:
		if got.Kind() != value.KindFloat {
			return false
		}
		a, b := want.AsFloat(), got.AsFloat()
		return a == b || math.IsNaN(a) && math.IsNaN(b)
	case value.KindString:
		switch got.Kind() {
		case value.KindString, value.KindDate, value.KindLocalTime, value.KindTime,
			value.KindLocalDateTime, value.KindDateTime, value.KindDuration:
			return got.ToString() == want.AsString()
		}
	}
	return false
}

func (m matcher) list(want []cell, got []value.Value) bool {
	if m.anyOrder {
		return bag(want, got, m.match)
	}
	return slices.EqualFunc(want, got, m.match)
}

// bag reports whether want and got pair up in some order. What matches the same
// want matches the same others, so that the first fit is as good as any.
func bag[W, G any](want []W, got []G, match func(W, G) bool) bool {
	if len(want) != len(got) {
		return false
	}
	used := make([]bool, len(got))
next:
	for _, w := range want {
		for i, g := range got {
			if !used[i] && match(w, g) {
				used[i] = true
				continue next
			}
		}
		return false
	}
	return true
}

func (m matcher) props(want record, got []value.Prop) bool {
	if len(want.keys) != len(got) {
		return false
	}
	for i, key := range want.keys {
		at := slices.IndexFunc(got, func(p value.Prop) bool { return p.Key == key })
		if at < 0 || !m.match(want.values[i], got[at].Value) {
			return false
		}
	}
	return true
}

func (m matcher) node(want node, got *value.Node) bool {
	return bag(want.labels, got.Labels, func(a, b string) bool { return a == b }) && m.props(want.props, got.Properties)
}

func (m matcher) edge(want edge, got *value.Edge) bool {
	return want.typ == got.Type && m.props(want.props, got.Properties)
}

func (m matcher) path(want walk, got *value.Path) bool {
	if len(want.nodes) != len(got.Nodes) || len(want.edges) != len(got.Edges) {
		return false
	}
	for i, w := range want.nodes {
		if n := got.Nodes[i].AsNode(); n == nil || !m.node(w, n) {
			return false
		}
	}
	for i, w := range want.edges {
		e := got.Edges[i].AsEdge()
		if e == nil || !m.edge(w, e) {
			return false
		}
		from, to := got.Nodes[i].NodeID(), got.Nodes[i+1].NodeID()
		if !want.forward[i] {
			from, to = to, from
		}
		if e.Src != from || e.Dst != to {
			return false
		}
	}
	return true
}

// rows compares tables, in order or as bags of rows.
func (m matcher) rows(want [][]cell, got [][]value.Value, ordered bool) bool {
	row := func(w []cell, g []value.Value) bool { return slices.EqualFunc(w, g, m.match) }
	if ordered {
		return slices.EqualFunc(want, got, row)
	}
	return bag(want, got, row)
}
