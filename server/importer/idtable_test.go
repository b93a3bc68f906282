package importer

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestIDTable(t *testing.T) {
	var table idTable
	if _, ok := table.get("x"); ok {
		t.Error("an empty table has x")
	}
	const n = 50_000
	for i := range n {
		if got, added := table.add(fmt.Sprint("id", i)); got != uint32(i) || !added {
			t.Fatalf("id%d became number %d, new: %v", i, got, added)
		}
		if got, added := table.add(fmt.Sprint("id", i/2)); got != uint32(i/2) || added {
			t.Fatalf("id%d again became number %d, new: %v", i/2, got, added)
		}
	}
	for i := range n {
		if got, ok := table.get(fmt.Sprint("id", i)); got != uint32(i) || !ok {
			t.Fatalf("id%d has number %d, %v", i, got, ok)
		}
	}
	if _, ok := table.get("id-1"); ok {
		t.Error("it has what was never added")
	}
	room := 0
	for i := range table.parts {
		room += len(table.parts[i].entries)
	}
	if room > 2*n {
		t.Errorf("there is room for %d entries for %d", room, n)
	}
}

// TestRepeats compares with a map of all edges, among few nodes.
func TestRepeats(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	links := make([]link, 5000)
	for i := range links {
		links[i] = link{random.Uint32N(60), random.Uint32N(60), uint16(random.UintN(2))}
	}
	var r repeats
	for _, l := range links {
		r.note(l)
	}
	r.settle()
	seen, repeated := map[link]bool{}, 0
	for i, l := range links {
		if got := r.repeated(l); got != seen[l] {
			t.Fatalf("edge %d, %v: repeated %v; want %v", i, l, got, seen[l])
		}
		if seen[l] {
			repeated++
		}
		seen[l] = true
	}
	if repeated < 500 {
		t.Errorf("only %d edges repeat others", repeated)
	}
}
