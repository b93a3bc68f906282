package value

import "math"

// Calendar arithmetic on days since 1970-01-01 in the proleptic Gregorian
// calendar, by integer formulas that hold for all int64 years of interest. The
// day-to-date conversion counts in cycles of 400 years and in years that begin
// on 1 March, so that the leap day comes last (Richards, "Mapping Time", 1998).
const (
	// MaxYear is the largest year a date can have; the smallest is -MaxYear.
	MaxYear = 999_999_999

	secondsPerDay          = 86_400
	nanosPerSecond         = 1_000_000_000
	nanosPerDay            = secondsPerDay * nanosPerSecond
	daysPerCycle           = 146_097   // 400 years
	secondsPerAverageMonth = 2_629_746 // daysPerCycle days / 4800
	daysToEpoch            = 719_468   // from 0000-03-01 to 1970-01-01
)

// floorDiv returns the quotient of a and b rounded down and the remainder, 0 to
// b-1. b must be positive.
func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// satAdd and satMul saturate instead of wrapping around. They serve only the
// sort order of durations far beyond any date.
func satAdd(a, b int64) int64 {
	s := a + b
	if a > 0 && b > 0 && s < 0 {
		return math.MaxInt64
	}
	if a < 0 && b < 0 && s >= 0 {
		return math.MinInt64
	}
	return s
}

func satMul(a, b int64) int64 { // b > 0
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	if a < math.MinInt64/b {
		return math.MinInt64
	}
	return a * b
}

// IsLeapYear reports whether year has a 29 February.
func IsLeapYear(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// DaysInMonth returns the length of a month, 28 to 31. month must be 1 to 12.
func DaysInMonth(year int64, month int) int {
	switch month {
	case 2:
		if IsLeapYear(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysOf returns the day number of a valid calendar date.
func daysOf(year int64, month, day int) int64 {
	m := int64(month) - 3 // months since March
	if m < 0 {
		m += 12
		year--
	}
	cycle, y := floorDiv(year, 400)
	dayOfYear := (153*m+2)/5 + int64(day) - 1
	return cycle*daysPerCycle + y*365 + y/4 - y/100 + dayOfYear - daysToEpoch
}

// civilOf is the inverse of daysOf.
func civilOf(days int64) (year int64, month, day int) {
	cycle, d := floorDiv(days+daysToEpoch, daysPerCycle)
	y := (d - d/1460 + d/36_524 - d/146_096) / 365
	d -= y*365 + y/4 - y/100
	m := (5*d + 2) / 153
	day = int(d-(153*m+2)/5) + 1
	year = cycle*400 + y
	if m < 10 {
		return year, int(m) + 3, day
	}
	return year + 1, int(m) - 9, day
}
