package temporal_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/value"
	"engram/query/internal/temporal"
)

func TestExpressions(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		// From maps.
		{"date({year: 2019})", "'2019-01-01'"},
		{"date({year: 2020, week: 53, dayOfWeek: 7})", "'2021-01-03'"},
		{"date({year: 2019, quarter: 2})", "'2019-04-01'"},
		{"date({year: 2020, ordinalDay: 366})", "'2020-12-31'"},
		{"localtime({hour: 7, minute: 5, second: 3, microsecond: 999999})", "'07:05:03.999999'"},
		{"localtime({hour: 7, minute: 5, second: 3, millisecond: 1, nanosecond: 20})", "'07:05:03.00100002'"},
		{"datetime({year: 2019, hour: 3})", "'2019-01-01T03:00Z'"},
		{"datetime({year: 2019, month: 7, timezone: 'Asia/Tokyo'})", "'2019-07-01T00:00+09:00[Asia/Tokyo]'"},
		{"datetime({epochSeconds: 60, nanosecond: 5})", "'1970-01-01T00:01:00.000000005Z'"},
		{"datetime({epochMillis: -1, timezone: '+02:00'})", "'1970-01-01T01:59:59.999+02:00'"},
		// Over other values.
		{"date({date: date('2020-02-29'), year: 2019})", "'2019-02-28'"},
		{"date({date: date('2020-01-31'), month: 4})", "'2020-04-30'"},
		{"date({date: date('2019-10-31'), quarter: 1})", "'2019-01-31'"},
		{"date({date: date('2019-09-30'), quarter: 1})", "'2019-03-31'"}, // day 92 of a quarter of 90
		{"date({date: date('2019-09-30'), dayOfQuarter: 2})", "'2019-07-02'"},
		{"date({date: date('2020-01-01'), dayOfWeek: 1})", "'2019-12-30'"},
		{"time({time: datetime('2019-07-01T10:00[Europe/Stockholm]'), timezone: 'Z'})", "'08:00Z'"},
		{"localdatetime({date: date('2019-05-06'), time: time('10:20:30+03:00'), minute: 0})", "'2019-05-06T10:00:30'"},
		{"localdatetime({datetime: datetime('2019-05-06T10:20+03:00'), day: 1})", "'2019-05-01T10:20'"},
		{"datetime({datetime: datetime('2019-05-06T10:20+03:00'), nanosecond: 1})", "'2019-05-06T10:20:00.000000001+03:00'"},
		{
			"datetime({date: date('2019-01-05'), time: datetime('2019-07-01T10:00[Europe/Stockholm]'), timezone: 'UTC'})",
			"'2019-01-05T09:00Z[UTC]'",
		},
		// Projections.
		{"date(datetime('2019-05-06T23:20-11:00'))", "'2019-05-06'"},
		{"localtime(datetime('2019-05-06T23:20-11:00'))", "'23:20'"},
		{"time(datetime('2019-07-01T10:00[Europe/Stockholm]'))", "'10:00+02:00'"},
		{"datetime(date('2019-05-06'))", "'2019-05-06T00:00Z'"},
		{"localdatetime(datetime('2019-07-01T10:00[Europe/Stockholm]'))", "'2019-07-01T10:00'"},
		{"duration(duration('P1D'))", "'P1D'"},
		// Truncation.
		{"date.truncate('CENTURY', date('1999-12-31'), null)", "'1900-01-01'"},
		{"date.truncate('decade', date('-0005-03-01'), {})", "'-0010-01-01'"},
		{"date.truncate('weekYear', date('2021-01-02'), {})", "'2019-12-30'"},
		{"localdatetime.truncate('month', datetime('2019-05-06T10:20[Europe/Stockholm]'), {hour: 3})", "'2019-05-01T03:00'"},
		{
			"datetime.truncate('hour', datetime('2017-10-29T02:30+01:00[Europe/Stockholm]'), {})",
			"'2017-10-29T02:00+01:00[Europe/Stockholm]'",
		}, // the second of the two hours
		{"localtime.truncate('millisecond', localtime('10:00:00.123456789'), {microsecond: 7})", "'10:00:00.123007'"},
		{"localtime.truncate('millisecond', localtime('10:00:00.123456789'), {millisecond: 7})", "'10:00:00.007'"},
		{"localtime.truncate('microsecond', localtime('10:00:00.123456789'), {nanosecond: 7})", "'10:00:00.123456007'"},
		{"time.truncate('minute', time('10:20:30+01:00'), {timezone: '-05:00'})", "'10:20-05:00'"},
		// Differences.
		{"duration.between(date('2019-01-31'), date('2019-03-01'))", "'P1M1D'"},
		{"duration.between(date('2019-03-01'), date('2019-01-31'))", "'P-1M-1D'"},
		{"duration.between(datetime('2017-03-25T12:00[Europe/Stockholm]'), datetime('2017-03-26T12:00[Europe/Stockholm]'))", "'P1D'"},
		{"duration.inSeconds(datetime('2017-03-25T12:00[Europe/Stockholm]'), datetime('2017-03-26T12:00[Europe/Stockholm]'))", "'PT23H'"},
		{"duration.inSeconds(datetime('2020-03-29T00:00[Europe/Stockholm]'), localdatetime('2020-03-29T06:00'))", "'PT5H'"},
		{"duration.inSeconds(localtime('00:00'), datetime('2020-03-29T06:00[Europe/Stockholm]'))", "'PT5H'"},
		{"duration.inDays(localdatetime('2019-01-02T10:00'), localdatetime('2019-01-01T11:00'))", "'PT0S'"},
		{"duration.inMonths(date('2020-02-29'), date('2021-02-28'))", "'P11M'"},
		// Arithmetic.
		{"date('2019-01-31') + duration('P1M')", "'2019-02-28'"},
		{"date('2019-01-31') + duration('P1M1D')", "'2019-03-01'"},
		{"duration('P1M1D') + date('2019-01-31')", "'2019-03-01'"},
		{"date('2019-01-01') + duration('PT47H')", "'2019-01-02'"},
		{"date('2019-01-01') + duration('PT-23H-59M-59.5S')", "'2019-01-01'"},
		{"date('2019-01-01') - duration('PT24H')", "'2018-12-31'"},
		{"localtime('23:00') + duration('P5DT2H')", "'01:00'"},
		{"time('01:00+05:00') - duration('PT2H0.5S')", "'22:59:59.5+05:00'"},
		{"datetime('2017-03-25T02:30[Europe/Stockholm]') + duration('P1D')", "'2017-03-26T03:30+02:00[Europe/Stockholm]'"},
		{"datetime('2017-03-25T12:00[Europe/Stockholm]') + duration('PT24H')", "'2017-03-26T13:00+02:00[Europe/Stockholm]'"},
		{"datetime('2017-10-29T02:30+01:00[Europe/Stockholm]') + duration('PT0S')", "'2017-10-29T02:30+01:00[Europe/Stockholm]'"},
		{"datetime('2017-11-29T02:30[Europe/Stockholm]') - duration('P1M')", "'2017-10-29T02:30+01:00[Europe/Stockholm]'"},
		{"localdatetime('2019-12-31T23:59:59.9') + duration('PT0.2S')", "'2020-01-01T00:00:00.1'"},
		{"duration('P1DT1S') - duration('P2DT0.5S')", "'P-1DT0.5S'"},
		{"duration('P1M') / 2", "'P15DT5H14M33S'"},
		{"2 * duration('P1Y1D')", "'P2Y2D'"},
		{"duration('PT1S') / 3", "'PT0.333333333S'"},
		{"duration('PT-1S') / 3", "'PT-0.333333333S'"},
		{"duration({years: 0.1}) = duration('P0.1Y')", "true"},
		{"duration({quarters: 1.5, milliseconds: 1.5})", "'P4M15DT5H14M33.0015S'"},
		// Components.
		{"date('2021-01-03').weekYear", "2020"},
		{"date('2021-01-03').dayOfWeek", "7"},
		{"datetime('1969-12-31T23:59:59.5Z').epochMillis", "-500"},
		{"time('10:00-01:30').offsetMinutes", "-90"},
		{"time('10:00-01:30').timezone", "'-01:30'"},
		{"duration('P1Y4M10DT1H1M1.111111111S').quarters", "5"},
		{"duration('P1Y4M10DT1H1M1.111111111S').quartersOfYear", "1"},
		{"duration('P1Y4M10DT1H1M1.111111111S').monthsOfQuarter", "1"},
		{"duration('P1Y4M10DT1H1M1.111111111S').daysOfWeek", "3"},
		{"duration('P1Y4M10DT1H1M1.111111111S').minutes", "61"},
		{"duration('P1Y4M10DT1H1M1.111111111S').milliseconds", "3661111"},
		{"duration('P1Y4M10DT1H1M1.111111111S').nanoseconds", "3661111111111"},
		{"duration('P1Y4M10DT1H1M1.111111111S').microsecondsOfSecond", "111111"},
		{"duration('PT-0.1S').nanosecondsOfSecond", "900000000"},
		// The clock stands at 2023-11-14T22:13:20.000000005Z.
		{"datetime.statement('America/New_York')", "'2023-11-14T17:13:20.000000005-05:00[America/New_York]'"},
		{"date.realtime({timezone: '+02:00'})", "'2023-11-15'"},
		{"time.transaction('Europe/Stockholm')", "'23:13:20.000000005+01:00'"},
		{"localdatetime()", "'2023-11-14T22:13:20.000000005'"},
		// Null.
		{"datetime(null)", "null"},
		{"date.truncate('day', null, {})", "null"},
		{"duration.between(date(), null)", "null"},
		{"date() + null", "null"},
		{"null * duration('P1D')", "null"},
	} {
		if got := evaluate(t, c.expr, nil).String(); got != c.want {
			t.Errorf("%s is %s, want %s", c.expr, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"date('garbage')", `"garbage" is no date`},
		{"date(7)", "date() takes a string, a map or a temporal value, not an INTEGER"},
		{"date({})", "year is missing"},
		{"date({month: 3})", "year is missing"},
		{"date({year: 2019, day: 3})", "day is given without month"},
		{"date({year: 2019, dayOfWeek: 3})", "dayOfWeek is given without week"},
		{"date({year: 2019, month: 13})", "month 13 is out of range: it goes from 1 to 12"},
		{"date({year: 2019, month: 2, day: 29})", "day of 2019-02 29 is out of range: it goes from 1 to 28"},
		{"date({date: date('2020-02-29'), year: 2019, day: 29})", "out of range"},
		{"date({year: 2019, month: 1, week: 1})", "cannot be combined"},
		{"date({year: 2019, week: 53})", "week of 2019 53 is out of range"},
		{"date({year: 2019, hour: 1})", "date() has no field hour"},
		{"date({yaer: 2019})", "date() has no field yaer"},
		{"date({year: 2019.0})", "year is an integer, not a FLOAT"},
		{"date({year: null})", "year is an integer, not null"},
		{"date({date: localtime('10:00')})", "date: takes a value with a date, not a LOCAL TIME"},
		{"date(localtime('10:00'))", "date() cannot be made from a LOCAL TIME"},
		{"time(date('2019'))", "time() cannot be made from a DATE"},
		{"localtime({minute: 3})", "minute is given without hour"},
		{"localtime({hour: 1, nanosecond: 3})", "nanosecond is given without second"},
		{"localtime({hour: 24})", "hour 24 is out of range"},
		{"localtime({hour: 1, minute: 1, second: 1, millisecond: 1000})", "millisecond 1000 is out of range"},
		{"localtime({hour: 1, minute: 1, second: 1, millisecond: 1, microsecond: 1000})", "microsecond 1000 is out of range"},
		{"localtime({hour: 1, timezone: 'Z'})", "localtime() has no field timezone"},
		{"time({hour: 1, timezone: 'Europe/Stockholm'})", "the offset of Europe/Stockholm depends on the date"},
		{"time({hour: 1, timezone: null})", "timezone is null"},
		{"datetime({year: 2019, timezone: 'Nowhere'})", `"Nowhere" is no time zone`},
		{"datetime({year: 2019, timezone: 1})", "a time zone is a string"},
		{"datetime({epochSeconds: 1, year: 2019})", "year cannot be combined with an epoch"},
		{"datetime({epochSeconds: 1, epochMillis: 1})", "cannot be combined"},
		{"datetime({datetime: datetime(), date: date()})", "datetime cannot be combined with date or time"},
		{"datetime.fromepoch(9000000000000000000, 0)", "reach beyond all dates"},
		{"date.truncate('hour', date('2019'), {})", `date.truncate() has no unit "hour": its units are millennium`},
		{"localtime.truncate('month', localtime('10:00'), {})", `has no unit "month": its units are day, hour`},
		{"datetime.truncate('eon', datetime(), {})", `has no unit "eon": its units are millennium, century, decade, year, weekYear, quarter, month, week, day, hour`},
		{"datetime.truncate('hour', date(), {})", "cannot be made from a DATE"},
		{"date.truncate('day', localtime('10:00'), {})", "cannot be made from a LOCAL TIME"},
		{"date.truncate('day', 'x', {})", "takes a temporal value, not a STRING"},
		{"date.truncate('day', date(), 1)", "are a map, not an INTEGER"},
		{"date.truncate('day', date(), {date: date()})", "single components"},
		{"duration({})", "at least one unit"},
		{"duration({day: 1})", "duration() has no unit day"},
		{"duration({days: 'x'})", "days is a number, not a STRING"},
		{"duration(date())", "duration() takes a string, a map or a duration, not a DATE"},
		{"duration.between(date(), duration('P1D'))", "not to or from a DURATION"},
		{"date() + date()", "a DATE and a DATE cannot be added"},
		{"date() - date()", "a DATE cannot be subtracted from a DATE"},
		{"date() * 2", "a DATE cannot be multiplied by an INTEGER"},
		{"duration('P1D') / 0", "divided by zero"},
		{"duration('P1D') / 0.0", "divided by zero"},
		{"date('+999999999-12-31') + duration('P1D')", "out of range"},
		{"localdatetime('+999999999-12-31T23:59:59') + duration('PT1S')", "out of range"},
		{"datetime('2019') + duration('PT9000000000000000000S')", "reach beyond all dates"},
		{"duration({seconds: 9000000000000000000}) + duration({seconds: 9000000000000000000})", "does not fit"},
		{"duration({months: 9000000000000000000}) * 2", "does not fit"},
		{"date().hour", "no component hour"},
		{"localtime('10:00').offset", "no component offset"},
		{"duration({seconds: 9000000000000000000}).nanoseconds", "no component nanoseconds"},
		{"date.realtime({zone: 'Z'})", "the only key of a clock's map is timezone"},
	} {
		v, err := tryEvaluate(t, c.expr, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s gives %s, %v, want an error with %q", c.expr, v, err, c.want)
		}
	}
}

// genLocal makes local datetimes of a few centuries, ends of months among them.
var genLocal = rapid.Custom(func(t *rapid.T) value.Value {
	days := rapid.Int64Range(-100_000, 100_000).Draw(t, "days")
	nanos := rapid.Int64Range(0, 86_400_000_000_000-1).Draw(t, "nanos")
	return value.OfLocalDateTime(value.MakeLocalDateTime(value.Date{Days: days}, value.LocalTime{Nanos: nanos}))
})

// Whatever lies between two values leads from the first to the second, in each
// of the units, and none of its parts points the other way.
func TestBetweenLeadsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genLocal.Draw(t, "a"), genLocal.Draw(t, "b")
		for name, f := range map[string]func(a, b value.Value) (value.Value, error){
			"between": temporal.Between, "inSeconds": temporal.InSeconds,
		} {
			d, err := f(a, b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := temporal.Add(a, d)
			if err != nil || !value.Equivalent(got, b) {
				t.Fatalf("%s(%s, %s) is %s and leads to %s, %v", name, a, b, d, got, err)
			}
			parts := d.AsDuration()
			ahead := value.Order(a, b) <= 0
			for _, n := range []int64{parts.Months, parts.Days, parts.Seconds} {
				if n > 0 && !ahead || n < 0 && ahead {
					t.Fatalf("%s(%s, %s) is %s, of mixed signs", name, a, b, d)
				}
			}
		}
	})
}

// Truncating twice is truncating once, never later than the value, and the
// units nest.
func TestTruncateSettles(t *testing.T) {
	units := []string{
		"millennium", "century", "decade", "year", "quarter", "month", "day", "hour", "minute", "second",
		"millisecond", "microsecond",
	}
	rapid.Check(t, func(t *rapid.T) {
		v := genLocal.Draw(t, "v")
		previous := value.Null
		for _, unit := range units {
			once, err := temporal.Truncate(value.KindLocalDateTime, unit, v, value.Null)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := temporal.Truncate(value.KindLocalDateTime, unit, once, value.Null)
			if err != nil || !value.Equivalent(once, twice) {
				t.Fatalf("%s of %s: %s, then %s, %v", unit, v, once, twice, err)
			}
			if value.Order(once, v) > 0 || !previous.IsNull() && value.Order(previous, once) > 0 {
				t.Fatalf("%s of %s is %s, after %s", unit, v, once, previous)
			}
			previous = once
		}
	})
}

// Going back into a shorter month the parts of a duration still agree in sign.
func TestBetweenGoesBackIntoAShorterMonth(t *testing.T) {
	for _, c := range [][3]string{
		{"1969-12-31T00:00", "1864-02-29T00:00:01", "P-105Y-9M-30DT-23H-59M-59S"},
		{"1969-12-31T00:00", "1864-02-29T00:00", "P-105Y-10M"},
		{"2024-03-31T12:00", "2024-02-29T13:00", "P-30DT-23H"},
	} {
		a, err := temporal.Parse(value.KindLocalDateTime, c[0])
		if err != nil {
			t.Fatal(err)
		}
		b, err := temporal.Parse(value.KindLocalDateTime, c[1])
		if err != nil {
			t.Fatal(err)
		}
		d, err := temporal.Between(a, b)
		if err != nil || d.ToString() != c[2] {
			t.Errorf("between(%s, %s) is %s, %v; want %s", c[0], c[1], d.ToString(), err, c[2])
		}
	}
}
