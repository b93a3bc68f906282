package value

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrNotStorable is wrapped by the errors of CheckStorable.
var ErrNotStorable = errors.New("value cannot be stored as a property")

// CheckStorable reports why v cannot be a property: it returns nil for
// booleans, numbers, strings, temporal values and lists of these that hold one
// kind (integers and floats may mix). Null, maps, nodes, edges, paths, nested
// lists and lists with a null or with mixed kinds are refused. Setting a
// property to null removes it, which is the caller's business.
func CheckStorable(v Value) error {
	switch v.Kind() {
	case KindList:
		return checkStorableList(v.AsList())
	case KindNull, KindMap, KindNode, KindEdge, KindPath:
		return fmt.Errorf("%w: %s is not allowed, only booleans, numbers, strings, temporal values and lists of them",
			ErrNotStorable, v.Kind().Named())
	}
	return checkScalar(v)
}

func checkStorableList(elems []Value) error {
	for i, e := range elems {
		switch e.Kind() {
		case KindNull, KindList, KindMap, KindNode, KindEdge, KindPath:
			return fmt.Errorf("%w: element %d of the list is %s; lists hold only booleans, numbers, strings or temporal values",
				ErrNotStorable, i, e.Kind().Named())
		}
		if e.Kind() != elems[0].Kind() && !(e.IsNumber() && elems[0].IsNumber()) {
			return fmt.Errorf("%w: the list mixes %s and %s; the elements of a stored list have one kind",
				ErrNotStorable, elems[0].Kind(), e.Kind())
		}
		if err := checkScalar(e); err != nil {
			return fmt.Errorf("element %d of the list: %w", i, err)
		}
	}
	return nil
}

// IsStorable reports whether CheckStorable finds nothing wrong.
func IsStorable(v Value) bool { return CheckStorable(v) == nil }

// Validate checks what the constructors take on trust: that text is UTF-8,
// that temporal values are in range and that nothing nests deeper than
// MaxDepth. Values from outside, such as parameters and stored records, should
// pass through it.
func Validate(v Value) error { return validate(v, 0) }

func validate(v Value, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("the value nests more than %d deep", MaxDepth)
	}
	switch v.Kind() {
	case KindList:
		for _, e := range v.AsList() {
			if err := validate(e, depth+1); err != nil {
				return err
			}
		}
	case KindMap:
		for _, e := range v.AsMap().Entries {
			if !utf8.ValidString(e.Key) {
				return fmt.Errorf("the key %q is not UTF-8", e.Key)
			}
			if err := validate(e.Value, depth+1); err != nil {
				return err
			}
		}
	}
	return checkScalar(v)
}

// checkScalar checks one value that is neither a list nor a map; others pass.
func checkScalar(v Value) error {
	switch v.Kind() {
	case KindString:
		if !utf8.ValidString(v.AsString()) {
			return fmt.Errorf("the text is not UTF-8: %.40q", v.AsString())
		}
	case KindDate:
		_, err := DateOfDays(v.AsDate().Days)
		return err
	case KindLocalTime:
		return checkNanos(v.AsLocalTime().Nanos, nanosPerDay)
	case KindTime:
		if err := checkNanos(v.AsTime().Nanos, nanosPerDay); err != nil {
			return err
		}
		return checkPart("offset", int64(v.AsTime().Offset), -maxOffset, maxOffset)
	case KindLocalDateTime:
		return v.AsLocalDateTime().check()
	case KindDateTime:
		return v.AsDateTime().check()
	case KindDuration:
		return checkNanos(int64(v.AsDuration().Nanos), nanosPerSecond)
	}
	return nil
}

func checkNanos(nanos, limit int64) error { return checkPart("nanosecond", nanos, 0, limit-1) }

func (t LocalDateTime) check() error {
	if err := checkNanos(int64(t.Nanos), nanosPerSecond); err != nil {
		return err
	}
	_, err := DateOfDays(t.Date().Days)
	return err
}

func (t DateTime) check() error {
	if err := checkPart("offset", int64(t.Offset), -maxOffset, maxOffset); err != nil {
		return err
	}
	return t.Local().check()
}
