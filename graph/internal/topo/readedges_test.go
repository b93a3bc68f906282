package topo

import (
	"testing"

	"engram/graph/value"
)

// Reading edges by page tells of each what asking for it tells, and nothing of those
// that are gone or lead to a node that is.
func TestReadEdges(t *testing.T) {
	e := New(Config{}).Edit()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := range value.NodeID(20) {
		ok(e.AddNode(id+1, nil, nil, 0))
	}
	for i := range 1000 {
		id := value.EdgeID(2*i + 1)
		var init EdgeInit
		switch i % 4 {
		case 1:
			init.Weight = value.Float(float64(i) / 1000)
		case 2:
			init.Weight, init.Inhibitory = value.String("much"), value.Bool(true)
		}
		ok(e.AddEdge(id, value.NodeID(i%20+1), value.NodeID(i*7%20+1), value.TypeID(i%300+1), init))
		if i%5 == 0 {
			ok(e.SetLearned(id, 0.25, true))
		}
		if i%11 == 0 {
			e.DeleteEdge(id)
		}
	}
	e.DeleteNode(3) // its edges wait for the sweeper
	v := e.Commit(1)
	var rows []EdgeRow
	for s := Slot(0); s < v.EdgeSlots(); {
		rows, s = v.ReadEdges(s, rows)
	}
	if int64(len(rows)) != v.EdgeCount(0) || len(rows) < 700 {
		t.Fatalf("%d rows for %d edges", len(rows), v.EdgeCount(0))
	}
	buf := make([]value.EdgeID, 1000)
	for i, id := range v.ScanEdges(0, 0, buf) {
		slot, _ := v.EdgeSlot(id)
		want := EdgeRow{Slot: slot}
		want.Src, want.Dst, want.Type = v.EdgeEndsSlot(slot)
		want.Weight, want.Weighted = v.WeightSlot(slot)
		if !want.Weighted {
			want.Weight = 0
		}
		want.Learned, _ = v.LearnedSlot(slot)
		want.Inhibitory = v.InhibitorySlot(slot)
		if rows[i] != want {
			t.Errorf("edge %d: %+v, want %+v", id, rows[i], want)
		}
	}
}
