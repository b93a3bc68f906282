package value

// Bounds is a range of numbers. Low and High are numbers that are not NaN, or
// Null where the range is open.
type Bounds struct {
	Low, High Value
	// OverLow and UnderHigh leave the bound itself out.
	OverLow, UnderHigh bool
}

// Contains reports whether v is a number within the bounds, by the order in
// which integers and floats compare. NaN is within none.
func (b Bounds) Contains(v Value) bool {
	if !v.IsNumber() || v.IsNaN() {
		return false
	}
	if !b.Low.IsNull() {
		if c, ok := compareNumbers(v, b.Low); !ok || c < 0 || c == 0 && b.OverLow {
			return false
		}
	}
	if !b.High.IsNull() {
		if c, ok := compareNumbers(v, b.High); !ok || c > 0 || c == 0 && b.UnderHigh {
			return false
		}
	}
	return true
}

// Ints returns the first and the last integer within the bounds; ok is false
// when a bound is a float.
func (b Bounds) Ints() (low, high int64, ok bool) {
	low, high = -1<<63, 1<<63-1
	if !b.Low.IsNull() {
		if b.Low.Kind() != KindInt {
			return 0, 0, false
		}
		low = b.Low.AsInt()
		if b.OverLow {
			if low == high {
				return 1, 0, true
			}
			low++
		}
	}
	if !b.High.IsNull() {
		if b.High.Kind() != KindInt {
			return 0, 0, false
		}
		last := b.High.AsInt()
		if b.UnderHigh {
			if last == -1<<63 {
				return 1, 0, true
			}
			last--
		}
		high = last
	}
	return low, high, true
}

// NodeRefs appends the ids of a column of references to nodes; ok is false when
// there is anything else in it.
func NodeRefs(col []Value, ids []NodeID) (all []NodeID, ok bool) {
	for i := range col {
		v := &col[i]
		if v.Kind() != KindNode || v.ptr != nil {
			return ids, false
		}
		ids = append(ids, NodeID(v.num))
	}
	return ids, true
}

// Same reports whether two values are one and the same by their bits: always
// Equivalent then, while values that are Equivalent need not be the same.
func Same(a, b Value) bool { return a == b }

// Bits returns a number that is equal for values that are the Same.
func Bits(v Value) uint64 {
	return uint64(uintptr(v.ptr)) ^ v.num*0x9E3779B97F4A7C15 ^ uint64(v.Kind())
}
