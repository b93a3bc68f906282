package graph_test

import (
	"slices"

	"pgregory.net/rapid"

	"engram/graph"
	"engram/graph/schema"
	"engram/graph/value"
)

// CreateIndex declares an index: with chunks of two elements, many are filled in
// the background.
func (m *machine) CreateIndex(t *rapid.T) {
	m.begin(t)
	d := schema.Def{Kind: schema.Range, Edge: rapid.Bool().Draw(t, "edge")}
	if d.Edge {
		d.Owner = rapid.SampledFrom(modelTypes).Draw(t, "type")
	} else {
		d.Owner = rapid.SampledFrom(modelLabels).Draw(t, "label")
	}
	d.Keys = rapid.SliceOfNDistinct(rapid.SampledFrom(modelKeys), 1, 2, rapid.ID).Draw(t, "keys")
	again := m.tx.Schema().Same(&d) != nil
	if err := m.tx.CreateSchema(d); (err != nil) != again {
		t.Fatalf("creating %s, which is there already (%v): %v", &d, again, err)
	}
}

// DropIndex drops any index.
func (m *machine) DropIndex(t *rapid.T) {
	m.begin(t)
	all := m.tx.Schema().All()
	if len(all) == 0 {
		return
	}
	d := rapid.SampledFrom(all).Draw(t, "index")
	if err := m.tx.DropSchema(d.ID); err != nil {
		t.Fatalf("dropping %s: %v", d, err)
	}
	if m.tx.Schema().ByID(d.ID) != nil {
		t.Fatalf("%s is there after it was dropped", d)
	}
}

// indexed is what an index must have of an element.
type indexed struct {
	id   uint64
	vals []value.Value
}

// checkIndexes asks every index for everything, for each value, for ranges and
// for prefixes, and compares with what reading all elements finds.
func checkIndexes(t failer, tx *graph.Tx) {
	for _, d := range tx.Schema().All() {
		if !d.Usable() {
			continue
		}
		all := elementsOf(t, tx, d)
		seeks := []schema.Seek{{}, {HasPrefix: true}, {HasPrefix: true, Prefix: "l"}, {Lo: value.Int(0)}, {Hi: value.Int(0)}, {Lo: value.String("b"), Hi: value.String("c")}}
		for _, e := range all {
			if !e.vals[0].IsNull() {
				seeks = append(seeks, schema.Seek{Eq: e.vals[:1]}, schema.Seek{Lo: e.vals[0]}, schema.Seek{Hi: e.vals[0]})
			}
			if len(e.vals) == 2 && !e.vals[0].IsNull() && !e.vals[1].IsNull() {
				seeks = append(seeks, schema.Seek{Eq: e.vals}, schema.Seek{Eq: e.vals[:1], Lo: e.vals[1]})
			}
		}
		for _, s := range seeks {
			s.Index = d.ID
			checkSeek(t, tx, d, s, all)
		}
	}
}

func checkSeek(t failer, tx *graph.Tx, d *schema.Def, s schema.Seek, all []indexed) {
	var got []uint64
	if err := tx.SeekIndex(s, func(id uint64) bool { got = append(got, id); return true }); err != nil {
		t.Fatalf("%s, %+v: %v", d, s, err)
	}
	slices.Sort(got)
	if again := slices.Compact(slices.Clone(got)); len(again) != len(got) {
		t.Fatalf("%s, %+v: an element comes twice: %v", d, s, got)
	}
	for _, e := range all {
		if _, found := slices.BinarySearch(got, e.id); s.Matches(e.vals) && !found {
			t.Fatalf("%s, %+v: element %d with %v is not found in %v", d, s, e.id, e.vals, got)
		}
	}
	for _, id := range got {
		i := slices.IndexFunc(all, func(e indexed) bool { return e.id == id })
		if i < 0 {
			t.Fatalf("%s, %+v: element %d is found, but not there", d, s, id)
		}
		if len(s.Eq) > 0 && s.Lo.IsNull() && !s.Matches(all[i].vals) {
			t.Fatalf("%s, %+v: element %d with %v is found", d, s, id, all[i].vals)
		}
	}
}

// elementsOf reads the elements that a definition is about.
func elementsOf(t failer, tx *graph.Tx, d *schema.Def) []indexed {
	var out []indexed
	add := func(id uint64, props []value.Prop) {
		e := indexed{id: id, vals: make([]value.Value, len(d.Keys))}
		for i, k := range d.Keys {
			for _, p := range props {
				if p.Key == k {
					e.vals[i] = p.Value
				}
			}
		}
		out = append(out, e)
	}
	for _, id := range scanAll(t, tx) {
		n, err := tx.LoadNode(id)
		if err != nil {
			t.Fatalf("node %d: %v", id, err)
		}
		if !d.Edge && slices.Contains(n.Labels, d.Owner) {
			add(uint64(id), n.Properties)
		}
		adj, err := tx.Expand(id, value.Out, nil, nil)
		if err != nil {
			t.Fatalf("node %d: %v", id, err)
		}
		for _, a := range adj {
			e, err := tx.LoadEdge(a.Edge)
			if err != nil {
				t.Fatalf("edge %d: %v", a.Edge, err)
			}
			if d.Edge && e.Type == d.Owner {
				add(uint64(e.ID), e.Properties)
			}
		}
	}
	return out
}
