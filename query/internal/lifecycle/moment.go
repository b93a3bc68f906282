package lifecycle

import (
	"engram/graph/value"
	"engram/query/internal/temporal"
)

// moment is the DATETIME that a value names: a date is its first moment, and local
// times count as UTC. false: it names none.
func moment(v value.Value) (value.Value, bool) {
	var t value.DateTime
	switch v.Kind() {
	case value.KindDateTime:
		return v, true
	case value.KindLocalDateTime:
		l := v.AsLocalDateTime()
		t.Seconds, t.Nanos = l.Seconds, l.Nanos
	case value.KindDate:
		t.Seconds = v.AsDate().Days * 86400
	default:
		return value.Null, false
	}
	return value.OfDateTime(t), true
}

// before reports whether a DATETIME is earlier than another, whatever their zones.
func before(a, b value.Value) bool {
	x, y := a.AsDateTime(), b.AsDateTime()
	return x.Seconds < y.Seconds || x.Seconds == y.Seconds && x.Nanos < y.Nanos
}

// same reports whether a value names the moment that a DATETIME is.
func same(v, at value.Value) bool {
	m, ok := moment(v)
	return ok && !before(m, at) && !before(at, m)
}

// anyMoment is moment, also of a text in ISO 8601 and of milliseconds since 1970, as
// timestamp() gives them.
func anyMoment(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.KindInt:
		t, err := temporal.FromEpochMillis(v.AsInt())
		return t, err == nil
	case value.KindString:
		t, err := temporal.Parse(value.KindDateTime, v.AsString())
		return t, err == nil
	}
	return moment(v)
}
