package value

import (
	"strconv"
)

// appendPadded appends n with at least width digits; n must not be negative.
func appendPadded(dst []byte, n int64, width int) []byte {
	for limit := int64(10); width > 1; width-- {
		if n < limit {
			dst = append(dst, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, n, 10)
}

func (d Date) appendText(dst []byte) []byte {
	year, month, day := civilOf(d.Days)
	switch {
	case year < 0:
		dst, year = append(dst, '-'), -year
	case year > 9999:
		dst = append(dst, '+')
	}
	dst = append(appendPadded(dst, year, 4), '-')
	dst = append(appendPadded(dst, int64(month), 2), '-')
	return appendPadded(dst, int64(day), 2)
}

// appendText writes seconds and fractions only where they are not zero, and of
// a fraction no trailing zeros.
func (t LocalTime) appendText(dst []byte) []byte {
	hour, minute, second, nanos := t.Clock()
	dst = append(appendPadded(dst, int64(hour), 2), ':')
	dst = appendPadded(dst, int64(minute), 2)
	if second == 0 && nanos == 0 {
		return dst
	}
	dst = appendPadded(append(dst, ':'), int64(second), 2)
	return appendFraction(dst, int64(nanos))
}

// appendFraction appends .142 for 142,000,000 nanoseconds, nothing for 0.
func appendFraction(dst []byte, nanos int64) []byte {
	if nanos == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), nanos, 9)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func (t LocalDateTime) appendText(dst []byte) []byte {
	return t.Time().appendText(append(t.Date().appendText(dst), 'T'))
}

func (t DateTime) appendText(dst []byte) []byte {
	dst = append(t.Local().appendText(dst), FormatOffset(t.Offset)...)
	if t.Zone != "" {
		dst = append(append(append(dst, '['), t.Zone...), ']')
	}
	return dst
}

// appendText writes years and months, days, and hours, minutes and seconds as
// three groups, each with signs of its own: P1Y2M-3DT-4H-0.5S.
func (d Duration) appendText(dst []byte) []byte {
	if d == (Duration{}) {
		return append(dst, "PT0S"...)
	}
	dst = append(dst, 'P')
	dst = appendPart(dst, d.Months/12, 'Y')
	dst = appendPart(dst, d.Months%12, 'M')
	dst = appendPart(dst, d.Days, 'D')
	secs, nanos := d.Seconds, int64(d.Nanos)
	if secs < 0 && nanos > 0 { // one sign for seconds and their fraction
		secs, nanos = secs+1, nanos-nanosPerSecond
	}
	if secs == 0 && nanos == 0 {
		return dst
	}
	dst = append(dst, 'T')
	dst = appendPart(dst, secs/3600, 'H')
	dst = appendPart(dst, secs/60%60, 'M')
	secs %= 60
	switch {
	case nanos == 0:
		return appendPart(dst, secs, 'S')
	case nanos < 0 && secs == 0:
		dst = append(dst, "-0"...)
	default:
		dst = strconv.AppendInt(dst, secs, 10)
	}
	return append(appendFraction(dst, max(nanos, -nanos)), 'S')
}

func appendPart(dst []byte, n int64, unit byte) []byte {
	if n == 0 {
		return dst
	}
	return append(strconv.AppendInt(dst, n, 10), unit)
}

// String returns the date in ISO 8601, such as 1984-10-11. Years before 0 have
// a minus, years beyond 9999 a plus.
func (d Date) String() string { return string(d.appendText(nil)) }

// String returns the time in ISO 8601, such as 12:31:14.645 or 12:00.
func (t LocalTime) String() string { return string(t.appendText(nil)) }

// String returns the time and its offset, such as 12:31+01:00.
func (t Time) String() string { return string(t.Local().appendText(nil)) + FormatOffset(t.Offset) }

// String returns date and time in ISO 8601, such as 1984-10-11T12:31:14.
func (t LocalDateTime) String() string { return string(t.appendText(nil)) }

// String returns date, time, offset and zone, such as
// 1984-10-11T12:31:14+01:00[Europe/Stockholm].
func (t DateTime) String() string { return string(t.appendText(nil)) }

// String returns the duration in ISO 8601, such as P1Y2M3DT4H5M6.7S.
func (d Duration) String() string { return string(d.appendText(nil)) }
