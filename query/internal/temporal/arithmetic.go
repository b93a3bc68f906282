package temporal

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"engram/graph/value"
)

// Add is a + b where one is a duration and the other a duration or another
// temporal value. Months count first (31 January and a month is the last of
// February), then days, then seconds; a time of day wraps around midnight, a
// date takes only whole days.
func Add(a, b value.Value) (value.Value, error) {
	switch {
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case a.Kind() == value.KindDuration && b.Kind() == value.KindDuration:
		return sum(a.AsDuration(), b.AsDuration())
	case b.Kind() == value.KindDuration && isInstant(a.Kind()):
		return shift(a, b.AsDuration())
	case a.Kind() == value.KindDuration && isInstant(b.Kind()):
		return shift(b, a.AsDuration())
	}
	return value.Null, fmt.Errorf("%s and %s cannot be added", a.Kind().Named(), b.Kind().Named())
}

// Subtract is a - b where b is a duration and a a duration or another temporal
// value.
func Subtract(a, b value.Value) (value.Value, error) {
	if a.IsNull() || b.IsNull() {
		return value.Null, nil
	}
	if b.Kind() != value.KindDuration {
		return value.Null, fmt.Errorf("%s cannot be subtracted from %s; the time between two values is duration.between()",
			b.Kind().Named(), a.Kind().Named())
	}
	minus, err := negate(b.AsDuration())
	if err != nil {
		return value.Null, err
	}
	return Add(a, value.OfDuration(minus))
}

// Multiply is a * b where one is a duration and the other a number. Fractions
// of months and days spread to the smaller units.
func Multiply(a, b value.Value) (value.Value, error) {
	if a.IsNull() || b.IsNull() {
		return value.Null, nil
	}
	if a.IsNumber() {
		a, b = b, a
	}
	return scale(a, b, "multiplied by", func(x, by *big.Rat) { x.Mul(x, by) })
}

// Divide is a / b where a is a duration and b a number other than 0.
func Divide(a, b value.Value) (value.Value, error) {
	if a.IsNull() || b.IsNull() {
		return value.Null, nil
	}
	if b.IsNumber() && b.AsFloat() == 0 {
		return value.Null, fmt.Errorf("a duration cannot be divided by zero")
	}
	return scale(a, b, "divided by", func(x, by *big.Rat) { x.Quo(x, by) })
}

func scale(a, b value.Value, verb string, op func(x, by *big.Rat)) (value.Value, error) {
	if a.Kind() != value.KindDuration || !b.IsNumber() {
		return value.Null, fmt.Errorf("%s cannot be %s %s", a.Kind().Named(), verb, b.Kind().Named())
	}
	by, err := rat(b)
	if err != nil {
		return value.Null, err
	}
	months, days, seconds := a.AsDuration().Rats()
	op(months, by)
	op(days, by)
	op(seconds, by)
	return wrap(value.OfDuration)(value.DurationOf(months, days, seconds))
}

// rat makes a number exact. A float counts as the shortest decimal that names
// it, so that 0.1 is a tenth and duration({years: 0.1}) is duration('P0.1Y').
func rat(v value.Value) (*big.Rat, error) {
	if v.Kind() == value.KindInt {
		return new(big.Rat).SetInt64(v.AsInt()), nil
	}
	f := v.AsFloat()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("a duration has no use for %s", v)
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		return nil, fmt.Errorf("%s is no number a duration can have", v)
	}
	return r, nil
}

func sum(a, b value.Duration) (value.Value, error) {
	months, ok1 := addInt(a.Months, b.Months)
	days, ok2 := addInt(a.Days, b.Days)
	seconds, ok3 := addInt(a.Seconds, b.Seconds)
	if !ok1 || !ok2 || !ok3 {
		return value.Null, errOverflow
	}
	return wrap(value.OfDuration)(value.MakeDuration(months, days, seconds, int64(a.Nanos)+int64(b.Nanos)))
}

var errOverflow = fmt.Errorf("the duration does not fit: months, days and seconds are 64-bit integers")

func addInt(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func negate(d value.Duration) (value.Duration, error) {
	if d.Months == math.MinInt64 || d.Days == math.MinInt64 || d.Seconds == math.MinInt64 {
		return d, errOverflow
	}
	return value.MakeDuration(-d.Months, -d.Days, -d.Seconds, -int64(d.Nanos))
}

// shift adds d to an instant of any kind.
func shift(v value.Value, d value.Duration) (value.Value, error) {
	switch v.Kind() {
	case value.KindDate:
		t, err := moved(value.MakeLocalDateTime(v.AsDate(), value.LocalTime{}), d.Months, d.Days)
		if err != nil {
			return value.Null, err
		}
		return wrap(value.OfDate)(t.Date().AddDays(wholeDays(d)))
	case value.KindLocalTime:
		return value.OfLocalTime(turned(v.AsLocalTime(), d)), nil
	case value.KindTime:
		t := v.AsTime()
		return value.OfTime(value.Time{Nanos: turned(t.Local(), d).Nanos, Offset: t.Offset}), nil
	case value.KindLocalDateTime:
		t, err := moved(v.AsLocalDateTime(), d.Months, d.Days)
		if err != nil {
			return value.Null, err
		}
		return wrap(value.OfLocalDateTime)(t.Add(d.Seconds, int64(d.Nanos)))
	}
	t := v.AsDateTime()
	if d.Months != 0 || d.Days != 0 {
		local, err := moved(t.Local(), d.Months, d.Days)
		if err != nil {
			return value.Null, err
		}
		if t, err = t.In().Resolve(local, t.Offset); err != nil {
			return value.Null, err
		}
	}
	return wrap(value.OfDateTime)(t.Add(d.Seconds, int64(d.Nanos)))
}

// wholeDays returns the days in the seconds of d, toward zero.
func wholeDays(d value.Duration) int64 {
	seconds := d.Seconds
	if seconds < 0 && d.Nanos > 0 {
		seconds++
	}
	return seconds / 86_400
}

// turned moves the hands of a clock; months and days leave them where they are.
func turned(t value.LocalTime, d value.Duration) value.LocalTime {
	const day = 86_400_000_000_000
	nanos := (t.Nanos + d.Seconds%86_400*1_000_000_000 + int64(d.Nanos)) % day
	if nanos < 0 {
		nanos += day
	}
	return value.LocalTime{Nanos: nanos}
}
