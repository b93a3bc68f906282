package value

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reparse reads text as kind and returns what it prints.
func reparse(kind Kind, text string) (string, error) {
	var v fmt.Stringer
	var err error
	switch kind {
	case KindDate:
		v, err = ParseDate(text)
	case KindLocalTime:
		v, err = ParseLocalTime(text)
	case KindTime:
		v, err = ParseTime(text)
	case KindLocalDateTime:
		v, err = ParseLocalDateTime(text)
	case KindDateTime:
		v, err = ParseDateTime(text)
	case KindDuration:
		v, err = ParseDuration(text)
	}
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func TestParseTemporal(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		text, want string
	}{
		{KindDate, "2015-07-21", "2015-07-21"},
		{KindDate, "20150721", "2015-07-21"},
		{KindDate, "2015-07", "2015-07-01"},
		{KindDate, "201507", "2015-07-01"},
		{KindDate, "2015-W30-2", "2015-07-21"},
		{KindDate, "2015W302", "2015-07-21"},
		{KindDate, "2015-W30", "2015-07-20"},
		{KindDate, "2015W30", "2015-07-20"},
		{KindDate, "2015-202", "2015-07-21"},
		{KindDate, "2015202", "2015-07-21"},
		{KindDate, "2015-Q2-60", "2015-05-30"},
		{KindDate, "2015Q260", "2015-05-30"},
		{KindDate, "2015-Q2", "2015-04-01"},
		{KindDate, "2015", "2015-01-01"},
		{KindDate, "+2015-07-21", "2015-07-21"},
		{KindDate, "-0044-03-15", "-0044-03-15"},
		{KindDate, "0000-01-01", "0000-01-01"},
		{KindDate, "+12345-01-01", "+12345-01-01"},
		{KindDate, "-999999999-01-01", "-999999999-01-01"},
		{KindDate, "+999999999-12-31", "+999999999-12-31"},
		{KindLocalTime, "21:40:32.142", "21:40:32.142"},
		{KindLocalTime, "214032.142", "21:40:32.142"},
		{KindLocalTime, "214032,142000000", "21:40:32.142"},
		{KindLocalTime, "21:40:00.000000001", "21:40:00.000000001"},
		{KindLocalTime, "2140", "21:40"},
		{KindLocalTime, "21", "21:00"},
		{KindTime, "21:40:32.142+0100", "21:40:32.142+01:00"},
		{KindTime, "2140-01:30", "21:40-01:30"},
		{KindTime, "214032-02", "21:40:32-02:00"},
		{KindTime, "22+18:00", "22:00+18:00"},
		{KindTime, "12:34:56+02:05:59", "12:34:56+02:05:59"},
		{KindTime, "12:34+00:00", "12:34Z"},
		{KindTime, "12:34", "12:34Z"},
		{KindLocalDateTime, "2015-W30-2T214032.142", "2015-07-21T21:40:32.142"},
		{KindLocalDateTime, "2015T214032", "2015-01-01T21:40:32"},
		{KindLocalDateTime, "2015202T21", "2015-07-21T21:00"},
		{KindLocalDateTime, "-999999999-01-01", "-999999999-01-01T00:00"},
		{KindDateTime, "2015-07-21T21:40:32.142+0100", "2015-07-21T21:40:32.142+01:00"},
		{KindDateTime, "2015-W30-2T214032.142Z", "2015-07-21T21:40:32.142Z"},
		{KindDateTime, "2015-07-21T21:40:32.142+0845[Australia/Eucla]", "2015-07-21T21:40:32.142+08:45[Australia/Eucla]"},
		{KindDateTime, "2015-07-21T21:40:32[Europe/London]", "2015-07-21T21:40:32+01:00[Europe/London]"},
		{KindDateTime, "1818-07-21T21:40:32[Europe/Stockholm]", "1818-07-21T21:40:32+00:53:28[Europe/Stockholm]"},
		{KindDateTime, "2017-10-29T02:30+01:00[Europe/Stockholm]", "2017-10-29T02:30+01:00[Europe/Stockholm]"},
		{KindDateTime, "2017-10-29T01:30[Europe/London]", "2017-10-29T01:30+01:00[Europe/London]"}, // not the later 01:30Z
		{KindDateTime, "2015-07-21", "2015-07-21T00:00Z"},
		{KindDuration, "P14DT16H12M", "P14DT16H12M"},
		{KindDuration, "P5M1.5D", "P5M1DT12H"},
		{KindDuration, "P0.75M", "P22DT19H51M49.5S"},
		{KindDuration, "PT0.75M", "PT45S"},
		{KindDuration, "P2.5W", "P17DT12H"},
		{KindDuration, "P12Y5M14DT16H12M70S", "P12Y5M14DT16H13M10S"},
		{KindDuration, "P2012-02-02T14:37:21.545", "P2012Y2M2DT14H37M21.545S"},
		{KindDuration, "P0.1Y", "P1M6DT2H5M49.2S"}, // 1.2 months, 0.2 of them 525,949.2 s
		{KindDuration, "-P1Y2M3DT4H", "P-1Y-2M-3DT-4H"},
		{KindDuration, "P-1Y2M-3DT-4H0.5S", "P-10M-3DT-3H-59M-59.5S"},
		{KindDuration, "PT0S", "PT0S"},
		{KindDuration, "PT-0.001S", "PT-0.001S"},
		{KindDuration, "PT1,5S", "PT1.5S"},
		{KindDuration, "PT0.0000000019S", "PT0.000000001S"},
	} {
		if got, err := reparse(c.kind, c.text); err != nil || got != c.want {
			t.Errorf("%s %q is %q, %v, want %q", c.kind, c.text, got, err, c.want)
		}
	}
}

func TestParseTemporalErrors(t *testing.T) {
	bad := map[Kind]string{
		KindDate: " |garbage|2015-13-01|2015-02-29|2015-7-1|15-07-21|2015-07-21 |2015-|2015-07-|2015--07|20150|2015-0721|201507-21|" +
			"2015-W54|2014-W53|2015-W30-8|2015-W3|2015-366|2015-000|2015-Q5|2015-Q1-91|+1000000000-01-01|12345-01-01|++2015|+201|" +
			"2015-07-21T10:00|２０１５-07-21|2015-W30-2-1",
		KindLocalTime: "24:00|12:60|12:00:60|1|123|12345|12:3|12:00:00.|12:00.5|12:00:00.1234567890|12:00Z|12::00|:|12:00:00:00|-1:00|12:00:00.1x",
		KindTime:      "12:00+19:00|12:00+01:60|12:00+1|12:00+|12:00[Europe/Stockholm]|12:00Z+01:00|12:00z1|12:00+18:00:01",
		KindLocalDateTime: "2015-07-21T|2015-07-21 10:00|T10:00|2015-07-21T10:00Z|2015-07-21T10:00T10:00|" +
			"2015-02-30T10:00",
		KindDateTime: "2015-07-21T10:00[Nowhere/City]|2015-07-21T10:00+05:00[Europe/Stockholm]|2015-07-21T10:00[Europe/Stockholm|" +
			"2015-07-21T10:00[]|2015-07-21T10:00]|2015-07-21T10:00[Local]|2015-07-21T+01:00|2015-07-21T10:00+01:00:00:00",
		KindDuration: "P|PT|T1H|1D|P1|P1H|PT1D|P1DT|PT1H1H|PT1M1H|P1.D|P.5D|P1e3D|P1..5D|P+-1D|P2012-02|P2012-13-01|P2012-02-02T25:00|" +
			"P99999999999999999999Y|P9223372036854775807Y|P1D2|P 1D|P1Dx|PT1S1|--P1D",
	}
	for kind, texts := range bad {
		for _, text := range append(strings.Split(texts, "|"), "") {
			got, err := reparse(kind, text)
			if err == nil {
				t.Errorf("%s %q was read as %s", kind, text, got)
				continue
			}
			if !strings.Contains(err.Error(), fmt.Sprintf("%q is no %s: ", text, strings.ToLower(kind.String()))) {
				t.Errorf("%s %q: the error does not name them: %v", kind, text, err)
			}
		}
	}
}

// What is printed reads back as the same value.
func TestTemporalTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genTemporal.Draw(t, "value")
		text, err := reparse(v.Kind(), v.ToString())
		if err != nil || text != v.ToString() {
			t.Fatalf("%s came back as %s, %v", v, text, err)
		}
	})
}

func FuzzParseTemporal(f *testing.F) {
	for _, s := range []string{"2015-W30-2T214032.142[Europe/London]", "P-1Y2.5M-3DT-4H0.5S", "21:40:32.142+01:00", "+12345-Q1-01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for kind := KindDate; kind <= KindDuration; kind++ {
			first, err := reparse(kind, text)
			if err != nil {
				continue
			}
			if second, err := reparse(kind, first); err != nil || second != first {
				t.Errorf("%s %q prints %q, which reads as %q, %v", kind, text, first, second, err)
			}
		}
	})
}
