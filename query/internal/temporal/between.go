package temporal

import (
	"fmt"

	"engram/graph/value"
)

// Between returns the duration from a to b in the largest units: whole months,
// then whole days, then seconds. Where one of them has no date or no zone it
// takes the other's; where neither has a date only the time of day counts.
func Between(a, b value.Value) (value.Value, error) { return difference(a, b, true, true, true) }

// InMonths returns the whole months from a to b; none where either has no date.
func InMonths(a, b value.Value) (value.Value, error) { return difference(a, b, true, false, false) }

// InDays returns the whole days from a to b; none where either has no date.
func InDays(a, b value.Value) (value.Value, error) { return difference(a, b, false, true, false) }

// InSeconds returns the seconds and nanoseconds from a to b.
func InSeconds(a, b value.Value) (value.Value, error) { return difference(a, b, false, false, true) }

func difference(a, b value.Value, months, days, seconds bool) (value.Value, error) {
	if a.IsNull() || b.IsNull() {
		return value.Null, nil
	}
	for _, v := range []value.Value{a, b} {
		if !isInstant(v.Kind()) {
			return value.Null, fmt.Errorf("a duration is between two temporal values, not to or from %s", v.Kind().Named())
		}
	}
	from, to, dated, err := align(a, b)
	if err != nil {
		return value.Null, err
	}
	var d value.Duration
	at := from.Local()
	if months && dated {
		d.Months = monthsBetween(at, to.Local())
		if at, err = moved(at, d.Months, 0); err != nil {
			return value.Null, err
		}
	}
	if days && dated {
		d.Days = daysBetween(at, to.Local())
		if at, err = moved(at, 0, d.Days); err != nil {
			return value.Null, err
		}
	}
	if seconds {
		start := from
		if d.Months != 0 || d.Days != 0 {
			if start, err = from.In().Resolve(at, from.Offset); err != nil {
				return value.Null, err
			}
		}
		rest, err := value.MakeDuration(0, 0, to.Seconds-start.Seconds, int64(to.Nanos)-int64(start.Nanos))
		if err != nil {
			return value.Null, err
		}
		d.Seconds, d.Nanos = rest.Seconds, rest.Nanos
	}
	return value.OfDuration(d), nil
}

// align puts a and b on one time line and in one zone, that of a. dated tells
// whether both have a date of their own.
func align(a, b value.Value) (from, to value.DateTime, dated bool, err error) {
	p, q := partsOf(a), partsOf(b)
	dated = p.hasDate && q.hasDate
	lend(&p, q)
	lend(&q, p)
	if from, err = p.instant(); err != nil {
		return from, to, false, err
	}
	if to, err = q.instant(); err != nil {
		return from, to, false, err
	}
	to, err = from.In().At(to.Seconds, to.Nanos)
	return from, to, dated, err
}

// lend gives p the date and the zone it lacks.
func lend(p *parts, q parts) {
	if !p.hasDate {
		p.date = q.date
	}
	if !p.hasZone {
		p.zone = q.zone
	}
}

// monthsBetween counts whole months, toward zero.
func monthsBetween(a, b value.LocalDateTime) int64 {
	ay, am, ad := a.Date().Civil()
	by, bm, bd := b.Date().Civil()
	months := (by-ay)*12 + int64(bm-am)
	// A month is whole when the day and time reach those of a. Going back, the day
	// may not exist in that month: then its last one is where the months lead.
	if months < 0 {
		ad = min(ad, value.DaysInMonth(by, bm))
	}
	short := dayNanos(bd, b) - dayNanos(ad, a)
	switch {
	case months > 0 && short < 0:
		months--
	case months < 0 && short > 0:
		months++
	}
	return months
}

// dayNanos places a day of the month and its time on one scale.
func dayNanos(day int, t value.LocalDateTime) int64 {
	return int64(day)*86_400_000_000_000 + t.Time().Nanos
}

// daysBetween counts whole days, toward zero.
func daysBetween(a, b value.LocalDateTime) int64 {
	days := b.Date().Days - a.Date().Days
	switch short := b.Time().Nanos - a.Time().Nanos; {
	case days > 0 && short < 0:
		days--
	case days < 0 && short > 0:
		days++
	}
	return days
}

// moved shifts the date of t; the time of day stays.
func moved(t value.LocalDateTime, months, days int64) (value.LocalDateTime, error) {
	d, err := t.Date().AddMonths(months)
	if err != nil {
		return t, err
	}
	if d, err = d.AddDays(days); err != nil {
		return t, err
	}
	return value.MakeLocalDateTime(d, t.Time()), nil
}
