package fn

import (
	"math"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

func mathFuncs() []Func { return append(realFuncs(), numberFuncs()...) }

// realFuncs are the functions from float to float and the constants.
func realFuncs() []Func {
	one := func(name, doc string, f func(float64) float64) Func {
		return Func{
			Name: name, Doc: doc, Params: []bound.Type{numT}, Required: 1, Pure: true, Result: floatT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.Float(f(args[0].AsFloat())), nil
			},
		}
	}
	constant := func(name, doc string, x float64) Func {
		return Func{
			Name: name, Doc: doc, Pure: true, Result: floatT,
			Call: func(*Context, []value.Value) (value.Value, error) { return value.Float(x), nil },
		}
	}
	return []Func{
		one("ceil", "The least whole number that is not less, as a float.", math.Ceil),
		one("floor", "The greatest whole number that is not greater, as a float.", math.Floor),
		one("sqrt", "The square root; NaN of a negative number.", math.Sqrt),
		one("exp", "e to the power of a number.", math.Exp),
		one("log", "The natural logarithm.", math.Log),
		one("log10", "The logarithm to base 10.", math.Log10),
		one("sin", "The sine of an angle in radians.", math.Sin),
		one("cos", "The cosine of an angle in radians.", math.Cos),
		one("tan", "The tangent of an angle in radians.", math.Tan),
		one("cot", "The cotangent of an angle in radians.", func(x float64) float64 { return 1 / math.Tan(x) }),
		one("asin", "The angle in radians whose sine is given.", math.Asin),
		one("acos", "The angle in radians whose cosine is given.", math.Acos),
		one("atan", "The angle in radians whose tangent is given.", math.Atan),
		one("sinh", "The hyperbolic sine.", math.Sinh),
		one("cosh", "The hyperbolic cosine.", math.Cosh),
		one("tanh", "The hyperbolic tangent.", math.Tanh),
		one("degrees", "An angle in radians turned into degrees.", func(x float64) float64 { return x * 180 / math.Pi }),
		one("radians", "An angle in degrees turned into radians.", func(x float64) float64 { return x * math.Pi / 180 }),
		one("haversin", "Half the versine of an angle in radians.", func(x float64) float64 { return (1 - math.Cos(x)) / 2 }),
		constant("e", "The base of the natural logarithm.", math.E),
		constant("pi", "The circle's circumference divided by its diameter.", math.Pi),
		{
			Name: "atan2", Doc: "The angle in radians of the point with the given y and x.",
			Params: []bound.Type{numT, numT}, Required: 2, Pure: true, Result: floatT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.Float(math.Atan2(args[0].AsFloat(), args[1].AsFloat())), nil
			},
		},
	}
}

// numberFuncs are the functions that look at the kind of number or its text.
func numberFuncs() []Func {
	return []Func{
		{
			Name: "abs", Doc: "A number without its sign.",
			Params: []bound.Type{numT}, Required: 1, Pure: true, ResultOf: sameAs, Call: abs,
		},
		{
			Name: "sign", Doc: "-1, 0 or 1 as a number is negative, zero or positive.",
			Params: []bound.Type{numT}, Required: 1, Pure: true, Result: intT, Call: sign,
		},
		{
			Name: "round", Doc: "A number rounded to a number of decimals (0), by a mode such as 'HALF_EVEN'.",
			Params: []bound.Type{numT, numT, stringT}, Required: 1, Pure: true, Result: floatT, Call: round,
		},
		{
			Name: "isNaN", Doc: "Whether a number is NaN.",
			Params: []bound.Type{numT}, Required: 1, Pure: true, Result: boolT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				return value.Bool(math.IsNaN(args[0].AsFloat())), nil
			},
		},
		{
			Name: "rand", Doc: "A random float from 0 up to, but not including, 1.", Result: floatT,
			Call: func(c *Context, _ []value.Value) (value.Value, error) {
				if c.Rand == nil {
					return value.Null, errNoRandom("rand")
				}
				return value.Float(c.Rand.Float64()), nil
			},
		},
	}
}

func errNoRandom(name string) error {
	return fault.AtRuntime(fault.NotSupported, "NotSupported", "%s() cannot be used here: there is no source of randomness", name)
}

func abs(_ *Context, args []value.Value) (value.Value, error) {
	if args[0].Kind() == value.KindFloat {
		return value.Float(math.Abs(args[0].AsFloat())), nil
	}
	i := args[0].AsInt()
	if i == math.MinInt64 {
		return value.Null, overflow("abs(%d) is larger than any INTEGER", i)
	}
	return value.Int(max(i, -i)), nil
}

func sign(_ *Context, args []value.Value) (value.Value, error) {
	x := args[0].AsFloat()
	switch {
	case x > 0:
		return value.Int(1), nil
	case x < 0:
		return value.Int(-1), nil
	}
	return value.Int(0), nil
}
