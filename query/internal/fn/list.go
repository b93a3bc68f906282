package fn

import (
	"unicode/utf8"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// valueSize is the memory one element of a list takes, in bytes.
const valueSize = 24

// maxRange is how many elements range() makes at most, whatever the budget.
const maxRange = 1 << 26

func listFuncs() []Func {
	return []Func{
		{
			Name: "head", Doc: "The first element of a list; null when it is empty.",
			Params: []bound.Type{listT}, Required: 1, Pure: true, ResultOf: elemOf, Call: head,
		},
		{
			Name: "last", Doc: "The last element of a list; null when it is empty.",
			Params: []bound.Type{listT}, Required: 1, Pure: true, ResultOf: elemOf, Call: last,
		},
		{
			Name: "tail", Doc: "All elements of a list but the first.",
			Params: []bound.Type{listT}, Required: 1, Pure: true, ResultOf: sameAs, Call: tail,
		},
		{
			Name: "reverse", Doc: "A list or string the other way round.",
			Params: []bound.Type{listT.Or(stringT)}, Required: 1, Pure: true, ResultOf: sameAs, Call: reverse,
		},
		{
			Name: "size", Doc: "The number of elements of a list or characters of a string.",
			Params: []bound.Type{listT.Or(stringT)}, Required: 1, Pure: true, Result: intT, Call: size,
		},
		{
			Name: "isEmpty", Doc: "Whether a list, map or string has nothing in it.",
			Params: []bound.Type{listT.Or(mapT).Or(stringT)}, Required: 1, Pure: true, Result: boolT, Call: isEmpty,
		},
		// The kinds are checked in the call: the error is of another type.
		{
			Name: "range", Doc: "The integers from a first to a last one, both included, by a step of 1 or as given.",
			Params: []bound.Type{anyT, anyT, anyT}, Required: 2, Pure: true, Result: bound.ListOf(intT), Call: makeRange,
		},
	}
}

func head(_ *Context, args []value.Value) (value.Value, error) {
	if l := args[0].AsList(); len(l) > 0 {
		return l[0], nil
	}
	return value.Null, nil
}

func last(_ *Context, args []value.Value) (value.Value, error) {
	if l := args[0].AsList(); len(l) > 0 {
		return l[len(l)-1], nil
	}
	return value.Null, nil
}

func tail(_ *Context, args []value.Value) (value.Value, error) {
	if l := args[0].AsList(); len(l) > 0 {
		return args[0].Part(1, len(l)), nil
	}
	return args[0], nil
}

func reverse(c *Context, args []value.Value) (value.Value, error) {
	if s := args[0]; s.Kind() == value.KindString {
		if err := c.Take(s.Size()); err != nil {
			return value.Null, err
		}
		return value.String(reverseString(s.AsString())), nil
	}
	l := args[0].AsList()
	if err := c.Take(len(l) * valueSize); err != nil {
		return value.Null, err
	}
	out := make([]value.Value, len(l))
	for i, e := range l {
		out[len(l)-1-i] = e
	}
	return value.List(out), nil
}

func reverseString(s string) string {
	out := make([]byte, len(s))
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		copy(out[len(s)-i-n:], s[i:i+n])
		i += n
	}
	return string(out)
}

func size(c *Context, args []value.Value) (value.Value, error) {
	if args[0].Kind() == value.KindString {
		s := args[0].AsString()
		return value.Int(int64(utf8.RuneCountInString(s))), c.Pass(len(s))
	}
	return value.Int(int64(len(args[0].AsList()))), nil
}

func isEmpty(_ *Context, args []value.Value) (value.Value, error) {
	switch v := args[0]; v.Kind() {
	case value.KindString:
		return value.Bool(v.AsString() == ""), nil
	case value.KindMap:
		return value.Bool(len(v.AsMap().Entries) == 0), nil
	default:
		return value.Bool(len(v.AsList()) == 0), nil
	}
}

func makeRange(c *Context, args []value.Value) (value.Value, error) {
	for i, a := range args {
		if a.Kind() != value.KindInt {
			return value.Null, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentType",
				"argument %d of range() must be INTEGER, but is %s", i+1, a.Kind())
		}
	}
	from, to, by := args[0].AsInt(), args[1].AsInt(), int64(1)
	if len(args) == 3 {
		by = args[2].AsInt()
	}
	if by == 0 {
		return value.Null, outOfRange("the step of range() must not be 0")
	}
	if by > 0 && from > to || by < 0 && from < to {
		return value.List(nil), nil
	}
	// Distances are unsigned: they may be larger than any int64.
	distance, stride := uint64(to)-uint64(from), uint64(by)
	if by < 0 {
		distance, stride = uint64(from)-uint64(to), -uint64(by)
	}
	last := distance / stride // one less than the count
	if last >= maxRange {
		return value.Null, fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted",
			"range(%d, %d, %d) has too many elements to hold in memory", from, to, by)
	}
	if err := c.Take(int(last+1) * valueSize); err != nil {
		return value.Null, err
	}
	if err := c.step(int(last + 1)); err != nil {
		return value.Null, err
	}
	out := make([]value.Value, last+1)
	for i := range out {
		out[i] = value.Int(from + int64(i)*by)
	}
	return value.List(out), nil
}
