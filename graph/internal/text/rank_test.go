package text

import (
	"fmt"
	"slices"
	"testing"

	"engram/graph/value"
)

// TestApart searches for a word that two documents have twice and ten once: with
// room for five the ten cannot be told apart.
func TestApart(t *testing.T) {
	ix := open(t, manual(""))
	var docs []Doc
	for i := range 12 {
		text := "plum pear"
		if i < 2 {
			text = "plum plum"
		}
		docs = append(docs, Doc{Node: value.NodeID(12 - i), Fields: []FieldText{{"content", text}}})
	}
	ix.Publish(1, docs)
	view, err := ix.At(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ limit, apart, want, asked int }{
		{5, 2, 2, 0},   // two are enough
		{5, 3, 5, 1},   // more are wanted: the tie decides
		{12, 1, 12, 0}, // there is room for all
		{5, 0, 5, 1},
	} {
		asked := 0
		hits, err := view.Search(Query{Text: "plum", Limit: c.limit, Apart: c.apart, Tie: func(a, b value.NodeID) int {
			asked = 1
			return int(b) - int(a)
		}})
		if err != nil {
			t.Fatal(err)
		}
		var nodes []value.NodeID
		for _, h := range hits {
			nodes = append(nodes, h.Node)
		}
		if len(hits) != c.want || asked != c.asked {
			t.Errorf("%+v: %v, asked %d", c, nodes, asked)
		}
		best := nodes[:2]
		slices.Sort(best)
		if fmt.Sprint(best) != "[11 12]" {
			t.Errorf("%+v: the best are %v", c, best)
		}
		if c.apart == 3 && fmt.Sprint(nodes[2:]) != "[10 9 8]" {
			t.Errorf("%+v: the order of ties gave %v", c, nodes)
		}
	}
}

func TestFieldHas(t *testing.T) {
	ix := open(t, manual(""))
	ix.Publish(1, []Doc{
		{Node: 1, Fields: []FieldText{{"content", "Ida rows"}, {"speaker", "Jon Berg"}}},
		{Node: 2, Fields: []FieldText{{"content", "gone"}, {"speaker", "Mia"}}},
	})
	ix.Publish(2, []Doc{{Node: 2}})
	view, err := ix.At(2)
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]bool{"what did Berg say?": true, "Ida": false, "Mia": false, "the": false, "": false} {
		if has, err := view.FieldHas("speaker", words); has != want || err != nil {
			t.Errorf("%q: %v (%v), want %v", words, has, err, want)
		}
	}
}
