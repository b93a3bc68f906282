package learn

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuckets(t *testing.T) {
	a := &Activities{0: {1, -5}, 7: {math.MaxUint32, 1 << 40}, 63: {2, 0}}
	b := AppendActivities(nil, a)
	if len(b) != 9+3*12 {
		t.Errorf("three activities take %d bytes", len(b))
	}
	got, err := DecodeActivities(b)
	if err != nil || *got != *a {
		t.Errorf("%v, %v", got, err)
	}
	w := &Weights{1: Unit, 2: -Unit, 63: 5}
	b = AppendWeights(nil, w)
	if len(b) != 9+3*4 {
		t.Errorf("three weights take %d bytes", len(b))
	}
	weights, err := DecodeWeights(b)
	if err != nil || *weights != *w {
		t.Errorf("%v, %v", weights, err)
	}
	for n := range b {
		if _, err := DecodeWeights(b[:n]); err == nil {
			t.Errorf("the first %d bytes of %d were taken", n, len(b))
		}
	}
}

func TestEvents(t *testing.T) {
	want := []Event{{At: -1, Kind: Used, Element: 1 << 60, Before: 1}, {At: 2, Kind: Strengthened, Element: 3, Units: -Unit}, {Kind: Linked}}
	b := AppendEvents(nil, want)
	got, err := DecodeEvents(b)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	for n := range b {
		if _, err := DecodeEvents(b[:n]); err == nil {
			t.Errorf("the first %d bytes of %d were taken", n, len(b))
		}
	}
	for _, c := range []Counters{{1, 2, 3, 1 << 50, 0}, {1, 2, 3, 4, 1 << 41}} {
		if got, err := DecodeCounters(AppendCounters(nil, c)); got != c || err != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestEveryWeightIsAFloat32: the topology keeps learned weights as float32, so that
// none may be rounded there.
func TestEveryWeightIsAFloat32(t *testing.T) {
	for units := int32(-Unit); units <= Unit; units += 7 {
		if w := float64(float32(Float(units))); w != Float(units) || Units(w) != units {
			t.Fatalf("%d units are %v as a float32", units, w)
		}
	}
}

// TestOja has values computed by hand: from 0 to .05, then .05 + .05 (1 - .05), in
// units of 2^-20.
func TestOja(t *testing.T) {
	units := int32(0)
	for i, want := range []int32{52429, 102236, 149553} {
		units += Strengthen(units, 1, 1, int64(units))
		if units != want {
			t.Errorf("after %d uses %d units, want %d", i+1, units, want)
		}
	}
	if got := Strengthen(0, .5, 1, 0); got != 26214 {
		t.Errorf("half the strength adds %d units, want 26214", got)
	}
	if got := Strengthen(0, .1, .1, 0); got != 10486 {
		t.Errorf("a weak use adds %d units, want the least weight, 10486", got)
	}
	for range 200 {
		units += Strengthen(units, 1, 1, int64(units))
	}
	if units != 996147 {
		t.Errorf("at most %d units, want 996147", units)
	}
	if got := Strengthen(0, 1, 1, 4*Unit-100); got != 100 {
		t.Errorf("a node with room for 100 units learns %d", got)
	}
	if got := Strengthen(0, 1, 1, 4*Unit); got != 0 {
		t.Errorf("a node without room learns %d", got)
	}
	if got := Strengthen(Unit/2, 0, 1, Unit/2); got != -26214 {
		t.Errorf("an end that was of no use changes %d units, want -26214", got)
	}
}

func TestObserve(t *testing.T) {
	day := int64(24 * 3600 * 1000)
	p, enough := Observe(nil, 0)
	if enough {
		t.Error("once is enough")
	}
	p, enough = Observe(p, 3*day)
	if enough {
		t.Error("twice is enough")
	}
	if _, enough = Observe(p, 7*day); enough {
		t.Error("three times in more than seven days are enough")
	}
	if _, enough = Observe(p, 7*day-1); !enough {
		t.Error("three times in seven days are not enough")
	}
}

// FuzzDecode: nothing panics, and what is read is written the same way.
func FuzzDecode(f *testing.F) {
	f.Add(AppendActivities(nil, &Activities{3: {1, 2}}))
	f.Add(AppendWeights(nil, &Weights{3: 4}))
	f.Add(AppendEvents(nil, []Event{{At: 1, Kind: Linked, Element: 2}}))
	f.Add(AppendPair(nil, Pair{1, 2}))
	f.Add(AppendCounters(nil, Counters{1, 2, 3, 4, 5}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := DecodeActivities(b); err == nil && !bytes.Equal(AppendActivities(nil, a), b) {
			t.Errorf("activities %x", b)
		}
		if w, err := DecodeWeights(b); err == nil && !bytes.Equal(AppendWeights(nil, w), b) {
			t.Errorf("weights %x", b)
		}
		if e, err := DecodeEvents(b); err == nil {
			if again, err := DecodeEvents(AppendEvents(nil, e)); err != nil || !cmp.Equal(e, again) {
				t.Errorf("events %x: %v", b, err)
			}
		}
		if p, err := DecodePair(b); err == nil {
			if again, err := DecodePair(AppendPair(nil, p)); err != nil || !cmp.Equal(p, again) {
				t.Errorf("a pair %x: %v", b, err)
			}
		}
		if c, err := DecodeCounters(b); err == nil {
			if again, err := DecodeCounters(AppendCounters(nil, c)); err != nil || c != again {
				t.Errorf("counters %x: %v", b, err)
			}
		}
	})
}
