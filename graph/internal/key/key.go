// Package key makes the keys of the store: ids in big-endian order, and index
// keys whose byte order is the order of the values they stand for.
//
// Numbers order exactly across integers and floats: 1 and 1.0 are one key,
// 2^53+1 and the float nearest to it are two. A string over StringMax bytes is
// cut there and completed by a hash: equal strings still have equal keys, but
// a hit must be rechecked and the order among strings with the same first
// StringMax bytes is arbitrary.
package key

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"engram/graph/value"
)

// StringMax is how many bytes of a string its key holds.
const StringMax = 256

const hashSize = 16

// Classes in the order in which EQL sorts kinds. 0x00 ends a list, so it must
// stay below all of them.
const (
	classMap byte = 0x10 + 8*iota
	classList
	classDateTime
	classLocalDateTime
	classDate
	classTime
	classLocalTime
	classDuration
	classString
	classBool
	classNumber
	classNaN
)

// Ends of strings: the shorter string sorts first.
const (
	endWhole  byte = 0x01
	endHashed byte = 0x02
	escaped   byte = 0xFF
)

// ErrNoKey is returned for values that no index can hold.
var ErrNoKey = errors.New("the value has no index key")

// Uint appends v so that byte order is numeric order.
func Uint(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// ParseUint reads what Uint made; ok is false when the length is not 8.
func ParseUint(b []byte) (v uint64, ok bool) {
	if len(b) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(b), true
}

// Node makes the key of a node record.
func Node(id value.NodeID) []byte { return Uint(make([]byte, 0, 8), uint64(id)) }

// Append appends the order-preserving key of a value. No key is the prefix of
// another, so a scan over one finds exactly its entries. Null, nodes, edges and
// paths have none.
func Append(b []byte, v value.Value) ([]byte, error) {
	switch v.Kind() {
	case value.KindBool:
		if v.AsBool() {
			return append(b, classBool, 1), nil
		}
		return append(b, classBool, 0), nil
	case value.KindInt:
		return appendInt(b, v.AsInt()), nil
	case value.KindFloat:
		return appendFloat(b, v.AsFloat()), nil
	case value.KindString:
		return appendString(append(b, classString), v.AsString()), nil
	case value.KindList:
		var err error
		b = append(b, classList)
		for _, e := range v.AsList() {
			if b, err = Append(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, 0), nil
	case value.KindMap:
		var err error
		b = append(b, classMap)
		for _, e := range v.AsMap().Entries {
			if b, err = Append(appendString(append(b, classString), e.Key), e.Value); err != nil {
				return nil, err
			}
		}
		return append(b, 0), nil
	}
	return appendTemporal(b, v)
}

func appendTemporal(b []byte, v value.Value) ([]byte, error) {
	switch v.Kind() {
	case value.KindDate:
		return signed(append(b, classDate), v.AsDate().Days), nil
	case value.KindLocalTime:
		return signed(append(b, classLocalTime), v.AsLocalTime().Nanos), nil
	case value.KindTime:
		t := v.AsTime()
		b = signed(append(b, classTime), t.Nanos-int64(t.Offset)*1e9)
		return signed(b, int64(t.Offset)), nil
	case value.KindLocalDateTime:
		t := v.AsLocalDateTime()
		return signed(signed(append(b, classLocalDateTime), t.Seconds), int64(t.Nanos)), nil
	case value.KindDateTime:
		t := v.AsDateTime()
		b = signed(signed(append(b, classDateTime), t.Seconds), int64(t.Nanos))
		return appendString(signed(b, int64(t.Offset)), t.Zone), nil
	case value.KindDuration:
		d := v.AsDuration()
		b = signed(signed(append(b, classDuration), d.Months), d.Days)
		return signed(signed(b, d.Seconds), int64(d.Nanos)), nil
	}
	return nil, ErrNoKey
}

func signed(b []byte, v int64) []byte { return Uint(b, uint64(v)^1<<63) }

// A number is the nearest float, ordered as an unsigned integer, and what is
// missing to the exact value. Rounding is monotone, so the pair orders exactly.
func appendInt(b []byte, i int64) []byte {
	f := float64(i)
	// float64(i) may be 2^63, which int64 cannot hold: subtract modulo 2^64.
	var whole uint64
	if f >= 1<<63 {
		whole = 1 << 63
	} else {
		whole = uint64(int64(f))
	}
	return appendNumber(b, f, int64(uint64(i)-whole))
}

func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(b, classNaN)
	}
	return appendNumber(b, f, 0)
}

func appendNumber(b []byte, f float64, rest int64) []byte {
	if f == 0 {
		f = 0 // no negative zero
	}
	u := math.Float64bits(f)
	if u>>63 == 1 {
		u = ^u
	} else {
		u |= 1 << 63
	}
	return binary.BigEndian.AppendUint16(Uint(append(b, classNumber), u), uint16(rest+1<<15))
}

func appendString(b []byte, s string) []byte {
	head := s
	if len(s) > StringMax {
		head = s[:StringMax]
	}
	for i := 0; i < len(head); i++ {
		if head[i] == 0 {
			b = append(b, 0, escaped)
			continue
		}
		b = append(b, head[i])
	}
	if len(s) <= StringMax {
		return append(b, 0, endWhole)
	}
	sum := sha256.Sum256([]byte(s))
	b = append(b, 0, endHashed)
	return append(b, sum[:hashSize]...)
}

// After returns the smallest key above every key that begins with prefix, or
// nil when there is none.
func After(prefix []byte) []byte {
	out := append([]byte(nil), prefix...)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] != 0xFF {
			out[i]++
			return out[:i+1]
		}
	}
	return nil
}
