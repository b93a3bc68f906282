package graph_test

import (
	"fmt"
	"slices"
	"testing"

	"engram/graph"
	"engram/graph/value"
)

func TestRankTextAgreesWithSearchText(t *testing.T) {
	db := memory(t, nil)
	var ids []value.NodeID
	update(t, db, func(tx *graph.Tx) {
		for i := range 20 {
			ids = append(ids, says(t, tx, fmt.Sprintf("plums %d and pears", i)))
		}
		ids = append(ids, says(t, tx, "plums are plums, ferry"))
	})
	update(t, db, func(tx *graph.Tx) { // what it wrote itself counts
		ids = append(ids, says(t, tx, "a ferry of plums, plums, plums"))
		want := must(tx.SearchText("ferry plums", 50, nil))(t)
		got := must(tx.RankText("ferry plums", 50, 10, nil))(t)
		if len(want) != 22 || len(got) != 22 {
			t.Fatalf("%d hits, want %d", len(got), len(want))
		}
		for i, h := range got[:2] {
			if h.Node != want[i].Node || h.Score != want[i].Score || h.Terms != nil {
				t.Errorf("hit %d is %+v, want %+v", i, h, want[i])
			}
		}
		if few := must(tx.RankText("ferry plums", 5, 2, nil))(t); len(few) != 2 {
			t.Errorf("20 equal ones and room for 3: %v", few)
		}
		words := must(tx.MatchedWords("ferry plums", []value.NodeID{ids[3], ids[21], 999}))(t)
		if !slices.Equal(words[0], []string{"plums"}) || !slices.Equal(words[1], []string{"ferry", "plums"}) || words[2] != nil {
			t.Errorf("matched words are %q", words)
		}
		if must(tx.TextFieldHas("title", "plums"))(t) || !must(tx.TextFieldHas("content", "no plum"))(t) {
			t.Error("the word is taken to be in another field")
		}
	})
}

// TestExpandWeighted compares with Expand and EdgeProp: weights come as float32, and
// what is no number is none.
func TestExpandWeighted(t *testing.T) {
	db := memory(t, nil)
	update(t, db, func(tx *graph.Tx) {
		a, b := says(t, tx, "a"), says(t, tx, "b")
		knows, likes := must(tx.InternRelType("KNOWS"))(t), must(tx.InternRelType("LIKES"))(t)
		k := must(tx.InternKey("weight"))(t)
		for _, e := range []struct {
			src, dst value.NodeID
			typ      value.TypeID
			weight   value.Value
		}{
			{a, b, knows, value.Float(0.37)}, {b, a, knows, value.Int(2)}, {a, b, likes, value.Null}, {b, a, likes, value.String("much")},
		} {
			must(tx.CreateEdge(e.src, e.dst, e.typ, []value.KeyProp{{Key: k, Value: e.weight}}))(t)
		}
		for _, types := range [][]value.TypeID{nil, {knows}} {
			got := must(tx.ExpandWeighted(a, types, nil))(t)
			want := must(tx.Expand(a, value.Both, types, nil))(t)
			if len(got) != len(want) {
				t.Fatalf("%d edges, want %d", len(got), len(want))
			}
			for _, w := range got {
				if !slices.Contains(want, w.Adjacent) {
					t.Errorf("%+v is no edge of it", w)
				}
				v := must(tx.EdgeProp(w.Edge, k))(t)
				if w.Has != v.IsNumber() || w.Has && w.Weight != float32(v.AsFloat()) {
					t.Errorf("%+v, but the weight is %s", w, v)
				}
			}
		}
	})
}
