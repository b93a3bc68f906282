package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"engram/graph/value"
)

// span is a time from its begin on, until before its end.
type span struct{ since, until Moment }

// dates tells whether a memory is of a time that the query names.
type dates struct {
	screen *screen
	spans  []span
}

// dated gets ready to look at the times of memories, if the query names one.
func (r *run) dated() error {
	if r.t.Date == 0 || r.o.Query == "" || r.screen.date == 0 && r.screen.created == 0 {
		return nil
	}
	if spans := spansOf(r.o.Query, r.o.Now); len(spans) > 0 {
		r.dates = &dates{r.screen, spans}
	}
	return nil
}

// named reports whether a memory's time meets one that the query names.
func (d *dates) named(id value.NodeID) (bool, error) {
	for _, s := range d.spans {
		if in, err := d.screen.meets(id, s); in || err != nil {
			return in, err
		}
	}
	return false, nil
}

// maxSpans bounds how many times of one query are looked at, maxDateWords how many of
// its words.
const (
	maxSpans     = 4
	maxDateWords = 200
)

// spansOf finds the times that a text names in words of English as they are seen from a
// moment: last week, in May. Those with a year need no more than the words that memories
// have of their dates. Days, weeks that begin on Monday, months and years are of UTC.
func spansOf(text string, now Moment) []span {
	p := &dateParser{now: time.Unix(now.Seconds, 0).UTC(), words: dateWords(text)}
	var out []span
	for p.at = 0; p.at < len(p.words) && len(out) < maxSpans; {
		begin := p.at
		from, until, n := p.one()
		if n == 0 {
			p.at++
			continue
		}
		p.at += n
		// What is said to be before or after a time is not of it.
		if begin > 0 && slices.Contains(beside, p.words[begin-1]) {
			continue
		}
		out = append(out, span{Moment{Seconds: from.Unix()}, Moment{Seconds: until.Unix()}})
	}
	return out
}

// dateWords are the first words of a text in lower case.
func dateWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text[:min(len(text), 32*maxDateWords)]), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return words[:min(len(words), maxDateWords)]
}

// beside are words before a time that say that something else is meant.
var beside = []string{"before", "after", "since", "until", "till", "by", "between"}

type dateParser struct {
	now   time.Time
	words []string
	at    int
}

func (p *dateParser) word(i int) string {
	if i += p.at; i < 0 || i >= len(p.words) {
		return ""
	}
	return p.words[i]
}

// one reads the time that begins at a word; n is how many words it has, 0: none does.
func (p *dateParser) one() (from, until time.Time, n int) {
	for _, form := range []func() (time.Time, time.Time, int){p.named, p.ago, p.which, p.written, p.bareMonth} {
		if from, until, n = form(); n > 0 {
			return from, until, n
		}
	}
	return from, until, 0
}

var (
	months   = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	numbers  = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
)

// day, and the week, month and year of it, and those so many before.
func (p *dateParser) unit(unit string, before int) (from, until time.Time) {
	y, m, d := p.now.Date()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch unit {
	case "day":
		from = at(y, m, d-before)
		return from, from.AddDate(0, 0, 1)
	case "week":
		from = at(y, m, d-(int(p.now.Weekday())+6)%7-7*before)
		return from, from.AddDate(0, 0, 7)
	case "month":
		from = at(y, m-time.Month(before), 1)
		return from, from.AddDate(0, 1, 0)
	}
	from = at(y-before, 1, 1)
	return from, from.AddDate(1, 0, 0)
}

func isUnit(w string) bool { return w == "day" || w == "week" || w == "month" || w == "year" }

// named reads today and the like.
func (p *dateParser) named() (from, until time.Time, n int) {
	switch before := 0; p.word(0) {
	case "yesterday":
		before++
		fallthrough
	case "today", "tonight":
		from, until = p.unit("day", before)
		return from, until, 1
	case "day":
		if p.word(1) == "before" && p.word(2) == "yesterday" {
			from, until = p.unit("day", 2)
			return from, until, 3
		}
	}
	return from, until, 0
}

// number reads a number of up to 999, or a.
func number(w string) int {
	if w == "a" || w == "an" {
		return 1
	}
	if i := slices.Index(numbers, w); i > 0 {
		return i
	}
	if n, err := strconv.Atoi(w); err == nil && n > 0 && len(w) < 4 {
		return n
	}
	return 0
}

// ago reads two weeks ago.
func (p *dateParser) ago() (from, until time.Time, n int) {
	count, unit := number(p.word(0)), strings.TrimSuffix(p.word(1), "s")
	if count == 0 || !isUnit(unit) || p.word(2) != "ago" {
		return from, until, 0
	}
	from, until = p.unit(unit, count)
	return from, until, 3
}

// which reads this month, last week, last night, last Friday, the last three days.
func (p *dateParser) which() (from, until time.Time, n int) {
	which, w := p.word(0), p.word(1)
	if which == "on" && slices.Contains(weekdays, w) {
		which = "last"
	}
	last := which == "last" || which == "past" || which == "previous"
	if which != "this" && !last {
		return from, until, 0
	}
	before := 0
	if last {
		before = 1
	}
	if isUnit(w) && w != "day" {
		from, until = p.unit(w, before)
		return from, until, 2
	}
	if count, unit := number(w), strings.TrimSuffix(p.word(2), "s"); last && count > 0 && isUnit(unit) {
		from, _ = p.unit(unit, count)
		_, until = p.unit("day", 0)
		return from, until, 3
	}
	if i := slices.Index(weekdays, w); i >= 0 && last {
		from, until = p.unit("day", (int(p.now.Weekday())-i+6)%7+1)
		return from, until, 2
	}
	if i := slices.Index(months, w); i >= 0 && !p.year(2) {
		from, until = p.latest(time.Month(i+1), before)
		return from, until, 2
	}
	switch {
	case w == "night" && last:
		from, until = p.unit("day", 1)
		return from, until, 2
	case w == "weekend":
		from, until = p.unit("week", before)
		return from.AddDate(0, 0, 5), until, 2
	}
	return from, until, 0
}

// latest is the last month of a name, of those that have begun, or with ended that are over.
func (p *dateParser) latest(m time.Month, ended int) (from, until time.Time) {
	return p.unit("month", (int(p.now.Month())-int(m)-ended+12)%12+ended)
}

// dayOf reads the day of a month, such as 8 or 8th.
func dayOf(w string) int {
	for _, end := range []string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, end)
	}
	d, err := strconv.Atoi(w)
	if err != nil || len(w) > 2 || d < 1 || d > 31 {
		return 0
	}
	return d
}

// written reads 8 May, the 8th of May and May 8: the latest such day that is not after
// today. With a year behind it there is nothing to be done.
func (p *dateParser) written() (from, until time.Time, n int) {
	day, month := dayOf(p.word(0)), slices.Index(months, p.word(1))
	n = 2
	if day > 0 && p.word(1) == "of" {
		month, n = slices.Index(months, p.word(2)), 3
	}
	if day == 0 || month < 0 {
		month, day, n = slices.Index(months, p.word(0)), dayOf(p.word(1)), 2
	}
	if day == 0 || month < 0 || p.year(n) {
		return from, until, 0
	}
	for year := p.now.Year(); year > p.now.Year()-10; year-- { // a leap day may be eight years ago
		from = time.Date(year, time.Month(month+1), day, 0, 0, 0, 0, time.UTC)
		if from.Day() == day && !from.After(p.now) {
			return from, from.AddDate(0, 0, 1), n
		}
	}
	return from, until, 0
}

// year reports whether a year stands at a word, or of a year.
func (p *dateParser) year(i int) bool {
	return isYear(p.word(i)) || p.word(i) == "of" && isYear(p.word(i+1))
}

func isYear(w string) bool {
	if len(w) != 4 || w[:2] != "19" && w[:2] != "20" {
		return false
	}
	_, err := strconv.Atoi(w)
	return err == nil
}

// bareMonth reads in May: the latest one that has begun. Without a word before it that
// is about time, May is also a verb.
func (p *dateParser) bareMonth() (from, until time.Time, n int) {
	m := slices.Index(months, p.word(1))
	if m < 0 || p.word(0) != "in" && p.word(0) != "during" || p.year(2) {
		return from, until, 0
	}
	from, until = p.latest(time.Month(m+1), 0)
	return from, until, 2
}
