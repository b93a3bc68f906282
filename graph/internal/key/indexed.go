package key

import (
	"crypto/sha256"

	"engram/graph/value"
)

// Limits of one component of an index key, in bytes: a longer one, of a long
// list, is cut and completed by a hash; bounds are cut before that place.
const (
	componentMax  = 512
	componentHead = 464
	boundMax      = 400
)

// absent stands for a property that an element does not have. It is above all
// classes, as null is above all values.
const absent byte = 0xF0

// AppendIndexed appends one component of an index key, so that values that are
// equal have equal components: unlike Append it tells neither the zone nor the
// offset of a moment. Null has a component too.
//
// Equal components belong to equal values or, rarely, to long ones that begin
// alike: a hit must be rechecked.
func AppendIndexed(b []byte, v value.Value) ([]byte, error) {
	if v.IsNull() {
		return append(b, absent), nil
	}
	start := len(b)
	b, err := appendEqual(b, v)
	if err != nil {
		return nil, err
	}
	if len(b)-start > componentMax {
		sum := sha256.Sum256(b[start:])
		b = append(b[:start+componentHead], sum[:hashSize]...)
	}
	return b, nil
}

func appendEqual(b []byte, v value.Value) ([]byte, error) {
	switch v.Kind() {
	case value.KindTime:
		t := v.AsTime()
		return signed(append(b, classTime), t.Nanos-int64(t.Offset)*1e9), nil
	case value.KindDateTime:
		t := v.AsDateTime()
		return signed(signed(append(b, classDateTime), t.Seconds), int64(t.Nanos)), nil
	case value.KindList:
		var err error
		b = append(b, classList)
		for _, e := range v.AsList() {
			if b, err = appendEqual(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, 0), nil
	}
	return Append(b, v)
}

// Range returns the components from lo (included) up to hi (not included) that
// hold every value between two bounds that are included; Null is no bound. ok is
// false when nothing can lie between them. A value outside of the bounds may
// lie inside too: it must be rechecked.
func Range(lo, hi value.Value) (from, to []byte, ok bool) {
	if lo.IsNull() && hi.IsNull() {
		return nil, []byte{absent}, true
	}
	some := lo
	if some.IsNull() {
		some = hi
	}
	class, err := appendEqual(nil, some)
	if err != nil {
		return nil, nil, false
	}
	from, to = class[:1:1], After(class[:1])
	if some.Kind() == value.KindList || some.Kind() == value.KindMap {
		return from, to, true // by elements, which the keys of lists do not follow
	}
	if !lo.IsNull() {
		from = bound(lo)
	}
	if !hi.IsNull() {
		b := bound(hi)
		if len(b) == 0 || b[0] != class[0] {
			return nil, nil, false // bounds of different kinds
		}
		to = After(b)
	}
	return from, to, true
}

// bound is a start that the components of all values equal to v have, and in
// which the components of values below and above sort below and above.
func bound(v value.Value) []byte {
	if v.Kind() == value.KindString {
		s := v.AsString()
		if len(s) > StringMax {
			return Prefix(s)
		}
	}
	b, err := appendEqual(nil, v)
	if err != nil {
		return nil
	}
	return b[:min(len(b), boundMax)]
}

// Prefix returns the start of the components of all strings that begin with s.
func Prefix(s string) []byte {
	b := []byte{classString}
	for i := 0; i < min(len(s), StringMax) && len(b) < boundMax; i++ {
		if b = append(b, s[i]); s[i] == 0 {
			b = append(b, escaped)
		}
	}
	return b
}
