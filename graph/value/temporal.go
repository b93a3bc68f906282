package value

import "unsafe"

// The temporal kinds. Years run from -999,999,999 to +999,999,999, so days and
// seconds are counted in int64 by our own arithmetic, never by time.Duration.
type (
	// Date is a calendar date.
	Date struct {
		Days int64 // since 1970-01-01, proleptic Gregorian
	}
	// LocalTime is a time of day without an offset.
	LocalTime struct {
		Nanos int64 // since midnight, 0 to 86,399,999,999,999
	}
	// Time is a time of day at an offset from UTC.
	Time struct {
		Nanos  int64 // local, since midnight
		Offset int32 // seconds east of UTC, -18 h to +18 h
	}
	// LocalDateTime is a date and a time of day without a zone.
	LocalDateTime struct {
		Seconds int64 // local, since 1970-01-01T00:00
		Nanos   int32 // 0 to 999,999,999
	}
	// DateTime is an instant together with the zone it was written in.
	DateTime struct {
		Seconds int64 // UTC, since 1970-01-01T00:00Z
		Nanos   int32
		Offset  int32  // seconds east of UTC at that instant
		Zone    string // IANA name, or empty for a bare offset
	}
	// Duration keeps months, days and seconds apart, since their ratio depends
	// on the date they are added to. Each part has a sign of its own.
	Duration struct {
		Months, Days, Seconds int64
		Nanos                 int32 // 0 to 999,999,999, added to Seconds
	}
)

// OfDate makes a date value.
func OfDate(d Date) Value { return Value{what: uint64(KindDate), num: uint64(d.Days)} }

// OfLocalTime makes a local time value.
func OfLocalTime(t LocalTime) Value { return Value{what: uint64(KindLocalTime), num: uint64(t.Nanos)} }

// OfTime makes a time value.
func OfTime(t Time) Value {
	return Value{what: describe(KindTime, wordsOf(int(unsafe.Sizeof(t))), 0), ptr: unsafe.Pointer(&t)}
}

// OfLocalDateTime makes a local datetime value.
func OfLocalDateTime(t LocalDateTime) Value {
	return Value{what: describe(KindLocalDateTime, wordsOf(int(unsafe.Sizeof(t))), 0), ptr: unsafe.Pointer(&t)}
}

// OfDateTime makes a datetime value.
func OfDateTime(t DateTime) Value {
	return Value{what: describe(KindDateTime, wordsOf(int(unsafe.Sizeof(t))+len(t.Zone)), 0), ptr: unsafe.Pointer(&t)}
}

// OfDuration makes a duration value.
func OfDuration(d Duration) Value {
	return Value{what: describe(KindDuration, wordsOf(int(unsafe.Sizeof(d))), 0), ptr: unsafe.Pointer(&d)}
}

// AsDate returns the date v holds.
func (v Value) AsDate() Date { return Date{Days: int64(v.numIf(KindDate))} }

// AsLocalTime returns the local time v holds.
func (v Value) AsLocalTime() LocalTime { return LocalTime{Nanos: int64(v.numIf(KindLocalTime))} }

// AsTime returns the time v holds.
func (v Value) AsTime() Time { return deref[Time](v, KindTime) }

// AsLocalDateTime returns the local datetime v holds.
func (v Value) AsLocalDateTime() LocalDateTime { return deref[LocalDateTime](v, KindLocalDateTime) }

// AsDateTime returns the datetime v holds.
func (v Value) AsDateTime() DateTime { return deref[DateTime](v, KindDateTime) }

// AsDuration returns the duration v holds.
func (v Value) AsDuration() Duration { return deref[Duration](v, KindDuration) }

func (v Value) numIf(k Kind) uint64 {
	if v.Kind() != k {
		return 0
	}
	return v.num
}

func deref[T any](v Value, k Kind) T {
	if v.Kind() != k || v.ptr == nil {
		var zero T
		return zero
	}
	return *(*T)(v.ptr)
}
