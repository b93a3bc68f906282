package value

import "fmt"

// RangeError says that a part of a date, a time or a duration is outside of
// what it may be.
type RangeError struct {
	Part     string // such as "month"
	Got      int64
	Min, Max int64
}

// Error tells what is out of range.
func (e *RangeError) Error() string {
	return fmt.Sprintf("%s %d is out of range: it goes from %d to %d", e.Part, e.Got, e.Min, e.Max)
}

func checkPart(part string, got, lo, hi int64) error {
	if got < lo || got > hi {
		return &RangeError{Part: part, Got: got, Min: lo, Max: hi}
	}
	return nil
}

var (
	minDays = daysOf(-MaxYear, 1, 1)
	maxDays = daysOf(MaxYear, 12, 31)
)

// MakeDate makes a calendar date; every part is checked, the day against the
// length of its month.
func MakeDate(year, month, day int64) (Date, error) {
	if err := checkPart("year", year, -MaxYear, MaxYear); err != nil {
		return Date{}, err
	}
	if err := checkPart("month", month, 1, 12); err != nil {
		return Date{}, err
	}
	part := fmt.Sprintf("day of %d-%02d", year, month)
	if err := checkPart(part, day, 1, int64(DaysInMonth(year, int(month)))); err != nil {
		return Date{}, err
	}
	return Date{Days: daysOf(year, int(month), int(day))}, nil
}

// MakeWeekDate makes a date from an ISO 8601 week date: weekYear is the year
// that holds the week's Thursday, weekday runs from 1 (Monday) to 7.
func MakeWeekDate(weekYear, week, weekday int64) (Date, error) {
	if err := checkPart("year", weekYear, -MaxYear, MaxYear); err != nil {
		return Date{}, err
	}
	start := weekYearStart(weekYear)
	weeks := (weekYearStart(weekYear+1) - start) / 7
	if err := checkPart(fmt.Sprintf("week of %d", weekYear), week, 1, weeks); err != nil {
		return Date{}, err
	}
	if err := checkPart("dayOfWeek", weekday, 1, 7); err != nil {
		return Date{}, err
	}
	return DateOfDays(start + (week-1)*7 + weekday - 1)
}

// MakeOrdinalDate makes a date from a year and a day of that year, from 1.
func MakeOrdinalDate(year, day int64) (Date, error) {
	if err := checkPart("year", year, -MaxYear, MaxYear); err != nil {
		return Date{}, err
	}
	first := daysOf(year, 1, 1)
	length := daysOf(year+1, 1, 1) - first
	if err := checkPart(fmt.Sprintf("ordinalDay of %d", year), day, 1, length); err != nil {
		return Date{}, err
	}
	return Date{Days: first + day - 1}, nil
}

// MakeQuarterDate makes a date from a year, a quarter (1 to 4) and a day of
// that quarter, from 1.
func MakeQuarterDate(year, quarter, day int64) (Date, error) {
	if err := checkPart("year", year, -MaxYear, MaxYear); err != nil {
		return Date{}, err
	}
	if err := checkPart("quarter", quarter, 1, 4); err != nil {
		return Date{}, err
	}
	first := daysOf(year, int(quarter)*3-2, 1)
	next, month := year, int(quarter)*3+1
	if month > 12 {
		next, month = year+1, 1
	}
	length := daysOf(next, month, 1) - first
	if err := checkPart(fmt.Sprintf("dayOfQuarter of %d-Q%d", year, quarter), day, 1, length); err != nil {
		return Date{}, err
	}
	return Date{Days: first + day - 1}, nil
}

// DateOfDays makes a date from its day number and checks the year's range.
func DateOfDays(days int64) (Date, error) {
	if days < minDays || days > maxDays {
		return Date{}, fmt.Errorf("the date is out of range: years go from -%d to %d", MaxYear, MaxYear)
	}
	return Date{Days: days}, nil
}

// weekYearStart returns the day number of the Monday of week 1, the week that
// holds 4 January.
func weekYearStart(year int64) int64 {
	fourth := daysOf(year, 1, 4)
	return fourth - weekdayOf(fourth) + 1
}

// weekdayOf returns 1 for Monday to 7. Day 0 was a Thursday.
func weekdayOf(days int64) int64 {
	_, r := floorDiv(days+3, 7)
	return r + 1
}

// Civil returns the calendar date: month 1 to 12, day 1 to 31.
func (d Date) Civil() (year int64, month, day int) { return civilOf(d.Days) }

// Weekday returns the day of the week, 1 for Monday to 7 for Sunday.
func (d Date) Weekday() int { return int(weekdayOf(d.Days)) }

// ISOWeek returns the ISO 8601 week, 1 to 53, and the year it belongs to, which
// around New Year may be the one before or after the calendar year.
func (d Date) ISOWeek() (weekYear int64, week int) {
	thursday := d.Days - weekdayOf(d.Days) + 4
	weekYear, _, _ = civilOf(thursday)
	return weekYear, int((thursday-daysOf(weekYear, 1, 1))/7) + 1
}

// OrdinalDay returns the day of the year, 1 to 366.
func (d Date) OrdinalDay() int {
	year, _, _ := civilOf(d.Days)
	return int(d.Days-daysOf(year, 1, 1)) + 1
}

// Quarter returns the quarter of the year, 1 to 4, and the day in it, 1 to 92.
func (d Date) Quarter() (quarter, day int) {
	year, month, _ := civilOf(d.Days)
	quarter = (month + 2) / 3
	return quarter, int(d.Days-daysOf(year, quarter*3-2, 1)) + 1
}

// AddMonths moves d by whole months; where the month it lands in is too short
// the day becomes that month's last.
func (d Date) AddMonths(months int64) (Date, error) {
	if err := checkPart("months", months, -maxMonths, maxMonths); err != nil {
		return Date{}, err
	}
	year, month, day := civilOf(d.Days)
	year, m := floorDiv(year*12+int64(month)-1+months, 12)
	if err := checkPart("year", year, -MaxYear, MaxYear); err != nil {
		return Date{}, err
	}
	month = int(m) + 1
	return Date{Days: daysOf(year, month, min(day, DaysInMonth(year, month)))}, nil
}

// AddDays moves d by days.
func (d Date) AddDays(days int64) (Date, error) {
	if days > maxDays-minDays || days < minDays-maxDays {
		days = maxDays - minDays + 1 // out of range wherever it starts
	}
	return DateOfDays(d.Days + days)
}

// maxMonths spans all dates.
const maxMonths = 2*MaxYear*12 + 11
