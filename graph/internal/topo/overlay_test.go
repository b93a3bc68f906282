package topo

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func all(t *tree, from entry) (out []entry) {
	var it treeIter
	it.seek(t, from)
	for e, ok := it.next(); ok; e, ok = it.next() {
		out = append(out, e)
	}
	return out
}

func cmpEntry(a, b entry) int {
	switch {
	case a.less(b):
		return -1
	case b.less(a):
		return 1
	}
	return 0
}

// TestTreeAgainstSortedSlice fills trees deep enough to have inner nodes, keeps
// old ones, and compares order, seeking, lookup and the difference of two.
func TestTreeAgainstSortedSlice(t *testing.T) {
	type state struct {
		t    tree
		want []entry
	}
	rapid.Check(t, func(t *rapid.T) {
		var cur state
		var old []state
		tok := &token{}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			start, step := rapid.Uint32Range(0, 3000).Draw(t, "start"), rapid.SampledFrom([]uint32{1, 7, 4093}).Draw(t, "step")
			remove := rapid.IntRange(0, 2).Draw(t, "remove") == 0
			for i := range uint32(rapid.IntRange(1, 1500).Draw(t, "count")) {
				x := (start + i*step) % 4096
				e := makeEntry(uint16(x>>8), x>>4&15, x&15, x)
				at, found := slices.BinarySearchFunc(cur.want, e, cmpEntry)
				if remove {
					cur.t.remove(e, tok)
					if found {
						cur.want = slices.Delete(cur.want, at, at+1)
					}
					continue
				}
				cur.t.put(e, tok)
				if !found {
					cur.want = slices.Insert(cur.want, at, e)
				}
			}
			old = append(old, state{cur.t, slices.Clone(cur.want)})
			tok = &token{}
		}
		for _, s := range old {
			checkTree(t, s.t, s.want)
			var got []entry
			cur.t.since(&s.t, func(e entry) { got = append(got, e) })
			if want := symmetric(cur.want, s.want); !slices.Equal(got, want) {
				t.Fatalf("difference: got %d entries, want %d", len(got), len(want))
			}
		}
	})
}

func checkTree(t *rapid.T, tr tree, want []entry) {
	if got := all(&tr, entry{}); !slices.Equal(got, want) || tr.n != len(want) {
		t.Fatalf("got %d entries and n %d, want %d", len(got), tr.n, len(want))
	}
	for x := uint32(0); x < 4096; x += 97 {
		e := makeEntry(uint16(x>>8), x>>4&15, x&15, x)
		at, found := slices.BinarySearchFunc(want, e, cmpEntry)
		if got := all(&tr, e); !slices.Equal(got, want[at:]) {
			t.Fatalf("from %v: got %d entries, want %d", e, len(got), len(want)-at)
		}
		if _, ok := tr.get(e); ok != found {
			t.Fatalf("get %v: got %v want %v", e, ok, found)
		}
	}
}

// symmetric returns what is in exactly one of a and b, b's entries as gone.
func symmetric(a, b []entry) (out []entry) {
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].less(b[0]):
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0].less(a[0]):
			e := b[0]
			e.hi |= goneBit
			out, b = append(out, e), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return out
}
