package value

import (
	"fmt"
	"math/big"
	"strings"
)

var (
	ratSecondsPerDay   = big.NewRat(secondsPerDay, 1)
	ratDaysPerMonth    = big.NewRat(secondsPerAverageMonth, secondsPerDay)
	ratNanosPerSecond  = big.NewRat(nanosPerSecond, 1)
	errDurationTooLong = fmt.Errorf("the duration does not fit: months, days and seconds are 64-bit integers")
)

// MakeDuration makes a duration from its parts; nanos may be of any size and
// sign and carries over into the seconds.
func MakeDuration(months, days, seconds, nanos int64) (Duration, error) {
	carry, n := floorDiv(nanos, nanosPerSecond)
	sum := seconds + carry
	if carry > 0 && sum < seconds || carry < 0 && sum > seconds {
		return Duration{}, errDurationTooLong
	}
	return Duration{Months: months, Days: days, Seconds: sum, Nanos: int32(n)}, nil
}

// DurationOf makes a duration from exact parts with fractions. A fraction of a
// month becomes days, at 30.436875 days a month, a fraction of a day becomes
// seconds, at 24 hours a day, and what is below a nanosecond is cut off. The
// arguments are not changed.
func DurationOf(months, days, seconds *big.Rat) (Duration, error) {
	m, rest := splitRat(months)
	d, rest := splitRat(rest.Add(rest.Mul(rest, ratDaysPerMonth), days))
	rest.Add(rest.Mul(rest, ratSecondsPerDay), seconds)
	nanos := rest.Mul(rest, ratNanosPerSecond)
	total := new(big.Int).Quo(nanos.Num(), nanos.Denom())
	s, n := new(big.Int).DivMod(total, big.NewInt(nanosPerSecond), new(big.Int)) // floored: the divisor is positive
	if !m.IsInt64() || !d.IsInt64() || !s.IsInt64() {
		return Duration{}, errDurationTooLong
	}
	return Duration{Months: m.Int64(), Days: d.Int64(), Seconds: s.Int64(), Nanos: int32(n.Int64())}, nil
}

// splitRat returns r without its fraction, and the fraction, with the sign of r.
func splitRat(r *big.Rat) (*big.Int, *big.Rat) {
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	return whole, new(big.Rat).Sub(r, new(big.Rat).SetInt(whole))
}

// Rats returns the parts of d as exact numbers, the nanoseconds among the
// seconds.
func (d Duration) Rats() (months, days, seconds *big.Rat) {
	seconds = big.NewRat(int64(d.Nanos), nanosPerSecond)
	seconds.Add(seconds, new(big.Rat).SetInt64(d.Seconds))
	return new(big.Rat).SetInt64(d.Months), new(big.Rat).SetInt64(d.Days), seconds
}

// ParseDuration reads an ISO 8601 duration. In the form with units, such as
// P1Y2M3W4DT5H6M7.8S, every number may have a sign and a fraction, which
// spreads to the smaller units as DurationOf tells; a sign before P turns all
// of them. The form P2012-02-02T14:37:21.545 is read as well.
func ParseDuration(text string) (Duration, error) {
	d, err := parseDuration(text)
	if err != nil {
		return Duration{}, parseError(KindDuration, text, err)
	}
	return d, nil
}

var errDurationForm = fmt.Errorf("write it as P1Y2M3W4DT5H6M7.8S with at least one part, or as P2012-02-02T14:37:21")

func parseDuration(text string) (Duration, error) {
	body := text
	negative := strings.HasPrefix(body, "-")
	if negative || strings.HasPrefix(body, "+") {
		body = body[1:]
	}
	body, ok := strings.CutPrefix(body, "P")
	if !ok || body == "" || strings.HasSuffix(body, "T") {
		return Duration{}, errDurationForm
	}
	if !strings.ContainsAny(body, "YMWDHS") {
		return parseDurationClock(body, negative)
	}
	datePart, timePart, _ := strings.Cut(body, "T")
	months, days, seconds := new(big.Rat), new(big.Rat), new(big.Rat)
	err := addUnits(datePart, []unit{{'Y', months, 12}, {'M', months, 1}, {'W', days, 7}, {'D', days, 1}})
	if err == nil {
		err = addUnits(timePart, []unit{{'H', seconds, 3600}, {'M', seconds, 60}, {'S', seconds, 1}})
	}
	if err != nil {
		return Duration{}, err
	}
	if negative {
		months.Neg(months)
		days.Neg(days)
		seconds.Neg(seconds)
	}
	return DurationOf(months, days, seconds)
}

// unit is a letter behind a number and what the number is added to, times size.
type unit struct {
	letter byte
	sum    *big.Rat
	size   int64
}

// addUnits reads numbers, each with its letter, in the order of units.
func addUnits(text string, units []unit) error {
	for text != "" {
		end := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' })
		if end < 0 {
			return errDurationForm
		}
		number, ok := parseDecimal(text[:end])
		if !ok {
			return errDurationForm
		}
		for len(units) > 0 && units[0].letter != text[end] {
			units = units[1:]
		}
		if len(units) == 0 {
			return errDurationForm
		}
		number.Mul(number, new(big.Rat).SetInt64(units[0].size))
		units[0].sum.Add(units[0].sum, number)
		units, text = units[1:], text[end+1:]
	}
	return nil
}

// parseDecimal reads a number of digits with an optional sign and fraction. Its
// length is bounded, since the cost of exact arithmetic grows with it.
func parseDecimal(text string) (*big.Rat, bool) {
	body := strings.Replace(text, ",", ".", 1)
	unsigned := strings.TrimPrefix(strings.TrimPrefix(body, "-"), "+")
	whole, fraction, hasPoint := strings.Cut(unsigned, ".")
	if len(text) > 64 || whole == "" || digitRun(whole) != len(whole) ||
		digitRun(fraction) != len(fraction) || hasPoint && fraction == "" {
		return nil, false
	}
	return new(big.Rat).SetString(body)
}

// parseDurationClock reads 2012-02-02T14:37:21.545: years, months and days,
// then hours, minutes and seconds.
func parseDurationClock(body string, negative bool) (Duration, error) {
	datePart, clockPart, hasClock := strings.Cut(body, "T")
	parts := strings.Split(datePart, "-")
	if len(parts) != 3 || len(parts[0]) != 4 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return Duration{}, errDurationForm
	}
	var n [3]int64
	for i, p := range parts {
		var ok bool
		if n[i], ok = digits(p); !ok {
			return Duration{}, errDurationForm
		}
	}
	if err := checkPart("month", n[1], 0, 12); err != nil {
		return Duration{}, err
	}
	if err := checkPart("day", n[2], 0, 31); err != nil {
		return Duration{}, err
	}
	var t LocalTime
	if hasClock {
		var err error
		if t, err = parseClock(clockPart); err != nil {
			return Duration{}, err
		}
	}
	sign := int64(1)
	if negative {
		sign = -1
	}
	return MakeDuration(sign*(n[0]*12+n[1]), sign*n[2], 0, sign*t.Nanos)
}
