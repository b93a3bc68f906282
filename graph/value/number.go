package value

import (
	"cmp"
	"math"
)

// two63 is 2^63, the first float64 above every int64.
const two63 = float64(1 << 63)

// compareIntFloat compares exactly: converting i to float64 would lose the low
// bits of integers beyond 2^53. f must not be NaN.
func compareIntFloat(i int64, f float64) int {
	if f >= two63 {
		return -1
	}
	if f < -two63 {
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, f)
}

// compareNumbers compares two numbers by their exact values; -0.0 equals 0.0.
// ok is false when either is NaN.
func compareNumbers(a, b Value) (c int, ok bool) {
	switch {
	case a.Kind() == KindInt && b.Kind() == KindInt:
		return cmp.Compare(int64(a.num), int64(b.num)), true
	case a.IsNaN() || b.IsNaN():
		return 0, false
	case a.Kind() == KindInt:
		return compareIntFloat(int64(a.num), b.AsFloat()), true
	case b.Kind() == KindInt:
		return -compareIntFloat(int64(b.num), a.AsFloat()), true
	}
	x, y := a.AsFloat(), b.AsFloat()
	switch {
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}

// IsNaN reports whether v is the float NaN.
func (v Value) IsNaN() bool { return v.Kind() == KindFloat && math.IsNaN(math.Float64frombits(v.num)) }
