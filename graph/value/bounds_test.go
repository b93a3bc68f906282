package value

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Ints agrees with Contains for integers, and bounds with how values compare.
func TestBounds(t *testing.T) {
	edge := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	number := rapid.Custom(func(t *rapid.T) Value {
		i := rapid.SampledFrom(edge).Draw(t, "int")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return Float(float64(i))
		case 1:
			return Float(float64(i) + .5)
		}
		return Int(i)
	})
	rapid.Check(t, func(t *rapid.T) {
		b := Bounds{OverLow: rapid.Bool().Draw(t, "over"), UnderHigh: rapid.Bool().Draw(t, "under")}
		if rapid.Bool().Draw(t, "low") {
			b.Low = number.Draw(t, "low value")
		}
		if rapid.Bool().Draw(t, "high") {
			b.High = number.Draw(t, "high value")
		}
		v := number.Draw(t, "value")
		want := True
		if !b.Low.IsNull() {
			if b.OverLow {
				want = want.And(Less(b.Low, v))
			} else {
				want = want.And(LessOrEqual(b.Low, v))
			}
		}
		if !b.High.IsNull() {
			if b.UnderHigh {
				want = want.And(Less(v, b.High))
			} else {
				want = want.And(LessOrEqual(v, b.High))
			}
		}
		if got := b.Contains(v); got != (want == True) {
			t.Fatalf("%v contains %v: %v, want %v", b, v, got, want)
		}
		if low, high, ok := b.Ints(); ok && v.Kind() == KindInt {
			if got := low <= v.AsInt() && v.AsInt() <= high; got != (want == True) {
				t.Fatalf("%v from %d to %d holds %v: %v, want %v", b, low, high, v, got, want)
			}
		}
	})
	for _, v := range []Value{Null, Float(math.NaN()), String("1"), Bool(true)} {
		if (Bounds{}).Contains(v) {
			t.Errorf("open bounds contain %v", v)
		}
	}
}
