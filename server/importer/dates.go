package importer

import (
	"strings"
	"time"

	"engram"
)

// dateLayouts are the ways people's chats and notes write dates, in the order
// they are tried, with what they say: an instant, a local time or a day. 1/2/2006
// is not among them: it is two days, depending on who wrote it.
var dateLayouts = []struct {
	layout string
	make   func(time.Time) engram.Value
}{
	{time.RFC3339Nano, engram.DateTimeOf},
	{"2006-01-02T15:04Z07:00", engram.DateTimeOf},
	{"2006-01-02 15:04:05.999999999Z07:00", engram.DateTimeOf},
	{time.RFC1123Z, engram.DateTimeOf},
	{"2006-01-02T15:04:05.999999999", engram.LocalDateTimeOf},
	{"2006-01-02 15:04:05.999999999", engram.LocalDateTimeOf},
	{"2006-01-02T15:04", engram.LocalDateTimeOf},
	{"2006-01-02 15:04", engram.LocalDateTimeOf},
	{"3:04 pm on 2 January, 2006", engram.LocalDateTimeOf},
	{"2006-01-02", engram.DateOf},
	{"2006/01/02", engram.DateOf},
	{"2 January 2006", engram.DateOf},
	{"2 January, 2006", engram.DateOf},
	{"2 Jan 2006", engram.DateOf},
	{"January 2, 2006", engram.DateOf},
	{"Jan 2, 2006", engram.DateOf},
}

// parseDate reads a date; one that is not understood stays text.
func parseDate(text string) (value any, understood bool) {
	text = strings.TrimSpace(text)
	for _, l := range dateLayouts {
		if t, err := time.Parse(l.layout, text); err == nil {
			return l.make(t), true
		}
	}
	return text, false
}

// withCreated adds when a memory was created: a day is its begin, and a time without a
// zone is one of UTC. What is no date adds nothing.
func withCreated(props []engram.Prop, date engram.Value) []engram.Prop {
	switch date.Kind() {
	case engram.KindDateTime:
	case engram.KindDate, engram.KindLocalDateTime:
		text := date.ToString()
		if date.Kind() == engram.KindDate {
			text += "T00:00"
		}
		var err error
		if date, err = engram.ParseValue(engram.KindDateTime, text+"Z"); err != nil {
			return props // at the end of the calendar
		}
	default:
		return props
	}
	return append(props, engram.Prop{Key: "created_at", Value: date})
}
