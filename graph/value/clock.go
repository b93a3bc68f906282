package value

import "fmt"

// MakeLocalTime makes a time of day: hour 0 to 23, minute and second 0 to 59,
// nanos 0 to 999,999,999.
func MakeLocalTime(hour, minute, second, nanos int64) (LocalTime, error) {
	if err := checkPart("hour", hour, 0, 23); err != nil {
		return LocalTime{}, err
	}
	if err := checkPart("minute", minute, 0, 59); err != nil {
		return LocalTime{}, err
	}
	if err := checkPart("second", second, 0, 59); err != nil {
		return LocalTime{}, err
	}
	if err := checkPart("nanosecond", nanos, 0, nanosPerSecond-1); err != nil {
		return LocalTime{}, err
	}
	return LocalTime{Nanos: ((hour*60+minute)*60+second)*nanosPerSecond + nanos}, nil
}

// Clock returns the parts of a time of day; nanos are those of the second.
func (t LocalTime) Clock() (hour, minute, second int, nanos int32) {
	secs, n := t.Nanos/nanosPerSecond, t.Nanos%nanosPerSecond
	return int(secs / 3600), int(secs / 60 % 60), int(secs % 60), int32(n)
}

// Local returns the time of day without the offset.
func (t Time) Local() LocalTime { return LocalTime{Nanos: t.Nanos} }

// At returns the time at another offset that is the same instant of a day.
func (t Time) At(offset int32) Time {
	_, nanos := floorDiv(t.Nanos+int64(offset-t.Offset)*nanosPerSecond, nanosPerDay)
	return Time{Nanos: nanos, Offset: offset}
}

// utcNanos orders times: nanoseconds since midnight UTC, which may be negative
// or beyond a day.
func (t Time) utcNanos() int64 { return t.Nanos - int64(t.Offset)*nanosPerSecond }

// MakeLocalDateTime joins a date and a time of day.
func MakeLocalDateTime(d Date, t LocalTime) LocalDateTime {
	return LocalDateTime{Seconds: d.Days*secondsPerDay + t.Nanos/nanosPerSecond, Nanos: int32(t.Nanos % nanosPerSecond)}
}

// Date returns the date part.
func (t LocalDateTime) Date() Date {
	days, _ := floorDiv(t.Seconds, secondsPerDay)
	return Date{Days: days}
}

// Time returns the time of day.
func (t LocalDateTime) Time() LocalTime {
	_, secs := floorDiv(t.Seconds, secondsPerDay)
	return LocalTime{Nanos: secs*nanosPerSecond + int64(t.Nanos)}
}

// Add moves t by seconds and nanos, each of any sign.
func (t LocalDateTime) Add(seconds, nanos int64) (LocalDateTime, error) {
	secs, n, err := addSeconds(t.Seconds, int64(t.Nanos), seconds, nanos)
	return LocalDateTime{Seconds: secs, Nanos: n}, err
}

// Local returns the date and time a clock on the wall shows.
func (t DateTime) Local() LocalDateTime {
	return LocalDateTime{Seconds: t.Seconds + int64(t.Offset), Nanos: t.Nanos}
}

// In returns the zone t was written in.
func (t DateTime) In() Zone { return Zone{Name: t.Zone, Offset: t.Offset} }

// Add moves t along the time line; the offset is that of its zone afterwards.
func (t DateTime) Add(seconds, nanos int64) (DateTime, error) {
	secs, n, err := addSeconds(t.Seconds, int64(t.Nanos), seconds, nanos)
	if err != nil {
		return DateTime{}, err
	}
	return t.In().At(secs, n)
}

// addSeconds adds with carry and refuses what no date can be.
func addSeconds(seconds, nanos, addSecs, addNanos int64) (int64, int32, error) {
	carry, n := floorDiv(nanos+addNanos%nanosPerSecond, nanosPerSecond)
	carry += addNanos / nanosPerSecond
	const limit = 1 << 57 // over twice the span of all dates, in seconds
	if addSecs > limit || addSecs < -limit {
		return 0, 0, fmt.Errorf("%d seconds reach beyond all dates: years go from -%d to %d", addSecs, MaxYear, MaxYear)
	}
	sum := seconds + addSecs + carry
	days, _ := floorDiv(sum, secondsPerDay)
	if _, err := DateOfDays(days); err != nil {
		return 0, 0, err
	}
	return sum, int32(n), nil
}
