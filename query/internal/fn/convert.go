package fn

import (
	"math"
	"strconv"
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
)

// convert turns a value into one of its kind, or Null when its content does not
// allow it. The value is not null and of an accepted kind.
type convert func(value.Value) (value.Value, error)

func convertFuncs() []Func {
	instants := instantT.Or(durationT)
	var out []Func
	for _, c := range []struct {
		name   string
		what   string
		from   bound.Type
		to     bound.Type
		conv   convert
		plural string
	}{
		{"toInteger", "an integer", numT.Or(stringT).Or(boolT), intT, toInteger, "integers"},
		{"toFloat", "a float", numT.Or(stringT), floatT, toFloat, "floats"},
		{"toBoolean", "a boolean", boolT.Or(stringT).Or(intT), boolT, toBoolean, "booleans"},
		{"toString", "a string", numT.Or(stringT).Or(boolT).Or(instants), stringT, toString, "strings"},
	} {
		out = append(out,
			Func{
				Name: c.name, Doc: "A value turned into " + c.what + "; null when its text is none.",
				Params: []bound.Type{c.from}, Required: 1, Pure: true, Result: c.to,
				Call: func(_ *Context, args []value.Value) (value.Value, error) { return c.conv(args[0]) },
			},
			Func{
				Name: c.name + "OrNull", Doc: "A value turned into " + c.what + "; null when it can't be.",
				Params: []bound.Type{anyT}, Required: 1, Pure: true, Result: c.to,
				Call: func(_ *Context, args []value.Value) (value.Value, error) {
					return orNull(args[0], c.from, c.conv), nil
				},
			},
			Func{
				Name: c.name + "List", Doc: "A list with every element turned into " + c.what + "; null where it can't be.",
				Params: []bound.Type{listT}, Required: 1, Pure: true, Result: bound.ListOf(c.to),
				Call: func(ctx *Context, args []value.Value) (value.Value, error) {
					l := args[0].AsList()
					if err := ctx.Take(len(l) * valueSize); err != nil {
						return value.Null, err
					}
					out := make([]value.Value, len(l))
					for i, e := range l {
						out[i] = orNull(e, c.from, c.conv)
					}
					return value.List(out), nil
				},
			})
	}
	return out
}

func orNull(v value.Value, from bound.Type, conv convert) value.Value {
	if v.IsNull() || !from.Kinds.Has(v.Kind()) {
		return value.Null
	}
	got, err := conv(v)
	if err != nil {
		return value.Null
	}
	return got
}

// toInteger cuts fractions off. A float beyond the integers is an error, a text
// that is no number or beyond them is null.
func toInteger(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindInt:
		return v, nil
	case value.KindFloat:
		if i, ok := truncate(v.AsFloat()); ok {
			return value.Int(i), nil
		}
		return value.Null, overflow("toInteger(%v) is not an INTEGER", v.AsFloat())
	case value.KindBool:
		if v.AsBool() {
			return value.Int(1), nil
		}
		return value.Int(0), nil
	}
	text := strings.TrimSpace(v.AsString())
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value.Int(i), nil
	}
	if f, ok := parseFloat(text); ok {
		if i, ok := truncate(f); ok {
			return value.Int(i), nil
		}
	}
	return value.Null, nil
}

// truncate drops the fraction of f. It reports false beyond the integers.
func truncate(f float64) (int64, bool) {
	if f >= -(1<<63) && f < 1<<63 { // false for NaN
		return int64(f), true
	}
	return 0, false
}

func toFloat(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindString {
		return value.Float(v.AsFloat()), nil
	}
	if f, ok := parseFloat(strings.TrimSpace(v.AsString())); ok {
		return value.Float(f), nil
	}
	return value.Null, nil
}

// parseFloat reads a decimal number, NaN, or a signed Infinity or Inf.
func parseFloat(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "+Infinity", "Inf", "+Inf":
		return math.Inf(1), true
	case "-Infinity", "-Inf":
		return math.Inf(-1), true
	}
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}

func toString(v value.Value) (value.Value, error) { return value.String(v.ToString()), nil }

func toBoolean(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindBool:
		return v, nil
	case value.KindInt:
		return value.Bool(v.AsInt() != 0), nil
	}
	switch strings.ToLower(strings.TrimSpace(v.AsString())) {
	case "true":
		return value.Bool(true), nil
	case "false":
		return value.Bool(false), nil
	}
	return value.Null, nil
}
