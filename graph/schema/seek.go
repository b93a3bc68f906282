package schema

import (
	"strings"

	"engram/graph/value"
)

// Seek asks an index for candidates: all elements that match, and perhaps some
// that don't, so the caller tests what it found. The zero values of all fields
// but Index ask for every element that has the first property.
type Seek struct {
	Index uint64
	// Eq are values that the first properties equal.
	Eq []value.Value
	// Lo and Hi are bounds, included, of the property behind those; Null: none.
	Lo, Hi value.Value
	// Prefix, when HasPrefix is set, is what the property behind those starts
	// with.
	Prefix    string
	HasPrefix bool
}

// Null reports whether the seek can find nothing: null and NaN equal nothing and
// are not compared.
func (s *Seek) Null() bool {
	for _, v := range s.Eq {
		if v.IsNull() || isNaN(v) {
			return true
		}
	}
	return isNaN(s.Lo) || isNaN(s.Hi)
}

func isNaN(v value.Value) bool {
	return v.Kind() == value.KindFloat && v.AsFloat() != v.AsFloat()
}

// Matches reports whether an element with these values of the index's properties
// is an answer: the definition of what a seek must find.
func (s *Seek) Matches(vals []value.Value) bool {
	if len(vals) == 0 || vals[0].IsNull() || s.Null() {
		return false
	}
	for i, v := range s.Eq {
		if value.Equal(vals[i], v) != value.True {
			return false
		}
	}
	if len(s.Eq) == len(vals) {
		return true
	}
	v := vals[len(s.Eq)]
	switch {
	case s.HasPrefix:
		text := v.AsString()
		return v.Kind() == value.KindString && len(text) >= len(s.Prefix) && text[:len(s.Prefix)] == s.Prefix
	case !s.Lo.IsNull() && value.LessOrEqual(s.Lo, v) != value.True:
		return false
	case !s.Hi.IsNull() && value.LessOrEqual(v, s.Hi) != value.True:
		return false
	}
	return true
}

// orderedBytes is how many bytes of a string an index is sure to order by: the rest
// of a long one is hashed.
const orderedBytes = 200

// Behind reports whether, in the order of an index (with desc: against it), every
// value from v on is sorted strictly behind w by value.Order. Where the index has
// another order than the values, among durations, lists, maps and strings that begin
// alike, it is false.
func Behind(v, w value.Value, desc bool) bool {
	c := value.Order(v, w)
	if v.Kind() == w.Kind() {
		switch v.Kind() {
		case value.KindDuration, value.KindList, value.KindMap:
			return false
		case value.KindString:
			c = strings.Compare(head(v.AsString()), head(w.AsString()))
		}
	}
	if desc {
		return c < 0
	}
	return c > 0
}

func head(s string) string { return s[:min(len(s), orderedBytes)] }
