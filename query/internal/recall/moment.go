package recall

import (
	"time"

	"engram/graph/value"
)

// Moment is a point in time, in seconds since 1970 and nanoseconds.
type Moment struct {
	Seconds int64
	Nanos   int32
}

// MomentOf returns the moment that a value names: a date is its first one; local
// times count as UTC. false: it names none.
func MomentOf(v value.Value) (Moment, bool) {
	switch v.Kind() {
	case value.KindDateTime:
		t := v.AsDateTime()
		return Moment{t.Seconds, t.Nanos}, true
	case value.KindLocalDateTime:
		t := v.AsLocalDateTime()
		return Moment{t.Seconds, t.Nanos}, true
	case value.KindDate:
		return Moment{Seconds: v.AsDate().Days * 86400}, true
	}
	return Moment{}, false
}

// Before reports whether m is earlier than n.
func (m Moment) Before(n Moment) bool {
	return m.Seconds < n.Seconds || m.Seconds == n.Seconds && m.Nanos < n.Nanos
}

// since returns how long n is before m, cut off at 292 years.
func (m Moment) since(n Moment) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	s := m.Seconds - n.Seconds
	if m.Seconds >= 0 != (n.Seconds >= 0) && s >= 0 != (m.Seconds >= 0) || s > most-1 || s < 1-most {
		if n.Before(m) {
			return 1<<63 - 1
		}
		return -1 << 63
	}
	return time.Duration(s)*time.Second + time.Duration(m.Nanos-n.Nanos)
}
