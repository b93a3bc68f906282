package temporal

import (
	"fmt"

	"engram/graph/value"
)

// parts is a temporal value taken apart: the wall clock's date and time, and
// the zone. What the kind lacks is zero and marked so.
type parts struct {
	date    value.Date
	clock   value.LocalTime
	zone    value.Zone
	offset  int32 // that of the source: clocks may show a time twice in a named zone
	hasDate bool
	hasTime bool
	hasZone bool
}

func partsOf(v value.Value) parts {
	p := parts{hasDate: hasDate(v.Kind()), hasTime: hasTime(v.Kind()), hasZone: hasZone(v.Kind())}
	switch v.Kind() {
	case value.KindDate:
		p.date = v.AsDate()
	case value.KindLocalTime:
		p.clock = v.AsLocalTime()
	case value.KindTime:
		t := v.AsTime()
		p.clock, p.offset, p.zone = t.Local(), t.Offset, value.Zone{Offset: t.Offset}
	case value.KindLocalDateTime:
		t := v.AsLocalDateTime()
		p.date, p.clock = t.Date(), t.Time()
	case value.KindDateTime:
		t := v.AsDateTime()
		p.date, p.clock, p.offset, p.zone = t.Local().Date(), t.Local().Time(), t.Offset, t.In()
	}
	return p
}

// local joins date and time of day.
func (p parts) local() value.LocalDateTime { return value.MakeLocalDateTime(p.date, p.clock) }

// instant places the wall clock in its zone.
func (p parts) instant() (value.DateTime, error) {
	if p.hasZone {
		return p.zone.Resolve(p.local(), p.offset)
	}
	return p.zone.Resolve(p.local())
}

// build makes a value of the given kind; it takes what it needs and drops the
// rest.
func (p parts) build(kind value.Kind) (value.Value, error) {
	switch kind {
	case value.KindDate:
		return value.OfDate(p.date), nil
	case value.KindLocalTime:
		return value.OfLocalTime(p.clock), nil
	case value.KindTime:
		offset, err := p.clockOffset()
		return value.OfTime(value.Time{Nanos: p.clock.Nanos, Offset: offset}), err
	case value.KindLocalDateTime:
		return value.OfLocalDateTime(p.local()), nil
	case value.KindDateTime:
		return wrap(value.OfDateTime)(p.instant())
	}
	return value.Null, fmt.Errorf("%s is no temporal kind", kind)
}

// clockOffset returns the offset of a time of day. A named zone has one only on
// a given date.
func (p parts) clockOffset() (int32, error) {
	if p.zone.Name == "" {
		return p.zone.Offset, nil
	}
	if !p.hasDate {
		return 0, fmt.Errorf("the offset of %s depends on the date: give time() an offset such as '+01:00', or use datetime()", p.zone.Name)
	}
	t, err := p.instant()
	return t.Offset, err
}

// project makes a value of another kind from the same instant or wall clock: a
// missing time is midnight, a missing zone UTC, a missing date an error.
func project(kind value.Kind, v value.Value) (value.Value, error) {
	p := partsOf(v)
	if hasDate(kind) && !p.hasDate || !hasDate(kind) && !p.hasTime {
		return value.Null, fmt.Errorf("%s() cannot be made from %s", Name(kind), v.Kind().Named())
	}
	return p.build(kind)
}
