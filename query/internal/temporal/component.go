package temporal

import (
	"math/big"

	"engram/graph/value"
)

// Component returns the component of a temporal value that d.key reads, such as
// d.year, d.offset or d.minutesOfHour. ok is false when the kind of v has no
// such component, and for a duration's total that does not fit an integer.
func Component(v value.Value, key string) (c value.Value, ok bool) {
	if v.Kind() == value.KindDuration {
		return durationComponent(v.AsDuration(), key)
	}
	p := partsOf(v)
	if p.hasDate {
		if n, ok := dateComponent(p.date, key); ok {
			return value.Int(n), true
		}
	}
	if p.hasTime {
		if n, ok := clockComponent(p.clock, key); ok {
			return value.Int(n), true
		}
	}
	if p.hasZone {
		return zoneComponent(v, p, key)
	}
	return value.Null, false
}

func dateComponent(d value.Date, key string) (int64, bool) {
	year, month, day := d.Civil()
	quarter, dayOfQuarter := d.Quarter()
	weekYear, week := d.ISOWeek()
	switch key {
	case "year":
		return year, true
	case "quarter":
		return int64(quarter), true
	case "month":
		return int64(month), true
	case "week":
		return int64(week), true
	case "weekYear":
		return weekYear, true
	case "day":
		return int64(day), true
	case "ordinalDay":
		return int64(d.OrdinalDay()), true
	case "weekDay", "dayOfWeek":
		return int64(d.Weekday()), true
	case "dayOfQuarter":
		return int64(dayOfQuarter), true
	}
	return 0, false
}

// clockComponent counts the parts of a second within the second, each alone.
func clockComponent(t value.LocalTime, key string) (int64, bool) {
	hour, minute, second, nanos := t.Clock()
	switch key {
	case "hour":
		return int64(hour), true
	case "minute":
		return int64(minute), true
	case "second":
		return int64(second), true
	case "millisecond":
		return int64(nanos / 1_000_000), true
	case "microsecond":
		return int64(nanos / 1_000), true
	case "nanosecond":
		return int64(nanos), true
	}
	return 0, false
}

func zoneComponent(v value.Value, p parts, key string) (value.Value, bool) {
	switch key {
	case "timezone":
		return value.String(p.zone.String()), true
	case "offset":
		return value.String(value.FormatOffset(p.offset)), true
	case "offsetMinutes":
		return value.Int(int64(p.offset / 60)), true
	case "offsetSeconds":
		return value.Int(int64(p.offset)), true
	}
	if v.Kind() != value.KindDateTime {
		return value.Null, false
	}
	t := v.AsDateTime()
	switch key {
	case "epochSeconds":
		return value.Int(t.Seconds), true
	case "epochMillis":
		return value.Int(t.Seconds*1000 + int64(t.Nanos)/1_000_000), true
	}
	return value.Null, false
}

// durationComponent reads totals (minutes counts all of the seconds part) and
// remainders (minutesOfHour). Months, days and seconds never mix. Seconds and
// what is smaller count from the floor of the seconds, as they are kept.
func durationComponent(d value.Duration, key string) (value.Value, bool) {
	nanos := int64(d.Nanos)
	switch key {
	case "years":
		return value.Int(d.Months / 12), true
	case "quarters":
		return value.Int(d.Months / 3), true
	case "months":
		return value.Int(d.Months), true
	case "weeks":
		return value.Int(d.Days / 7), true
	case "days":
		return value.Int(d.Days), true
	case "hours":
		return value.Int(d.Seconds / 3600), true
	case "minutes":
		return value.Int(d.Seconds / 60), true
	case "seconds":
		return value.Int(d.Seconds), true
	case "milliseconds":
		return total(d.Seconds, 1_000, nanos/1_000_000)
	case "microseconds":
		return total(d.Seconds, 1_000_000, nanos/1_000)
	case "nanoseconds":
		return total(d.Seconds, 1_000_000_000, nanos)
	case "quartersOfYear":
		return value.Int(d.Months / 3 % 4), true
	case "monthsOfQuarter":
		return value.Int(d.Months % 3), true
	case "monthsOfYear":
		return value.Int(d.Months % 12), true
	case "daysOfWeek":
		return value.Int(d.Days % 7), true
	case "minutesOfHour":
		return value.Int(d.Seconds / 60 % 60), true
	case "secondsOfMinute":
		return value.Int(d.Seconds % 60), true
	case "millisecondsOfSecond":
		return value.Int(nanos / 1_000_000), true
	case "microsecondsOfSecond":
		return value.Int(nanos / 1_000), true
	case "nanosecondsOfSecond":
		return value.Int(nanos), true
	}
	return value.Null, false
}

func total(seconds, perSecond, rest int64) (value.Value, bool) {
	n := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(perSecond))
	n.Add(n, big.NewInt(rest))
	if !n.IsInt64() {
		return value.Null, false
	}
	return value.Int(n.Int64()), true
}
