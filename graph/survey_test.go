package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/value"
)

// ScanRecords hands out what is stored of each node: the properties asked for, those out
// of line too, the keys of all, and whether there is text.
func TestScanRecords(t *testing.T) {
	db := memory(t, nil)
	long := strings.Repeat("long ", 1000)
	var want []string
	update(t, db, func(tx *graph.Tx) {
		key := func(name string) value.KeyID { return must(tx.InternKey(name))(t) }
		for i, c := range []struct {
			props []value.KeyProp
			text  bool
		}{
			{nil, false},
			{[]value.KeyProp{{Key: key("content"), Value: value.String("")}, {Key: key("mood"), Value: value.String("good")}}, false},
			{[]value.KeyProp{{Key: key("content"), Value: value.String(long)}}, true},
			{[]value.KeyProp{{Key: key("title"), Value: value.String(long)}, {Key: key("mood"), Value: value.Int(3)}}, true},
			{[]value.KeyProp{{Key: key("title"), Value: value.Int(7)}}, false},
			{[]value.KeyProp{{Key: key("content"), Value: value.String("short")}}, true},
		} {
			for range 200 * i { // so that there is more than one chunk
				must(tx.CreateNode(nil, nil))(t)
			}
			id := must(tx.CreateNode(nil, c.props))(t)
			want = append(want, fmt.Sprint(id, len(c.props), c.text))
		}
	})
	tx := must(db.LongSnapshot())(t)
	defer tx.Rollback()
	content, _ := tx.Key("content")
	mood, _ := tx.Key("mood")
	var got, seen []string
	kept := value.Null
	nodes := int64(0)
	err := tx.ScanRecords(func(k value.KeyID) bool { return k == content || k == mood }, func(r *graph.Record) error {
		nodes++
		if len(r.Keys) > 0 || len(got) == 0 {
			got = append(got, fmt.Sprint(r.ID, len(r.Keys), r.Text))
			seen = append(seen, fmt.Sprint(len(r.Prop(content).AsString()), " ", r.Prop(mood)))
		}
		if r.Prop(content).AsString() == "short" {
			kept = r.Prop(content)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) || nodes != tx.NodeCount(0) {
		t.Errorf("%v, %d of %d nodes\n%q, want\n%q", err, nodes, tx.NodeCount(0), got, want)
	}
	if want := []string{"0 null", "0 'good'", "5000 null", "0 3", "0 null", "5 null"}; !slices.Equal(seen, want) {
		t.Errorf("values %q", seen)
	}
	if kept.AsString() == "short" {
		t.Error("a text that was kept is still there: nobody would notice that it must not be")
	}
	w := must(db.Begin(t.Context()))(t)
	defer w.Rollback()
	if err := w.ScanRecords(nil, nil); graph.CodeOf(err) != graph.InvalidArgument {
		t.Errorf("in a writing transaction: %v", err)
	}
}
