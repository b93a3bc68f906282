package value

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Hash returns a hash that is the same for Equivalent values, on every machine
// and in every process. It is no defence against keys chosen to collide: a
// table that outsiders fill should use HashWith and a seed of its own, and no
// output may depend on the order of hashes.
func Hash(v Value) uint64 { return HashWith(0, v) }

// HashWith mixes v into h, so that HashWith(HashWith(seed, a), b) hashes the
// pair of a and b.
func HashWith(h uint64, v Value) uint64 {
	h = mix(h, uint64(rankOf(v)))
	switch v.Kind() {
	case KindInt, KindBool, KindNode, KindEdge, KindDate, KindLocalTime:
		return mix(h, v.num)
	case KindFloat:
		return mix(h, hashFloat(math.Float64frombits(v.num)))
	case KindString:
		return hashString(h, v.AsString())
	case KindList:
		return hashList(h, v.AsList())
	case KindMap:
		entries := v.AsMap().Entries
		h = mix(h, uint64(len(entries)))
		for _, e := range entries {
			h = HashWith(hashString(h, e.Key), e.Value)
		}
	case KindPath:
		p := v.AsPath()
		h = hashList(hashList(h, p.Nodes), p.Edges)
	case KindTime:
		return mix(h, uint64(v.AsTime().utcNanos()))
	case KindLocalDateTime:
		t := v.AsLocalDateTime()
		return mix(mix(h, uint64(t.Seconds)), uint64(t.Nanos))
	case KindDateTime:
		t := v.AsDateTime()
		return mix(mix(h, uint64(t.Seconds)), uint64(t.Nanos))
	case KindDuration:
		d := v.AsDuration()
		return mix(mix(mix(mix(h, uint64(d.Months)), uint64(d.Days)), uint64(d.Seconds)), uint64(d.Nanos))
	}
	return h
}

func hashList(h uint64, elems []Value) uint64 {
	h = mix(h, uint64(len(elems)))
	for _, e := range elems {
		h = HashWith(h, e)
	}
	return h
}

// hashFloat makes a float that equals an integer hash like it, -0.0 like 0.0
// and all NaNs alike.
func hashFloat(f float64) uint64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= -two63 && f < two63 && f == math.Trunc(f):
		return uint64(int64(f))
	}
	return math.Float64bits(f)
}

func hashString(h uint64, s string) uint64 {
	h = mix(h, uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h = mix(h, binary.LittleEndian.Uint64([]byte(s[:8])))
	}
	var tail uint64
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * i)
	}
	return mix(h, tail)
}

// mix folds the 128-bit product of two odd-ish words, the step of the wyhash
// family; the constants are the fractional digits of the golden ratio and of
// the square root of 3.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9e3779b97f4a7c15, x^bits.RotateLeft64(h, 32)^0xbb67ae8584caa73b)
	return hi ^ lo ^ h
}
