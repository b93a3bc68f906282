package value

import (
	"fmt"
	"strings"
	"time"
)

// maxOffset is the largest offset from UTC, 18 hours.
const maxOffset = 18 * 3600

// Zone is a time zone: an IANA name, or where Name is empty a fixed offset in
// seconds east of UTC. The zero Zone is UTC.
type Zone struct {
	Name   string
	Offset int32 // only meaningful without a Name
}

// ParseZone reads an offset (Z, +01, +0100, +01:00, +01:00:00) or the IANA name
// of a zone, such as Europe/Stockholm.
func ParseZone(text string) (Zone, error) {
	if text == "Z" || text == "z" || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		offset, err := parseOffset(text)
		return Zone{Offset: offset}, err
	}
	if _, err := location(text); err != nil {
		return Zone{}, err
	}
	return Zone{Name: text}, nil
}

// String returns the name, or the offset as +01:00.
func (z Zone) String() string {
	if z.Name != "" {
		return z.Name
	}
	return FormatOffset(z.Offset)
}

// OffsetAt returns the offset in seconds east of UTC at an instant, given in
// seconds since 1970-01-01T00:00Z.
func (z Zone) OffsetAt(seconds int64) (int32, error) {
	if z.Name == "" {
		return z.Offset, nil
	}
	loc, err := location(z.Name)
	if err != nil {
		return 0, err
	}
	return offsetAt(loc, seconds), nil
}

func offsetAt(loc *time.Location, seconds int64) int32 {
	_, offset := time.Unix(seconds, 0).In(loc).Zone()
	return int32(offset)
}

// At returns the datetime in z at an instant.
func (z Zone) At(seconds int64, nanos int32) (DateTime, error) {
	offset, err := z.OffsetAt(seconds)
	return DateTime{Seconds: seconds, Nanos: nanos, Offset: offset, Zone: z.Name}, err
}

// Resolve returns the datetime at which clocks in z show local. Where they show
// it twice, at the end of summer time, the first is meant unless preferred is
// the second's offset; where they jump over it, it counts on with the offset
// from before the jump.
func (z Zone) Resolve(local LocalDateTime, preferred ...int32) (DateTime, error) {
	at := func(offset int32) DateTime {
		return DateTime{Seconds: local.Seconds - int64(offset), Nanos: local.Nanos, Offset: offset, Zone: z.Name}
	}
	if z.Name == "" {
		return at(z.Offset), nil
	}
	loc, err := location(z.Name)
	if err != nil {
		return DateTime{}, err
	}
	// No zone changes its offset twice within two days, so a day away on either
	// side the offset is the one before and the one after a near change.
	before := offsetAt(loc, local.Seconds-secondsPerDay)
	after := offsetAt(loc, local.Seconds+secondsPerDay)
	valid := func(offset int32) bool { return offsetAt(loc, local.Seconds-int64(offset)) == offset }
	for _, p := range preferred {
		if (p == before || p == after) && valid(p) {
			return at(p), nil
		}
	}
	switch {
	case valid(before):
		return at(before), nil
	case valid(after):
		return at(after), nil
	}
	return z.At(local.Seconds-int64(before), local.Nanos)
}

// FormatOffset writes an offset in seconds east of UTC as Z, +01:00 or, where
// it has seconds, +00:53:28.
func FormatOffset(offset int32) string {
	if offset == 0 {
		return "Z"
	}
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	text := fmt.Sprintf("%c%02d:%02d", sign, offset/3600, offset/60%60)
	if offset%60 != 0 {
		text += fmt.Sprintf(":%02d", offset%60)
	}
	return text
}
