package value

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The standard library counts the same calendar within its range. The days of
// two whole cycles of 400 years are all there are.
func TestCalendarAgainstStandardLibrary(t *testing.T) {
	start := daysOf(-200, 1, 1)
	for days := start; days < start+2*daysPerCycle; days++ {
		std := time.Unix(days*secondsPerDay, 0).UTC()
		d := Date{Days: days}
		year, month, day := d.Civil()
		if year != int64(std.Year()) || month != int(std.Month()) || day != std.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, year, month, day, std.Format(time.DateOnly))
		}
		if back := daysOf(year, month, day); back != days {
			t.Fatalf("day %d came back as %d", days, back)
		}
		weekYear, week := d.ISOWeek()
		stdYear, stdWeek := std.ISOWeek()
		if weekYear != int64(stdYear) || week != stdWeek {
			t.Fatalf("%s is in week %d of %d, want %d of %d", d, week, weekYear, stdWeek, stdYear)
		}
		if d.OrdinalDay() != std.YearDay() || d.Weekday()%7 != int(std.Weekday()) {
			t.Fatalf("%s is day %d of the year and %d of the week", d, d.OrdinalDay(), d.Weekday())
		}
	}
}

// Each way to name a day leads back to it, over the whole range of years.
func TestDateRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Date{Days: rapid.Int64Range(minDays+7, maxDays-7).Draw(t, "days")}
		year, month, day := d.Civil()
		weekYear, week := d.ISOWeek()
		quarter, dayOfQuarter := d.Quarter()
		for name, make := range map[string]func() (Date, error){
			"calendar": func() (Date, error) { return MakeDate(year, int64(month), int64(day)) },
			"week":     func() (Date, error) { return MakeWeekDate(weekYear, int64(week), int64(d.Weekday())) },
			"ordinal":  func() (Date, error) { return MakeOrdinalDate(year, int64(d.OrdinalDay())) },
			"quarter":  func() (Date, error) { return MakeQuarterDate(year, int64(quarter), int64(dayOfQuarter)) },
			"text":     func() (Date, error) { return ParseDate(d.String()) },
		} {
			if got, err := make(); err != nil || got != d {
				t.Fatalf("%s: %s came back as %s, %v", name, d, got, err)
			}
		}
	})
}

func TestDateRanges(t *testing.T) {
	type try func() (Date, error)
	for name, f := range map[string]try{
		"month 13":     func() (Date, error) { return MakeDate(2015, 13, 1) },
		"month 0":      func() (Date, error) { return MakeDate(2015, 0, 1) },
		"29 February":  func() (Date, error) { return MakeDate(2015, 2, 29) },
		"31 April":     func() (Date, error) { return MakeDate(2015, 4, 31) },
		"day 0":        func() (Date, error) { return MakeDate(2015, 4, 0) },
		"year":         func() (Date, error) { return MakeDate(MaxYear+1, 1, 1) },
		"negative":     func() (Date, error) { return MakeDate(-MaxYear-1, 1, 1) },
		"week 53":      func() (Date, error) { return MakeWeekDate(2014, 53, 1) },
		"week 0":       func() (Date, error) { return MakeWeekDate(2014, 0, 1) },
		"weekday 8":    func() (Date, error) { return MakeWeekDate(2014, 1, 8) },
		"day 366":      func() (Date, error) { return MakeOrdinalDate(2015, 366) },
		"quarter 5":    func() (Date, error) { return MakeQuarterDate(2015, 5, 1) },
		"quarter day":  func() (Date, error) { return MakeQuarterDate(2015, 1, 91) },
		"days":         func() (Date, error) { return DateOfDays(maxDays + 1) },
		"added days":   func() (Date, error) { return Date{}.AddDays(1 << 62) },
		"added months": func() (Date, error) { return Date{}.AddMonths(-1 << 63) },
		"past the end": func() (Date, error) { return Date{Days: maxDays}.AddMonths(1) },
	} {
		if d, err := f(); err == nil || d != (Date{}) {
			t.Errorf("%s: %s, %v, want an error and a zero date", name, d, err)
		}
	}
	if d, err := MakeWeekDate(2015, 53, 7); err != nil || d.String() != "2016-01-03" {
		t.Errorf("the last day of a long week year is %s, %v", d, err)
	}
	if d, err := MakeQuarterDate(2016, 1, 91); err != nil || d.String() != "2016-03-31" {
		t.Errorf("the last day of a leap quarter is %s, %v", d, err)
	}
}

func TestAddMonthsStaysInTheMonth(t *testing.T) {
	for _, c := range []struct {
		from   string
		months int64
		want   string
	}{
		{"2015-01-31", 1, "2015-02-28"},
		{"2016-01-31", 1, "2016-02-29"},
		{"2016-02-29", 12, "2017-02-28"},
		{"2016-03-31", -1, "2016-02-29"},
		{"2016-01-15", -13, "2014-12-15"},
		{"0000-01-01", -1, "-0001-12-01"},
	} {
		from, err := ParseDate(c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := from.AddMonths(c.months); err != nil || got.String() != c.want {
			t.Errorf("%s and %d months is %s, %v, want %s", c.from, c.months, got, err, c.want)
		}
	}
}

func TestZoneResolvesGapsAndOverlaps(t *testing.T) {
	stockholm := Zone{Name: "Europe/Stockholm"}
	for _, c := range []struct {
		local     string
		preferred []int32
		want      string
	}{
		{"2017-07-01T12:00", nil, "2017-07-01T12:00+02:00[Europe/Stockholm]"},
		{"2017-03-26T02:30", nil, "2017-03-26T03:30+02:00[Europe/Stockholm]"}, // there is no half past two
		{"2017-10-29T02:30", nil, "2017-10-29T02:30+02:00[Europe/Stockholm]"}, // there are two
		{"2017-10-29T02:30", []int32{3600}, "2017-10-29T02:30+01:00[Europe/Stockholm]"},
		{"2017-10-29T02:30", []int32{7200}, "2017-10-29T02:30+02:00[Europe/Stockholm]"},
		{"2017-07-01T12:00", []int32{3600}, "2017-07-01T12:00+02:00[Europe/Stockholm]"}, // not valid then
		{"2017-10-29T01:59:59", nil, "2017-10-29T01:59:59+02:00[Europe/Stockholm]"},
		{"2017-10-29T03:00", nil, "2017-10-29T03:00+01:00[Europe/Stockholm]"},
		{"-999999999-01-02T00:00", nil, "-999999999-01-02T00:00+00:53:28[Europe/Stockholm]"},
	} {
		local, err := ParseLocalDateTime(c.local)
		if err != nil {
			t.Fatal(err)
		}
		got, err := stockholm.Resolve(local, c.preferred...)
		if err != nil || got.String() != c.want {
			t.Errorf("%s with %v is %s, %v, want %s", c.local, c.preferred, got, err, c.want)
		}
	}
}

// An instant keeps its place when it is shown in a zone and read back.
func TestZoneRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := genZone.Draw(t, "zone")
		seconds := rapid.Int64Range(-6e9, 6e9).Draw(t, "seconds")
		shown, err := zone.At(seconds, 7)
		if err != nil {
			t.Fatal(err)
		}
		back, err := zone.Resolve(shown.Local(), shown.Offset)
		if err != nil || back != shown {
			t.Fatalf("%s came back as %s, %v", shown, back, err)
		}
	})
}

func TestTimeAt(t *testing.T) {
	noon := Time{Nanos: 12 * 3600 * nanosPerSecond, Offset: 3600}
	if got := noon.At(5 * 3600).String(); got != "16:00+05:00" {
		t.Errorf("noon at +01:00 is %s at +05:00", got)
	}
	if got := noon.At(-18 * 3600).String(); got != "17:00-18:00" {
		t.Errorf("noon at +01:00 is %s at -18:00", got)
	}
}
