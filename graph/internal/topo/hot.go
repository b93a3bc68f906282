package topo

import "engram/graph/value"

// Column numbers a hot node column: the position of its name in Config.Columns.
type Column int

// State says what a hot column knows of a property.
type State uint8

const (
	// Absent: the element has no such property, or there is no such element.
	Absent State = iota
	// Exact: the value given is the stored one, kind included.
	Exact
	// SeeRecord: the property is there, but only the record has its value.
	SeeRecord
)

// cellKind says how a 64-bit cell holds a value.
type cellKind uint8

const (
	cellAbsent cellKind = iota
	cellRecord
	cellFalse
	cellTrue
	cellInt
	cellFloat
	cellString // number of an interned string
	cellDate
	cellLocalTime
	cellLocalDateTime // milliseconds
	cellDateTime      // UTC milliseconds, offset 0 and no zone
)

const maxMillis = int64(1) << 52

// encode packs v into a cell, exactly or as cellRecord.
func (s *shared) encode(v value.Value) (cellKind, uint64) {
	switch v.Kind() {
	case value.KindNull:
		return cellAbsent, 0
	case value.KindBool:
		if v.AsBool() {
			return cellTrue, 0
		}
		return cellFalse, 0
	case value.KindInt:
		return cellInt, uint64(v.AsInt())
	case value.KindFloat:
		return cellFloat, floatBits(v.AsFloat())
	case value.KindString:
		if n, ok := s.internString(v.AsString()); ok {
			return cellString, uint64(n)
		}
	case value.KindDate:
		return cellDate, uint64(v.AsDate().Days)
	case value.KindLocalTime:
		return cellLocalTime, uint64(v.AsLocalTime().Nanos)
	case value.KindLocalDateTime:
		if t := v.AsLocalDateTime(); wholeMillis(t.Seconds, t.Nanos) {
			return cellLocalDateTime, uint64(t.Seconds*1000 + int64(t.Nanos/1e6))
		}
	case value.KindDateTime:
		if t := v.AsDateTime(); t.Offset == 0 && t.Zone == "" && wholeMillis(t.Seconds, t.Nanos) {
			return cellDateTime, uint64(t.Seconds*1000 + int64(t.Nanos/1e6))
		}
	}
	return cellRecord, 0
}

func wholeMillis(seconds int64, nanos int32) bool {
	return nanos%1e6 == 0 && seconds > -maxMillis/1000 && seconds < maxMillis/1000
}

// decode is the reverse of encode.
func (s *shared) decode(k cellKind, bits uint64) (value.Value, State) {
	switch k {
	case cellAbsent:
		return value.Null, Absent
	case cellFalse, cellTrue:
		return value.Bool(k == cellTrue), Exact
	case cellInt:
		return value.Int(int64(bits)), Exact
	case cellFloat:
		return value.Float(floatOf(bits)), Exact
	case cellString:
		return value.String(s.strings.at(uint32(bits))), Exact
	case cellDate:
		return value.OfDate(value.Date{Days: int64(bits)}), Exact
	case cellLocalTime:
		return value.OfLocalTime(value.LocalTime{Nanos: int64(bits)}), Exact
	case cellLocalDateTime:
		sec, nanos := splitMillis(int64(bits))
		return value.OfLocalDateTime(value.LocalDateTime{Seconds: sec, Nanos: nanos}), Exact
	case cellDateTime:
		sec, nanos := splitMillis(int64(bits))
		return value.OfDateTime(value.DateTime{Seconds: sec, Nanos: nanos}), Exact
	}
	return value.Null, SeeRecord
}

func splitMillis(ms int64) (seconds int64, nanos int32) {
	seconds = ms / 1000
	rest := ms % 1000
	if rest < 0 {
		seconds, rest = seconds-1, rest+1000
	}
	return seconds, int32(rest) * 1e6
}
