package value

import (
	"fmt"
	"strings"
)

// parseError says which text could not be read, as what, and why.
func parseError(kind Kind, text string, why error) error {
	return fmt.Errorf("%q is no %s: %w", text, strings.ToLower(kind.String()), why)
}

// digits reads a non-negative number of exactly len(text) digits. Callers pass
// at most 18.
func digits(text string) (n int64, ok bool) {
	for i := range len(text) {
		c := text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, text != ""
}

// digitRun returns how many digits text begins with.
func digitRun(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// ParseDate reads an ISO 8601 date: a calendar date (2015-07-21, 20150721,
// 2015-07, 201507, 2015), a week date (2015-W30-2, 2015W302, 2015-W30,
// 2015W30), an ordinal date (2015-202, 2015202) or a quarter date (2015-Q2-60).
// Parts left out are the first of their kind. Years have four digits, or with a
// sign up to nine. What is no date is an error.
func ParseDate(text string) (Date, error) {
	d, err := parseDate(text)
	if err != nil {
		return Date{}, parseError(KindDate, text, err)
	}
	return d, nil
}

func parseDate(text string) (Date, error) {
	year, rest, err := parseYear(text)
	if err != nil {
		return Date{}, err
	}
	extended := strings.HasPrefix(rest, "-")
	rest = strings.TrimPrefix(rest, "-")
	switch {
	case rest == "" && !extended:
		return MakeDate(year, 1, 1)
	case strings.HasPrefix(rest, "W"):
		return parseWeekDate(year, rest[1:], extended)
	case strings.HasPrefix(rest, "Q"):
		return parseQuarterDate(year, rest[1:], extended)
	}
	if len(rest) == 3 {
		if day, ok := digits(rest); ok {
			return MakeOrdinalDate(year, day)
		}
	}
	month, day, ok := parsePair(rest, 2, 2, extended)
	if !ok {
		return Date{}, errDateForm
	}
	return MakeDate(year, month, day)
}

var errDateForm = fmt.Errorf("write it as 2015-07-21, 2015-W30-2, 2015-Q3-21 or 2015-202")

// parseYear splits off the year. Only a sign allows other than four digits, and
// then all digits up to the next separator belong to the year.
func parseYear(text string) (year int64, rest string, err error) {
	body := strings.TrimLeft(text, "+-")
	signed := len(body) != len(text)
	if len(text)-len(body) > 1 {
		return 0, "", errDateForm
	}
	width := 4
	if signed {
		width = digitRun(body)
	}
	if width < 4 || width > 9 || len(body) < width {
		return 0, "", errDateForm
	}
	year, ok := digits(body[:width])
	if !ok {
		return 0, "", errDateForm
	}
	if text[0] == '-' {
		year = -year
	}
	return year, body[width:], nil
}

// parsePair reads two numbers of the given widths, with a hyphen between them
// in the extended format. The second may be left out and is 1 then.
func parsePair(text string, first, second int, extended bool) (a, b int64, ok bool) {
	if len(text) < first {
		return 0, 0, false
	}
	if a, ok = digits(text[:first]); !ok {
		return 0, 0, false
	}
	rest := text[first:]
	if rest == "" {
		return a, 1, true
	}
	if extended {
		if rest[0] != '-' {
			return 0, 0, false
		}
		rest = rest[1:]
	}
	if len(rest) != second {
		return 0, 0, false
	}
	b, ok = digits(rest)
	return a, b, ok
}

func parseWeekDate(year int64, text string, extended bool) (Date, error) {
	week, day, ok := parsePair(text, 2, 1, extended)
	if !ok {
		return Date{}, errDateForm
	}
	return MakeWeekDate(year, week, day)
}

func parseQuarterDate(year int64, text string, extended bool) (Date, error) {
	quarter, day, ok := parsePair(text, 1, 2, extended)
	if !ok {
		return Date{}, errDateForm
	}
	return MakeQuarterDate(year, quarter, day)
}

// ParseLocalTime reads an ISO 8601 time of day: 21:40:32.142, 214032.142,
// 21:40:32, 214032, 21:40, 2140 or 21. A fraction has up to nine digits.
func ParseLocalTime(text string) (LocalTime, error) {
	t, err := parseClock(text)
	if err != nil {
		return LocalTime{}, parseError(KindLocalTime, text, err)
	}
	return t, nil
}

var errTimeForm = fmt.Errorf("write it as 21:40:32.142, 214032 or 21:40")

func parseClock(text string) (LocalTime, error) {
	whole, fraction := text, ""
	if i := strings.IndexAny(text, ".,"); i >= 0 {
		whole, fraction = text[:i], text[i+1:]
		if digitRun(fraction) != len(fraction) || fraction == "" || len(fraction) > 9 {
			return LocalTime{}, fmt.Errorf("a fraction of a second has one to nine digits")
		}
	}
	parts, ok := splitClock(whole)
	if !ok || fraction != "" && len(parts) != 3 {
		return LocalTime{}, errTimeForm
	}
	var n [3]int64
	for i, p := range parts {
		if n[i], ok = digits(p); !ok || len(p) != 2 {
			return LocalTime{}, errTimeForm
		}
	}
	nanos, _ := digits((fraction + "000000000")[:9])
	return MakeLocalTime(n[0], n[1], n[2], nanos)
}

// splitClock cuts hh, hhmm, hhmmss and their forms with colons into parts.
func splitClock(text string) ([]string, bool) {
	if strings.Contains(text, ":") {
		parts := strings.Split(text, ":")
		return parts, len(parts) <= 3
	}
	if len(text) != 2 && len(text) != 4 && len(text) != 6 {
		return nil, false
	}
	var parts []string
	for i := 0; i < len(text); i += 2 {
		parts = append(parts, text[i:i+2])
	}
	return parts, true
}

// parseOffset reads Z, +01, +0100, +01:00, +01:00:00 and the same with a minus.
func parseOffset(text string) (int32, error) {
	if text == "Z" || text == "z" {
		return 0, nil
	}
	bad := fmt.Errorf("%q is no offset: write it as Z, +01:00 or +0100", text)
	if len(text) < 3 || text[0] != '+' && text[0] != '-' {
		return 0, bad
	}
	parts, ok := splitClock(text[1:])
	if !ok {
		return 0, bad
	}
	offset := int64(0)
	for i, unit := range [3]int64{3600, 60, 1} {
		if i >= len(parts) {
			break
		}
		n, ok := digits(parts[i])
		if !ok || len(parts[i]) != 2 || i > 0 && n > 59 {
			return 0, bad
		}
		offset += n * unit
	}
	if offset > maxOffset {
		return 0, fmt.Errorf("offset %s is out of range: it goes from -18:00 to +18:00", text)
	}
	if text[0] == '-' {
		offset = -offset
	}
	return int32(offset), nil
}

// ParseTime reads a time of day and its offset; without one it is UTC. A named
// zone is refused, since its offset depends on the date.
func ParseTime(text string) (Time, error) {
	t, err := parseTime(text)
	if err != nil {
		return Time{}, parseError(KindTime, text, err)
	}
	return t, nil
}

func parseTime(text string) (Time, error) {
	if strings.Contains(text, "[") {
		return Time{}, fmt.Errorf("a time of day has an offset such as +01:00 but no named zone, whose offset depends on the date")
	}
	clock, zone := splitOffset(text)
	t, err := parseClock(clock)
	if err != nil || zone == "" {
		return Time{Nanos: t.Nanos}, err
	}
	offset, err := parseOffset(zone)
	return Time{Nanos: t.Nanos, Offset: offset}, err
}

// splitOffset cuts a time of day from the offset behind it.
func splitOffset(text string) (clock, offset string) {
	if i := strings.IndexAny(text, "Zz+-"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// ParseLocalDateTime reads a date, a T and a time of day, in any of the forms
// of ParseDate and ParseLocalTime; the time may be left out and is midnight
// then.
func ParseLocalDateTime(text string) (LocalDateTime, error) {
	t, err := parseLocalDateTime(text)
	if err != nil {
		return LocalDateTime{}, parseError(KindLocalDateTime, text, err)
	}
	return t, nil
}

func parseLocalDateTime(text string) (LocalDateTime, error) {
	datePart, clockPart, hasClock := strings.Cut(text, "T")
	d, err := parseDate(datePart)
	if err != nil || !hasClock {
		return MakeLocalDateTime(d, LocalTime{}), err
	}
	t, err := parseClock(clockPart)
	return MakeLocalDateTime(d, t), err
}

// ParseDateTime reads what ParseLocalDateTime does, followed by an offset, by a
// zone name in brackets or by both, which must agree. Without any it is UTC.
func ParseDateTime(text string) (DateTime, error) {
	t, err := parseDateTime(text)
	if err != nil {
		return DateTime{}, parseError(KindDateTime, text, err)
	}
	return t, nil
}

func parseDateTime(text string) (DateTime, error) {
	body, name, hasName := strings.Cut(text, "[")
	if hasName && (!strings.HasSuffix(name, "]") || name == "]") {
		return DateTime{}, fmt.Errorf("a zone is written as [Europe/Stockholm]")
	}
	name = strings.TrimSuffix(name, "]")
	offsetText := ""
	if datePart, clockPart, ok := strings.Cut(body, "T"); ok {
		clockPart, offsetText = splitOffset(clockPart)
		body = datePart + "T" + clockPart
	}
	local, err := parseLocalDateTime(body)
	if err != nil {
		return DateTime{}, err
	}
	var zone Zone
	if offsetText != "" {
		if zone.Offset, err = parseOffset(offsetText); err != nil {
			return DateTime{}, err
		}
	}
	if !hasName {
		return zone.Resolve(local)
	}
	if offsetText == "" {
		return Zone{Name: name}.Resolve(local)
	}
	t, err := Zone{Name: name}.Resolve(local, zone.Offset)
	if err == nil && t.Offset != zone.Offset {
		return DateTime{}, fmt.Errorf("the offset %s is not that of %s at that time, %s",
			FormatOffset(zone.Offset), name, FormatOffset(t.Offset))
	}
	return t, err
}
