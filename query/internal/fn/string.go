package fn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/graph/value"
	"engram/query/internal/bound"
)

func stringFuncs() []Func {
	str := func(f func(string) string) func(*Context, []value.Value) (value.Value, error) {
		return func(_ *Context, args []value.Value) (value.Value, error) {
			return value.String(f(args[0].AsString())), nil
		}
	}
	return []Func{
		{
			Name: "toLower", Doc: "A string in lower case.",
			Params: []bound.Type{stringT}, Required: 1, Pure: true, Result: stringT, Call: str(strings.ToLower),
		},
		{
			Name: "toUpper", Doc: "A string in upper case.",
			Params: []bound.Type{stringT}, Required: 1, Pure: true, Result: stringT, Call: str(strings.ToUpper),
		},
		{
			Name: "trim", Doc: "A string without white space, or the given characters, at both ends.",
			Params: []bound.Type{stringT, stringT}, Required: 1, Pure: true, Result: stringT,
			Call: trimmer(strings.TrimSpace, strings.Trim),
		},
		{
			Name: "ltrim", Doc: "A string without white space, or the given characters, at its start.",
			Params: []bound.Type{stringT, stringT}, Required: 1, Pure: true, Result: stringT,
			Call: trimmer(trimSpaceLeft, strings.TrimLeft),
		},
		{
			Name: "rtrim", Doc: "A string without white space, or the given characters, at its end.",
			Params: []bound.Type{stringT, stringT}, Required: 1, Pure: true, Result: stringT,
			Call: trimmer(trimSpaceRight, strings.TrimRight),
		},
		{
			Name: "substring", Doc: "The part of a string from a start, counted from 0, to its end or of a given length.",
			Params: []bound.Type{stringT, intT, intT}, Required: 2, Pure: true, Result: stringT, Call: substring,
		},
		{
			Name: "left", Doc: "The first characters of a string.",
			Params: []bound.Type{stringT, intT}, Required: 2, Pure: true, Result: stringT, Call: left,
		},
		{
			Name: "right", Doc: "The last characters of a string.",
			Params: []bound.Type{stringT, intT}, Required: 2, Pure: true, Result: stringT, Call: right,
		},
		{
			Name: "replace", Doc: "A string with every occurrence of a second one replaced by a third.",
			Params: []bound.Type{stringT, stringT, stringT}, Required: 3, Pure: true, Result: stringT, Call: replace,
		},
		{
			Name: "split", Doc: "The parts of a string between separators.",
			Params: []bound.Type{stringT, stringT}, Required: 2, Pure: true, Result: bound.ListOf(stringT), Call: split,
		},
	}
}

func trimmer(space func(string) string, chars func(s, cut string) string) func(*Context, []value.Value) (value.Value, error) {
	return func(_ *Context, args []value.Value) (value.Value, error) {
		if len(args) == 1 {
			return value.String(space(args[0].AsString())), nil
		}
		return value.String(chars(args[0].AsString(), args[1].AsString())), nil
	}
}

func trimSpaceLeft(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }

func trimSpaceRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// offset returns the byte offset of character n of s, at most len(s).
func offset(s string, n int64) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return i
}

func substring(_ *Context, args []value.Value) (value.Value, error) {
	s, from := args[0].AsString(), args[1].AsInt()
	if from < 0 {
		return value.Null, outOfRange("the start of substring() must not be negative, but is %d", from)
	}
	s = s[offset(s, from):]
	if len(args) == 3 {
		n := args[2].AsInt()
		if n < 0 {
			return value.Null, outOfRange("the length of substring() must not be negative, but is %d", n)
		}
		s = s[:offset(s, n)]
	}
	return value.String(s), nil
}

func left(_ *Context, args []value.Value) (value.Value, error) {
	s, n := args[0].AsString(), args[1].AsInt()
	if n < 0 {
		return value.Null, outOfRange("the length of left() must not be negative, but is %d", n)
	}
	return value.String(s[:offset(s, n)]), nil
}

func right(_ *Context, args []value.Value) (value.Value, error) {
	s, n := args[0].AsString(), args[1].AsInt()
	if n < 0 {
		return value.Null, outOfRange("the length of right() must not be negative, but is %d", n)
	}
	return value.String(s[offset(s, max(0, int64(utf8.RuneCountInString(s))-n)):]), nil
}

func replace(c *Context, args []value.Value) (value.Value, error) {
	s, old, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
	if old == "" {
		return args[0], nil
	}
	if n := strings.Count(s, old); n > 0 {
		if err := c.Take(len(s) + n*max(0, len(with)-len(old))); err != nil {
			return value.Null, err
		}
	}
	return value.String(strings.ReplaceAll(s, old, with)), nil
}

func split(c *Context, args []value.Value) (value.Value, error) {
	s, sep := args[0].AsString(), args[1].AsString()
	n := strings.Count(s, sep) + 1
	if err := c.Take(n * valueSize); err != nil {
		return value.Null, err
	}
	out := make([]value.Value, 0, n)
	for _, part := range strings.Split(s, sep) {
		out = append(out, value.String(part))
	}
	return value.List(out), nil
}
