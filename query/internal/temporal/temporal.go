// Package temporal implements the temporal functions and operators of the
// language over the types of package value: construction from text, maps and
// other temporal values, truncation, differences, arithmetic and components.
//
// Everything here is a pure function; the clock is passed in. Functions that
// take a kind want one of value.KindDate, KindLocalTime, KindTime,
// KindLocalDateTime, KindDateTime and, for Construct, KindDuration. A null
// argument gives null, as everywhere in the language. Errors are plain and say
// what is wrong with the argument; the caller adds the place in the statement.
package temporal

import (
	"fmt"
	"strings"

	"engram/graph/value"
)

// Construct is the function named after kind with one argument: date('2015-07'),
// time({hour: 12}), datetime(other), duration('P1D'). arg is a string, a map or
// a temporal value. Without a zone of its own a time or datetime is in UTC.
func Construct(kind value.Kind, arg value.Value) (value.Value, error) {
	switch {
	case arg.IsNull():
		return value.Null, nil
	case arg.Kind() == value.KindString:
		return Parse(kind, arg.AsString())
	case kind == value.KindDuration:
		return constructDuration(arg)
	case arg.Kind() == value.KindMap:
		f, err := newFields(kind, arg.AsMap())
		if err != nil {
			return value.Null, err
		}
		return f.build(kind)
	case isInstant(arg.Kind()):
		return project(kind, arg)
	}
	return value.Null, fmt.Errorf("%s() takes a string, a map or a temporal value, not %s", Name(kind), arg.Kind().Named())
}

// Parse reads text in ISO 8601 as a value of the given kind.
func Parse(kind value.Kind, text string) (value.Value, error) {
	switch kind {
	case value.KindDate:
		return wrap(value.OfDate)(value.ParseDate(text))
	case value.KindLocalTime:
		return wrap(value.OfLocalTime)(value.ParseLocalTime(text))
	case value.KindTime:
		return wrap(value.OfTime)(value.ParseTime(text))
	case value.KindLocalDateTime:
		return wrap(value.OfLocalDateTime)(value.ParseLocalDateTime(text))
	case value.KindDateTime:
		return wrap(value.OfDateTime)(value.ParseDateTime(text))
	case value.KindDuration:
		return wrap(value.OfDuration)(value.ParseDuration(text))
	}
	return value.Null, fmt.Errorf("%s is no temporal kind", kind)
}

// wrap turns the result of a constructor of package value into a Value.
func wrap[T any](of func(T) value.Value) func(T, error) (value.Value, error) {
	return func(t T, err error) (value.Value, error) {
		if err != nil {
			return value.Null, err
		}
		return of(t), nil
	}
}

// Name returns the function that makes values of a temporal kind, such as
// localdatetime.
func Name(kind value.Kind) string {
	return strings.ToLower(strings.ReplaceAll(kind.String(), " ", ""))
}

// Current returns now as a value of the given kind. zone is null (UTC), a
// string that names a zone or gives an offset, or a map with the key timezone;
// the value shows the time there.
func Current(kind value.Kind, now value.DateTime, zone value.Value) (value.Value, error) {
	if m := zone.AsMap(); m != nil {
		inner, ok := m.Get("timezone")
		if !ok || len(m.Entries) != 1 {
			return value.Null, fmt.Errorf("the only key of a clock's map is timezone, such as {timezone: '+01:00'}")
		}
		zone = inner
	}
	z, err := zoneOf(zone)
	if err != nil {
		return value.Null, err
	}
	there, err := z.At(now.Seconds, now.Nanos)
	if err != nil {
		return value.Null, err
	}
	return project(kind, value.OfDateTime(there))
}

// zoneOf reads a zone argument; null is UTC.
func zoneOf(v value.Value) (value.Zone, error) {
	switch v.Kind() {
	case value.KindNull:
		return value.Zone{}, nil
	case value.KindString:
		return value.ParseZone(v.AsString())
	}
	return value.Zone{}, fmt.Errorf("a time zone is a string such as '+01:00' or 'Europe/Stockholm', not %s", v.Kind().Named())
}

// FromEpoch returns the datetime in UTC that many seconds and nanoseconds, each
// of any sign, after 1970-01-01T00:00Z.
func FromEpoch(seconds, nanos int64) (value.Value, error) {
	return wrap(value.OfDateTime)(value.DateTime{}.Add(seconds, nanos))
}

// FromEpochMillis is FromEpoch in milliseconds.
func FromEpochMillis(millis int64) (value.Value, error) {
	return FromEpoch(millis/1000, millis%1000*1_000_000)
}

func isInstant(k value.Kind) bool { return hasDate(k) || hasTime(k) }

func hasDate(k value.Kind) bool {
	return k == value.KindDate || k == value.KindLocalDateTime || k == value.KindDateTime
}

func hasTime(k value.Kind) bool {
	return k == value.KindLocalTime || k == value.KindTime || k == value.KindLocalDateTime || k == value.KindDateTime
}

func hasZone(k value.Kind) bool { return k == value.KindTime || k == value.KindDateTime }
