package fn

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/temporal"
)

// temporalNames are the constructors, with the kind each makes.
var temporalNames = []struct {
	name string
	kind value.Kind
}{
	{"date", value.KindDate},
	{"localtime", value.KindLocalTime},
	{"time", value.KindTime},
	{"localdatetime", value.KindLocalDateTime},
	{"datetime", value.KindDateTime},
}

func temporalFuncs() []Func {
	var out []Func
	source := mapT.Or(stringT).Or(instantT)
	for _, t := range temporalNames {
		result := bound.OneOf(t.kind)
		out = append(out, Func{
			Name: t.name, Doc: "A " + t.kind.String() + " from a text, a map of components or another instant; the current one without arguments.",
			Params: []bound.Type{source}, Clocked: true, Result: result, Call: construct(t.kind),
		})
		for _, c := range []struct {
			name, doc string
			clock     clock
		}{
			{"transaction", "when the transaction began", transactionClock},
			{"statement", "when the statement began", statementClock},
			{"realtime", "now", realtimeClock},
		} {
			out = append(out, Func{
				Name: t.name + "." + c.name, Doc: "The " + t.kind.String() + " " + c.doc + ", in the given time zone.",
				Params: []bound.Type{stringT.Or(mapT)}, Result: result, Call: current(t.kind, c.clock),
			})
		}
		out = append(out, Func{
			Name: t.name + ".truncate", Doc: "A " + t.kind.String() + " cut to a unit such as 'month', with some components set by a map.",
			Params: []bound.Type{stringT, instantT, mapT}, Required: 2, Pure: true, Result: result, Call: truncateTo(t.kind),
		})
	}
	return append(out, epochAndDurationFuncs()...)
}

func epochAndDurationFuncs() []Func {
	datetime := bound.OneOf(value.KindDateTime)
	out := []Func{
		{
			Name: "datetime.fromEpoch", Doc: "The DATETIME of seconds and nanoseconds since 1970-01-01T00:00Z.",
			Params: []bound.Type{numT, numT}, Required: 1, Pure: true, Result: datetime, Call: fromEpoch,
		},
		{
			Name: "datetime.fromEpochMillis", Doc: "The DATETIME of milliseconds since 1970-01-01T00:00Z.",
			Params: []bound.Type{numT}, Required: 1, Pure: true, Result: datetime, Call: fromEpochMillis,
		},
		{
			Name: "duration", Doc: "A DURATION from a text or a map of components.",
			Params: []bound.Type{mapT.Or(stringT).Or(durationT)}, Required: 1, Pure: true, Result: durationT, Call: construct(value.KindDuration),
		},
	}
	for _, d := range []struct {
		name, doc string
		between   func(a, b value.Value) (value.Value, error)
	}{
		{"between", "The DURATION from one instant to another in months, days and seconds.", temporal.Between},
		{"inMonths", "The DURATION from one instant to another in whole months.", temporal.InMonths},
		{"inDays", "The DURATION from one instant to another in whole days.", temporal.InDays},
		{"inSeconds", "The DURATION from one instant to another in seconds.", temporal.InSeconds},
	} {
		out = append(out, Func{
			Name: "duration." + d.name, Doc: d.doc,
			Params: []bound.Type{instantT, instantT}, Required: 2, Pure: true, Result: durationT, Call: durationFunc(d.between),
		})
	}
	return out
}
