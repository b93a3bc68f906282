// Package learn is the format of what was learned from use: how nodes were used and
// what was added to the weights of edges, in buckets of 64 elements of a fixed width,
// and the events that led there, so that each can be taken back exactly.
package learn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// version begins every payload.
//
//	1  first
const version = 1

// PerBucket is how many elements share a bucket: element n is in bucket
// n / PerBucket, at place n % PerBucket.
const PerBucket = 64

// Activity is how a node was used.
type Activity struct {
	Uses uint32 // stays at its maximum when it gets there
	Last int64  // milliseconds since 1970
}

// Activities is a bucket of nodes; without uses there is no activity.
type Activities [PerBucket]Activity

// Unit is the weight of 1 in Weights: learned weights are whole numbers of units,
// so that adding and taking away are exact, and each is exactly a float32.
const Unit = 1 << 20

// Weights is a bucket of edges, each with what was learned in units; 0: nothing.
type Weights [PerBucket]int32

var errShort = errors.New("it ends too early")

// AppendActivities appends the payload of a bucket.
func AppendActivities(b []byte, a *Activities) []byte {
	b = header(b, func(i int) bool { return a[i].Uses > 0 })
	for i := range a {
		if a[i].Uses > 0 {
			b = binary.LittleEndian.AppendUint32(b, a[i].Uses)
			b = binary.LittleEndian.AppendUint64(b, uint64(a[i].Last))
		}
	}
	return b
}

// DecodeActivities reads the payload of a bucket.
func DecodeActivities(b []byte) (*Activities, error) {
	set, b, err := places(b, 12)
	if err != nil {
		return nil, err
	}
	out := &Activities{}
	for ; set != 0; set &= set - 1 {
		a := &out[bits.TrailingZeros64(set)]
		a.Uses, a.Last = binary.LittleEndian.Uint32(b), int64(binary.LittleEndian.Uint64(b[4:]))
		if a.Uses == 0 {
			return nil, errors.New("an activity without a use")
		}
		b = b[12:]
	}
	return out, nil
}

// AppendWeights appends the payload of a bucket.
func AppendWeights(b []byte, w *Weights) []byte {
	b = header(b, func(i int) bool { return w[i] != 0 })
	for _, units := range w {
		if units != 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(units))
		}
	}
	return b
}

// DecodeWeights reads the payload of a bucket.
func DecodeWeights(b []byte) (*Weights, error) {
	set, b, err := places(b, 4)
	if err != nil {
		return nil, err
	}
	out := &Weights{}
	for ; set != 0; set &= set - 1 {
		units := int32(binary.LittleEndian.Uint32(b))
		if units == 0 || units > Unit || units < -Unit {
			return nil, fmt.Errorf("a learned weight of %d units", units)
		}
		out[bits.TrailingZeros64(set)] = units
		b = b[4:]
	}
	return out, nil
}

// header appends the version and which places are taken.
func header(b []byte, taken func(int) bool) []byte {
	set := uint64(0)
	for i := range PerBucket {
		if taken(i) {
			set |= 1 << i
		}
	}
	return binary.LittleEndian.AppendUint64(append(b, version), set)
}

// places reads a header; what is behind it has width bytes a place.
func places(b []byte, width int) (set uint64, rest []byte, err error) {
	if len(b) < 9 || b[0] != version {
		return 0, nil, fmt.Errorf("not a bucket of version %d", version)
	}
	set, rest = binary.LittleEndian.Uint64(b[1:]), b[9:]
	if len(rest) != width*bits.OnesCount64(set) {
		return 0, nil, errShort
	}
	return set, rest, nil
}

// Float is the weight that units stand for.
func Float(units int32) float64 { return float64(units) / Unit }

// Units is the whole number of units nearest to a weight.
func Units(w float64) int32 { return int32(math.Round(w * Unit)) }
