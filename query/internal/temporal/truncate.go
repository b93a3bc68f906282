package temporal

import (
	"fmt"
	"strings"

	"engram/graph/value"
)

// The names of the units of truncation, for messages. A day belongs to both: it
// is a date's smallest unit and a time's largest.
const (
	dateUnits  = "millennium, century, decade, year, weekYear, quarter, month, week, day"
	clockUnits = "day, hour, minute, second, millisecond, microsecond"
)

// clockUnit returns a unit of the clock in nanoseconds.
func clockUnit(unit string) (nanos int64, ok bool) {
	switch unit {
	case "day":
		return 86_400_000_000_000, true
	case "hour":
		return 3_600_000_000_000, true
	case "minute":
		return 60_000_000_000, true
	case "second":
		return 1_000_000_000, true
	case "millisecond":
		return 1_000_000, true
	case "microsecond":
		return 1_000, true
	}
	return 0, false
}

// Truncate is the truncate function of a kind, such as date.truncate: v cut
// down to the start of unit (in any case of letters), as a value of kind, with
// the fields of the map or null laid over it. What v lacks is midnight and UTC;
// a timezone among the fields replaces the zone and leaves the clock.
func Truncate(kind value.Kind, unit string, v, over value.Value) (value.Value, error) {
	if v.IsNull() {
		return value.Null, nil
	}
	if !isInstant(v.Kind()) {
		return value.Null, fmt.Errorf("%s.truncate() takes a temporal value, not %s", Name(kind), v.Kind().Named())
	}
	p, err := truncate(kind, strings.ToLower(unit), v)
	if err != nil || over.IsNull() {
		return buildOr(p, kind, err)
	}
	m := over.AsMap()
	if m == nil {
		return value.Null, fmt.Errorf("the fields of %s.truncate() are a map, not %s", Name(kind), over.Kind().Named())
	}
	f, err := newFields(kind, m)
	if err != nil {
		return value.Null, err
	}
	if len(f.base) > 0 || f.has[fEpochSeconds] || f.has[fEpochMillis] {
		return value.Null, fmt.Errorf("the fields of %s.truncate() are single components, not whole values", Name(kind))
	}
	f.keepSubsecond(strings.ToLower(unit), p)
	if p, err = f.override(kind, p); err != nil {
		return value.Null, err
	}
	if f.zone != nil {
		p.zone, p.hasZone = *f.zone, false
	}
	return p.build(kind)
}

func buildOr(p parts, kind value.Kind, err error) (value.Value, error) {
	if err != nil {
		return value.Null, err
	}
	return p.build(kind)
}

// keepSubsecond makes fields below the unit add to what the truncation left of
// the second: {nanosecond: 2} after a cut to milliseconds keeps these.
func (f *fields) keepSubsecond(unit string, p parts) {
	_, _, _, nanos := p.clock.Clock()
	keep := func(i field, n int32) {
		if !f.has[i] {
			f.has[i], f.n[i] = true, int64(n)
		}
	}
	switch {
	case unit == "millisecond" && (f.has[fMicrosecond] || f.has[fNanosecond]):
		keep(fMillisecond, nanos/1_000_000)
	case unit == "microsecond" && f.has[fNanosecond]:
		keep(fMillisecond, nanos/1_000_000)
		keep(fMicrosecond, nanos/1_000%1_000)
	}
}

// truncate cuts the parts of v down to unit.
func truncate(kind value.Kind, unit string, v value.Value) (parts, error) {
	p := partsOf(v)
	if kind == value.KindTime && p.hasZone {
		p.zone = value.Zone{Offset: p.offset}
	}
	size, isClock := clockUnit(unit)
	switch {
	case isClock && (unit != "day" || !hasDate(kind)):
		if !hasTime(kind) {
			return p, unitError(kind, unit)
		}
		if !p.hasTime || hasDate(kind) && !p.hasDate {
			return p, fmt.Errorf("%s.truncate('%s', ...) cannot be made from %s", Name(kind), unit, v.Kind().Named())
		}
		p.clock.Nanos -= p.clock.Nanos % size
		return p, nil
	case !hasDate(kind):
		return p, unitError(kind, unit)
	case !p.hasDate:
		return p, fmt.Errorf("%s.truncate('%s', ...) cannot be made from %s", Name(kind), unit, v.Kind().Named())
	}
	date, err := truncateDate(kind, unit, p.date)
	p.date, p.clock, p.hasTime = date, value.LocalTime{}, true
	return p, err
}

func unitError(kind value.Kind, unit string) error {
	units := clockUnits
	switch {
	case !hasTime(kind):
		units = dateUnits
	case hasDate(kind):
		units = dateUnits + strings.TrimPrefix(clockUnits, "day")
	}
	return fmt.Errorf("%s.truncate() has no unit %q: its units are %s", Name(kind), unit, units)
}

func truncateDate(kind value.Kind, unit string, d value.Date) (value.Date, error) {
	year, month, _ := d.Civil()
	switch unit {
	case "millennium":
		return value.MakeDate(floorTo(year, 1000), 1, 1)
	case "century":
		return value.MakeDate(floorTo(year, 100), 1, 1)
	case "decade":
		return value.MakeDate(floorTo(year, 10), 1, 1)
	case "year":
		return value.MakeDate(year, 1, 1)
	case "weekyear":
		weekYear, _ := d.ISOWeek()
		return value.MakeWeekDate(weekYear, 1, 1)
	case "quarter":
		quarter, _ := d.Quarter()
		return value.MakeQuarterDate(year, int64(quarter), 1)
	case "month":
		return value.MakeDate(year, int64(month), 1)
	case "week":
		return d.AddDays(int64(1 - d.Weekday()))
	case "day":
		return d, nil
	}
	return d, unitError(kind, unit)
}

func floorTo(year, step int64) int64 { return year - ((year%step)+step)%step }
