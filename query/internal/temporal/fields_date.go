package temporal

import (
	"fmt"

	"engram/graph/value"
)

// The four ways to name a day of a year. A map uses one of them.
var dateGroups = [][2]field{
	{fMonth, fDay}, {fWeek, fDayOfWeek}, {fQuarter, fDayOfQuarter}, {fOrdinalDay, fOrdinalDay},
}

// group returns the index of the way that the map uses, 0 when it uses none.
func (f *fields) group() (int, error) {
	used, by := 0, fieldCount
	for i, g := range dateGroups {
		for _, x := range g {
			if !f.has[x] {
				continue
			}
			if by != fieldCount && used != i {
				return 0, fmt.Errorf("%s cannot be combined with %s", x, by)
			}
			used, by = i, x
		}
	}
	return used, nil
}

// dateOver lays the date fields over a base. What is not given comes from the
// base, or is the first of its kind; the year must come from one of them.
func (f *fields) dateOver(base parts) (value.Date, error) {
	group, err := f.group()
	if err != nil {
		return value.Date{}, err
	}
	if !base.hasDate {
		if !f.has[fYear] {
			return value.Date{}, fmt.Errorf("year is missing")
		}
		if err := f.needs(fYear, dateGroups[group][0], dateGroups[group][1]); err != nil {
			return value.Date{}, err
		}
	}
	switch group {
	case 1:
		return f.weekDate(base)
	case 2:
		return f.quarterDate(base)
	case 3:
		year, _, _ := base.date.Civil()
		return value.MakeOrdinalDate(f.or(fYear, year), f.n[fOrdinalDay])
	}
	return f.calendarDate(base)
}

// calendarDate keeps a day of the base within the month: 31 January with
// month 2 is the last of February.
func (f *fields) calendarDate(base parts) (value.Date, error) {
	year, month, day := int64(0), 1, 1
	if base.hasDate {
		year, month, day = base.date.Civil()
	}
	y, m, d := f.or(fYear, year), f.or(fMonth, int64(month)), f.or(fDay, int64(day))
	if !f.has[fDay] && m >= 1 && m <= 12 {
		d = min(d, int64(value.DaysInMonth(y, int(m))))
	}
	return value.MakeDate(y, m, d)
}

// weekDate takes the year of the base as that of its week.
func (f *fields) weekDate(base parts) (value.Date, error) {
	weekYear, week, weekday := int64(0), 1, 1
	if base.hasDate {
		weekYear, week = base.date.ISOWeek()
		weekday = base.date.Weekday()
	}
	return value.MakeWeekDate(f.or(fYear, weekYear), f.or(fWeek, int64(week)), f.or(fDayOfWeek, int64(weekday)))
}

// quarterDate keeps a day of the base within the quarter.
func (f *fields) quarterDate(base parts) (value.Date, error) {
	year, quarter, day := int64(0), 1, 1
	if base.hasDate {
		year, _, _ = base.date.Civil()
		quarter, day = base.date.Quarter()
	}
	y, q, d := f.or(fYear, year), f.or(fQuarter, int64(quarter)), f.or(fDayOfQuarter, int64(day))
	date, err := value.MakeQuarterDate(y, q, d)
	for !f.has[fDayOfQuarter] && err != nil && d > 90 {
		d--
		date, err = value.MakeQuarterDate(y, q, d)
	}
	return date, err
}

// clockOver lays the time fields over a base.
func (f *fields) clockOver(base parts) (value.LocalTime, error) {
	if !base.hasTime {
		if err := f.needs(fHour, fMinute, fSecond); err != nil {
			return value.LocalTime{}, err
		}
		for _, sub := range []field{fMillisecond, fMicrosecond, fNanosecond} {
			if err := f.needs(fSecond, sub); err != nil {
				return value.LocalTime{}, err
			}
		}
	}
	hour, minute, second, baseNanos := base.clock.Clock()
	nanos, err := f.subsecond(int64(baseNanos))
	if err != nil {
		return value.LocalTime{}, err
	}
	return value.MakeLocalTime(f.or(fHour, int64(hour)), f.or(fMinute, int64(minute)), f.or(fSecond, int64(second)), nanos)
}

// subsecond adds up millisecond, microsecond and nanosecond. Each counts within
// the next larger one that is given, else within the second. Any of them
// replaces all of the base's fraction.
func (f *fields) subsecond(base int64) (int64, error) {
	limit, sum, given := int64(1_000_000_000), int64(0), false
	for _, u := range []struct {
		field field
		nanos int64
	}{{fMillisecond, 1_000_000}, {fMicrosecond, 1_000}, {fNanosecond, 1}} {
		if !f.has[u.field] {
			continue
		}
		n := f.n[u.field]
		if n < 0 || n >= limit/u.nanos {
			return 0, &value.RangeError{Part: u.field.String(), Got: n, Min: 0, Max: limit/u.nanos - 1}
		}
		sum, limit, given = sum+n*u.nanos, u.nanos, true
	}
	if !given {
		return base, nil
	}
	return sum, nil
}
