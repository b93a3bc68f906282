package fn

import (
	"engram/graph/value"
	"engram/query/internal/bound"
)

func aggregates() []Aggregate {
	one := []bound.Type{anyT}
	summable := numT.Or(durationT)
	percentile := []bound.Type{numT, numT}
	return []Aggregate{
		{
			Name: "count", Doc: "The number of values that are not null; count(*) is the number of rows.",
			Params: one, Result: intT, New: func() Aggregator { return &counter{} },
		},
		{
			Name: "collect", Doc: "The list of the values that are not null.",
			Params: one, Required: 1, ResultOf: collectType, Keeps: true, New: func() Aggregator { return &collector{} },
		},
		{
			Name: "sum", Doc: "The sum of numbers or durations; 0 of nothing.",
			Params: []bound.Type{summable}, Required: 1, ResultOf: sameAs,
			New: func() Aggregator { return &adder{name: "sum"} },
		},
		{
			Name: "avg", Doc: "The mean of numbers or durations; null of nothing.",
			Params: []bound.Type{summable}, Required: 1, Result: floatT.Or(durationT),
			New: func() Aggregator { return &averager{adder: adder{name: "avg"}} },
		},
		{
			Name: "min", Doc: "The least value in the order of ORDER BY; null of nothing.",
			Params: one, Required: 1, ResultOf: sameAs, New: func() Aggregator { return &extreme{sign: -1} },
		},
		{
			Name: "max", Doc: "The greatest value in the order of ORDER BY; null of nothing.",
			Params: one, Required: 1, ResultOf: sameAs, New: func() Aggregator { return &extreme{sign: 1} },
		},
		{
			Name: "percentileDisc", Doc: "The value at a percentile from 0.0 to 1.0, one of those given.",
			Params: percentile, Required: 2, ResultOf: sameAs, Keeps: true,
			New: func() Aggregator { return &percentiler{name: "percentileDisc"} },
		},
		{
			Name: "percentileCont", Doc: "The value at a percentile from 0.0 to 1.0, interpolated.",
			Params: percentile, Required: 2, Result: floatT, Keeps: true,
			New: func() Aggregator { return &percentiler{name: "percentileCont", interpolate: true} },
		},
		{
			Name: "stDev", Doc: "The standard deviation of a sample; 0.0 of less than two numbers.",
			Params: []bound.Type{numT}, Required: 1, Result: floatT,
			New: func() Aggregator { return &deviation{name: "stDev", less: 1} },
		},
		{
			Name: "stDevP", Doc: "The standard deviation of a whole population; 0.0 of nothing.",
			Params: []bound.Type{numT}, Required: 1, Result: floatT,
			New: func() Aggregator { return &deviation{name: "stDevP"} },
		},
	}
}

func collectType(args []bound.Type) bound.Type {
	if len(args) == 0 {
		return bound.Type{Kinds: bound.Of(value.KindList)}
	}
	return bound.ListOf(args[0])
}
