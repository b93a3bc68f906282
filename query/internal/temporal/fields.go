package temporal

import (
	"fmt"
	"slices"

	"engram/graph/value"
)

// field is an integer component in a constructor's map.
type field int

const (
	fYear field = iota
	fQuarter
	fMonth
	fWeek
	fDay
	fOrdinalDay
	fDayOfWeek
	fDayOfQuarter
	fHour
	fMinute
	fSecond
	fMillisecond
	fMicrosecond
	fNanosecond
	fEpochSeconds
	fEpochMillis
	fieldCount
)

var fieldNames = []string{
	"year", "quarter", "month", "week", "day", "ordinalDay", "dayOfWeek", "dayOfQuarter",
	"hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "epochSeconds", "epochMillis",
}

func (f field) String() string { return fieldNames[f] }

// fields is a constructor's map, checked: {year: 1984, time: other, ...}.
type fields struct {
	has  [fieldCount]bool
	n    [fieldCount]int64
	base map[string]value.Value // date, time and datetime: values to start from
	zone *value.Zone
}

// newFields reads a map of fields that suit kind; any other key is an error.
func newFields(kind value.Kind, m *value.MapData) (*fields, error) {
	f := &fields{base: map[string]value.Value{}}
	for _, e := range m.Entries {
		if !suits(kind, e.Key) {
			return nil, fmt.Errorf("%s() has no field %s", Name(kind), e.Key)
		}
		switch e.Key {
		case "timezone":
			if e.Value.IsNull() {
				return nil, fmt.Errorf("timezone is null: give an offset such as '+01:00' or a name such as 'Europe/Stockholm'")
			}
			z, err := zoneOf(e.Value)
			if err != nil {
				return nil, err
			}
			f.zone = &z
		case "date", "time", "datetime":
			f.base[e.Key] = e.Value
		default:
			i := slices.Index(fieldNames, e.Key)
			if e.Value.Kind() != value.KindInt {
				return nil, fmt.Errorf("%s is an integer, not %s", e.Key, e.Value.Kind().Named())
			}
			f.has[i], f.n[i] = true, e.Value.AsInt()
		}
	}
	return f, nil
}

// suits reports whether a constructor of kind knows a key.
func suits(kind value.Kind, key string) bool {
	switch key {
	case "date":
		return hasDate(kind)
	case "time":
		return hasTime(kind)
	case "datetime":
		return hasDate(kind) && hasTime(kind)
	case "timezone":
		return hasZone(kind)
	}
	f := field(slices.Index(fieldNames, key))
	switch {
	case f < 0:
		return false
	case f <= fDayOfQuarter:
		return hasDate(kind)
	case f <= fNanosecond:
		return hasTime(kind)
	}
	return kind == value.KindDateTime
}

// build makes a value from the map alone.
func (f *fields) build(kind value.Kind) (value.Value, error) {
	p, err := f.start(kind)
	if err != nil {
		return value.Null, err
	}
	if p, err = f.override(kind, p); err != nil {
		return value.Null, err
	}
	if f.zone == nil {
		return p.build(kind)
	}
	if !p.hasZone { // no zone to convert from: the clock is read in the new one
		p.zone = *f.zone
		return p.build(kind)
	}
	return p.convert(kind, *f.zone)
}

// convert makes a value at the same instant in another zone.
func (p parts) convert(kind value.Kind, z value.Zone) (value.Value, error) {
	if kind == value.KindTime {
		from, err := p.clockOffset()
		if err != nil {
			return value.Null, err
		}
		to, err := parts{zone: z}.clockOffset()
		return value.OfTime(value.Time{Nanos: p.clock.Nanos, Offset: from}.At(to)), err
	}
	t, err := p.instant()
	if err != nil {
		return value.Null, err
	}
	return wrap(value.OfDateTime)(z.At(t.Seconds, t.Nanos))
}

// start collects the values that the fields are laid over.
func (f *fields) start(kind value.Kind) (parts, error) {
	var p parts
	if f.has[fEpochSeconds] || f.has[fEpochMillis] {
		return f.startEpoch()
	}
	if v, ok := f.base["datetime"]; ok {
		if len(f.base) > 1 {
			return p, fmt.Errorf("datetime cannot be combined with date or time")
		}
		if p = partsOf(v); !p.hasDate || !p.hasTime {
			return p, fmt.Errorf("datetime: takes a datetime or a local datetime, not %s", v.Kind().Named())
		}
		return p, nil
	}
	if v, ok := f.base["time"]; ok {
		if p = partsOf(v); !p.hasTime {
			return p, fmt.Errorf("time: takes a value with a time of day, not %s", v.Kind().Named())
		}
		if kind == value.KindTime { // without a date only the offset of that day is left
			p.zone = value.Zone{Offset: p.offset}
		}
		p.hasDate = false
	}
	if v, ok := f.base["date"]; ok {
		d := partsOf(v)
		if !d.hasDate {
			return p, fmt.Errorf("date: takes a value with a date, not %s", v.Kind().Named())
		}
		p.date, p.hasDate = d.date, true
	}
	return p, nil
}

// startEpoch starts from an instant; only the nanosecond may be given besides.
func (f *fields) startEpoch() (parts, error) {
	for i := range fEpochSeconds {
		if f.has[i] && i != fNanosecond {
			return parts{}, fmt.Errorf("%s cannot be combined with an epoch", i)
		}
	}
	if len(f.base) > 0 || f.has[fEpochSeconds] && f.has[fEpochMillis] {
		return parts{}, fmt.Errorf("an epoch cannot be combined with another base")
	}
	seconds, nanos := f.n[fEpochSeconds]+f.n[fEpochMillis]/1000, f.n[fEpochMillis]%1000*1_000_000
	v, err := FromEpoch(seconds, nanos)
	if err != nil {
		return parts{}, err
	}
	return partsOf(v), nil
}

// override lays the fields over p.
func (f *fields) override(kind value.Kind, p parts) (parts, error) {
	var err error
	if hasDate(kind) {
		if p.date, err = f.dateOver(p); err != nil {
			return p, err
		}
		p.hasDate = true
	}
	if hasTime(kind) {
		if p.clock, err = f.clockOver(p); err != nil {
			return p, err
		}
		p.hasTime = true
	}
	return p, nil
}

// or returns the field, or otherwise where it is not given.
func (f *fields) or(i field, otherwise int64) int64 {
	if f.has[i] {
		return f.n[i]
	}
	return otherwise
}

// needs checks, where there is no value to start from, that of units from large
// to small none is given without the one before it.
func (f *fields) needs(units ...field) error {
	for i := 1; i < len(units); i++ {
		if f.has[units[i]] && !f.has[units[i-1]] {
			return fmt.Errorf("%s is given without %s", units[i], units[i-1])
		}
	}
	return nil
}
