package value

import (
	"math"

	"pgregory.net/rapid"
)

// Generators prefer small and special values, so that equal ones meet.

var genScalar = rapid.OneOf(
	rapid.Just(Null),
	rapid.Map(rapid.Bool(), Bool),
	rapid.Map(rapid.Int64Range(-3, 3), Int),
	rapid.Map(rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 1 << 53, 1<<53 + 1}), Int),
	rapid.Map(rapid.SampledFrom([]float64{
		-1, math.Copysign(0, -1), 0, 0.5, 1, 2, 1 << 53, 1 << 63, -(1 << 63),
		math.NaN(), math.Inf(1), math.Inf(-1),
	}), Float),
	rapid.Map(rapid.SampledFrom([]string{"", "a", "b", "aa", "ä", "abcdefgh", "abcdefghi", "it's"}), String),
	rapid.Map(rapid.Uint64Range(1, 3), func(n uint64) Value { return NodeRef(NodeID(n)) }),
	rapid.Map(rapid.Uint64Range(1, 3), func(n uint64) Value { return EdgeRef(EdgeID(n)) }),
	genTemporal,
)

var genTemporal = rapid.OneOf(
	rapid.Map(genDate, OfDate),
	rapid.Map(genClock, OfLocalTime),
	rapid.Custom(func(t *rapid.T) Value {
		return OfTime(Time{Nanos: genClock.Draw(t, "clock").Nanos, Offset: genOffset.Draw(t, "offset")})
	}),
	rapid.Custom(func(t *rapid.T) Value {
		return OfLocalDateTime(MakeLocalDateTime(genDate.Draw(t, "date"), genClock.Draw(t, "clock")))
	}),
	rapid.Map(genDateTime, OfDateTime),
	rapid.Map(genDuration, OfDuration),
)

var genDate = rapid.Map(rapid.OneOf(
	rapid.Int64Range(-2, 2),
	rapid.Int64Range(-1_000_000, 1_000_000),
	rapid.SampledFrom([]int64{minDays + 1, maxDays - 1}),
), func(n int64) Date { return Date{Days: n} })

var genClock = rapid.Map(rapid.OneOf(
	rapid.Map(rapid.Int64Range(0, 23), func(h int64) int64 { return h * 3600 * nanosPerSecond }),
	rapid.Int64Range(0, nanosPerDay-1),
), func(n int64) LocalTime { return LocalTime{Nanos: n} })

var genOffset = rapid.SampledFrom([]int32{0, 3600, -3600, 3208, 5*3600 + 1800, -18 * 3600})

var genZone = rapid.OneOf(
	rapid.Map(genOffset, func(o int32) Zone { return Zone{Offset: o} }),
	rapid.Map(rapid.SampledFrom([]string{"Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "UTC"}),
		func(name string) Zone { return Zone{Name: name} }),
)

var genDateTime = rapid.Custom(func(t *rapid.T) DateTime {
	local := MakeLocalDateTime(genDate.Draw(t, "date"), genClock.Draw(t, "clock"))
	dt, err := genZone.Draw(t, "zone").Resolve(local)
	if err != nil {
		t.Fatal(err)
	}
	return dt
})

var genDuration = rapid.Custom(func(t *rapid.T) Duration {
	part := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64Range(-1_000_000, 1_000_000))
	return Duration{
		Months: part.Draw(t, "months"), Days: part.Draw(t, "days"), Seconds: part.Draw(t, "seconds"),
		Nanos: rapid.SampledFrom([]int32{0, 1, 500_000_000, 999_999_999}).Draw(t, "nanos"),
	}
})

// genValue makes values of up to two levels of lists and maps.
func genValue(depth int) *rapid.Generator[Value] {
	if depth == 0 {
		return genScalar
	}
	inner := genValue(depth - 1)
	return rapid.OneOf(
		genScalar,
		rapid.Map(rapid.SliceOfN(inner, 0, 3), List),
		rapid.Custom(func(t *rapid.T) Value {
			keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "keys")
			var entries []Prop
			for _, k := range keys {
				entries = append(entries, Prop{Key: k, Value: inner.Draw(t, k)})
			}
			return Map(entries)
		}),
		rapid.Custom(func(t *rapid.T) Value {
			n := rapid.IntRange(1, 3).Draw(t, "length")
			p := &Path{}
			for i := range n {
				p.Nodes = append(p.Nodes, NodeRef(NodeID(rapid.Uint64Range(1, 2).Draw(t, "node"))))
				if i > 0 {
					p.Edges = append(p.Edges, EdgeRef(EdgeID(rapid.Uint64Range(1, 2).Draw(t, "edge"))))
				}
			}
			return OfPath(p)
		}),
	)
}
