package value

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"
)

// MaxDepth is how deeply lists and maps may nest. It keeps the recursion over
// values within the stack.
const MaxDepth = 256

// FromAny turns a Go value into a Value, for statement parameters: nil, bool,
// all integers, floats, string, json.Number, time.Time (a datetime),
// time.Duration (a duration), the temporal types of this package, Value itself,
// pointers to Node and Edge, and slices, arrays and string-keyed maps of those.
// An unsigned integer beyond int64, text that is not UTF-8, []byte and any
// other type is an error that names the place in the value.
func FromAny(x any) (Value, error) { return fromAny(x, "", 0) }

func fromAny(x any, at string, depth int) (Value, error) {
	if depth > MaxDepth {
		return Null, placeError(at, "it is nested more than %d deep", MaxDepth)
	}
	switch x := x.(type) {
	case nil:
		return Null, nil
	case Value:
		return x, Validate(x)
	case bool:
		return Bool(x), nil
	case int:
		return Int(int64(x)), nil
	case int64:
		return Int(x), nil
	case float64:
		return Float(x), nil
	case string:
		return fromString(x, at)
	case []byte:
		return Null, placeError(at, "bytes cannot be stored: give text, or encode them as text")
	case json.Number:
		return fromNumber(x, at)
	case time.Time:
		return fromTime(x, at)
	case time.Duration:
		d, err := MakeDuration(0, 0, int64(x/time.Second), int64(x%time.Second))
		return OfDuration(d), err
	case []any:
		return fromSlice(len(x), func(i int) any { return x[i] }, at, depth)
	case map[string]any:
		return fromMap(x, at, depth)
	case []Value:
		return List(append([]Value(nil), x...)), Validate(List(x))
	}
	if v, ok := fromOwn(x); ok {
		return v, nil
	}
	return fromReflect(x, at, depth)
}

// fromOwn takes the types of this package.
func fromOwn(x any) (Value, bool) {
	switch x := x.(type) {
	case Date:
		return OfDate(x), true
	case LocalTime:
		return OfLocalTime(x), true
	case Time:
		return OfTime(x), true
	case LocalDateTime:
		return OfLocalDateTime(x), true
	case DateTime:
		return OfDateTime(x), true
	case Duration:
		return OfDuration(x), true
	case *Node:
		if x != nil {
			return OfNode(x), true
		}
	case *Edge:
		if x != nil {
			return OfEdge(x), true
		}
	case *Path:
		if x != nil {
			return OfPath(x), true
		}
	}
	return Null, false
}

func fromReflect(x any, at string, depth int) (Value, error) {
	r := reflect.ValueOf(x)
	switch r.Kind() {
	case reflect.Bool:
		return Bool(r.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int(r.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if r.Uint() > math.MaxInt64 {
			return Null, placeError(at, "%d is larger than the largest integer, %d", r.Uint(), int64(math.MaxInt64))
		}
		return Int(int64(r.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return Float(r.Float()), nil
	case reflect.String:
		return fromString(r.String(), at)
	case reflect.Slice, reflect.Array:
		if r.Type().Elem().Kind() == reflect.Uint8 {
			return Null, placeError(at, "bytes cannot be stored: give text, or encode them as text")
		}
		return fromSlice(r.Len(), func(i int) any { return r.Index(i).Interface() }, at, depth)
	case reflect.Map:
		if r.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, r.Len())
		for it := r.MapRange(); it.Next(); {
			m[it.Key().String()] = it.Value().Interface()
		}
		return fromMap(m, at, depth)
	case reflect.Pointer:
		if r.IsNil() {
			return Null, nil
		}
	}
	return Null, placeError(at, "a Go %T is no value: give null, booleans, numbers, text, times, lists or maps", x)
}

func fromSlice(n int, get func(int) any, at string, depth int) (Value, error) {
	elems := make([]Value, n)
	for i := range elems {
		v, err := fromAny(get(i), at+"["+strconv.Itoa(i)+"]", depth+1)
		if err != nil {
			return Null, err
		}
		elems[i] = v
	}
	return List(elems), nil
}

// fromMap goes through the keys in order, so that of several errors it is
// always the same one that is reported.
func fromMap(m map[string]any, at string, depth int) (Value, error) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	entries := make([]Prop, 0, len(m))
	for _, k := range keys {
		if !utf8.ValidString(k) {
			return Null, placeError(at, "the key %q is not UTF-8", k)
		}
		v, err := fromAny(m[k], at+"."+k, depth+1)
		if err != nil {
			return Null, err
		}
		entries = append(entries, Prop{Key: k, Value: v})
	}
	return Map(entries), nil
}

func fromString(s, at string) (Value, error) {
	if !utf8.ValidString(s) {
		return Null, placeError(at, "the text is not UTF-8")
	}
	return String(s), nil
}

// fromNumber makes an integer of a number without fraction and exponent.
func fromNumber(n json.Number, at string) (Value, error) {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return Int(i), nil
	}
	f, err := n.Float64()
	if err != nil {
		return Null, placeError(at, "%q is no number that fits 64 bits", n.String())
	}
	if _, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return Null, placeError(at, "%s is larger than the largest integer, %d", n.String(), int64(math.MaxInt64))
	}
	return Float(f), nil
}

// fromTime keeps the zone's name when it is one of the time zone database.
func fromTime(t time.Time, at string) (Value, error) {
	_, offset := t.Zone()
	dt := DateTime{Seconds: t.Unix(), Nanos: int32(t.Nanosecond()), Offset: int32(offset)}
	if name := t.Location().String(); name != "UTC" && name != "Local" {
		if _, err := location(name); err == nil {
			dt.Zone = name
		}
	}
	if err := dt.check(); err != nil {
		return Null, placeError(at, "%w", err)
	}
	return OfDateTime(dt), nil
}

func placeError(at, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if at == "" {
		return err
	}
	return fmt.Errorf("at %s: %w", at[min(1, len(at)):], err)
}

// Any returns v as plain Go: nil, bool, int64, float64, string, []any,
// map[string]any, *Node, *Edge, *Path or one of the temporal types. A node or
// edge that is not loaded becomes its id. FromAny takes the result back.
func (v Value) Any() any {
	switch v.Kind() {
	case KindBool:
		return v.AsBool()
	case KindInt:
		return v.AsInt()
	case KindFloat:
		return v.AsFloat()
	case KindString:
		return v.AsString()
	case KindList:
		out := make([]any, len(v.AsList()))
		for i, e := range v.AsList() {
			out[i] = e.Any()
		}
		return out
	case KindMap:
		out := make(map[string]any, len(v.AsMap().Entries))
		for _, e := range v.AsMap().Entries {
			out[e.Key] = e.Value.Any()
		}
		return out
	case KindNode:
		if n := v.AsNode(); n != nil {
			return n
		}
		return v.NodeID()
	case KindEdge:
		if e := v.AsEdge(); e != nil {
			return e
		}
		return v.EdgeID()
	case KindPath:
		return v.AsPath()
	}
	return v.anyTemporal()
}

func (v Value) anyTemporal() any {
	switch v.Kind() {
	case KindDate:
		return v.AsDate()
	case KindLocalTime:
		return v.AsLocalTime()
	case KindTime:
		return v.AsTime()
	case KindLocalDateTime:
		return v.AsLocalDateTime()
	case KindDateTime:
		return v.AsDateTime()
	case KindDuration:
		return v.AsDuration()
	}
	return nil
}
