package topo

import (
	"math/rand/v2"
	"testing"

	"engram/graph/value"
)

// TestCellsAgainstMap changes numbers at random and compares them with a map, in
// the newest state and in one that was kept.
func TestCellsAgainstMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var m, kept cellMap
	want, wantKept := map[cellKey]int64{}, map[cellKey]int64{}
	compare := func(m *cellMap, want map[cellKey]int64) {
		t.Helper()
		n, last := 0, cellKey{}
		m.each(anyType, func(c cell) bool {
			if c.compare(last) <= 0 || want[c.cellKey] != c.n {
				t.Fatalf("cell %v after %v, want %d", c, last, want[c.cellKey])
			}
			last = c.cellKey
			n++
			return true
		})
		if n != len(want) || m.n != n {
			t.Fatalf("%d cells of %d, want %d", n, m.n, len(want))
		}
	}
	tok := &token{}
	for round := range 40 {
		for range 500 {
			k := cellKey{1 + rnd.Uint32N(3), rnd.Uint32N(30), rnd.Uint32N(30)}
			delta := int64(1)
			if want[k] > 0 && rnd.IntN(2) == 0 || round > 30 {
				delta = -want[k]
			}
			if delta == 0 {
				continue
			}
			m.add(k, delta, tok)
			if want[k] += delta; want[k] == 0 {
				delete(want, k)
			}
		}
		if round == 20 {
			kept, tok = m, &token{}
			for k, n := range want {
				wantKept[k] = n
			}
		}
	}
	compare(&m, want)
	compare(&kept, wantKept)
	if len(wantKept) < 5*cellsPerPage {
		t.Fatalf("only %d cells", len(wantKept))
	}
	m.each(2, func(c cell) bool {
		if c.typ != 2 {
			t.Fatalf("cell %v among those of type 2", c)
		}
		delete(want, c.cellKey)
		return true
	})
	for k := range want {
		if k.typ == 2 {
			t.Errorf("cell %v was left out", k)
		}
	}
}

// One change copies a page and the list of pages, however many cells there are.
func TestCellsCostWhatIsTouched(t *testing.T) {
	var m cellMap
	tok := &token{}
	for i := range uint32(20_000) {
		m.add(cellKey{1, i / 200, i % 200}, 1, tok)
	}
	one := &token{}
	m.add(cellKey{1, 50, 50}, 1, one)
	if one.cost.Pages > 2 || one.cost.Bytes > 12_000 {
		t.Errorf("%d pages, %d bytes were copied", one.cost.Pages, one.cost.Bytes)
	}
}

// When there are too many pairs, the rest is counted together and nothing is lost.
func TestCellsRunOut(t *testing.T) {
	var m cellMap
	tok := &token{}
	const n = maxCells + 500
	for i := range uint32(n) {
		m.add(cellKey{1, i >> 8, i & 255}, 1, tok)
	}
	if other := (cell{otherCell(1), 500}); !m.full || m.n != maxCells+1 || m.pages[len(m.pages)-1].cells[len(m.pages[len(m.pages)-1].cells)-1] != other {
		t.Fatalf("full %v with %d cells", m.full, m.n)
	}
	for i := range uint32(n) {
		m.add(cellKey{1, i >> 8, i & 255}, -1, tok)
	}
	if m.n != 0 || len(m.pages) != 0 {
		t.Errorf("%d cells on %d pages are left", m.n, len(m.pages))
	}
}

func TestHubsAreNotCountedAnew(t *testing.T) {
	e := New(Config{}).Edit()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	const leaves = hubEdges + 10
	must(e.AddNode(1, []value.LabelID{1}, nil, 0))
	must(e.AddNode(2, []value.LabelID{1}, nil, 0))
	for i := range value.NodeID(leaves) {
		must(e.AddNode(3+i, []value.LabelID{2}, nil, 0))
		must(e.AddEdge(value.EdgeID(1+i), 1, 3+i, 1, EdgeInit{}))
	}
	last := value.EdgeID(leaves)
	for i := range value.EdgeID(10) {
		must(e.AddEdge(last+1+i, 2, value.NodeID(3+i), 1, EdgeInit{}))
	}
	v := e.Commit(1)
	e = v.Edit()
	between := func(v *Version, src value.LabelID) int64 {
		n, ok := v.EdgesBetween(src, 1, 2)
		if !ok {
			t.Fatal("not known")
		}
		return n
	}
	must(e.SetLabels(1, []value.LabelID{3}))
	must(e.SetLabels(2, []value.LabelID{3}))
	if a, b := between(e.View(), 1), between(e.View(), 3); a != leaves || b != 10 {
		t.Errorf("%d edges by the hub's old label, %d by the new one", a, b)
	}
	if !e.DeleteEdge(1) || between(e.View(), 1) != leaves-1 {
		t.Error("an edge of the hub was not taken from where it is counted")
	}
	must(e.SetLabels(1, []value.LabelID{1})) // and back, and away
	must(e.SetLabels(1, []value.LabelID{3}))
	v = e.Commit(2)
	if !v.verifyCells() {
		t.Error("the cells are not those of the edges")
	}
	again, err := roundTripOf(v, Config{})
	must(err)
	if a, b := between(again, 1), between(again, 3); a != 0 || b != leaves+9 {
		t.Errorf("read anew, %d edges by the hub's old label, %d by the new one", a, b)
	}
}
