package fn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

func stringFuncs() []Func {
	str := func(f func(string) string) func(*Context, []value.Value) (value.Value, error) {
		return func(c *Context, args []value.Value) (value.Value, error) {
			s := args[0].AsString()
			if err := c.Take(len(s)); err != nil {
				return value.Null, err
			}
			return value.String(f(s)), nil
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
			Name: "split", Doc: "The parts of a string between a separator, or between any of a list of them.",
			Params: []bound.Type{stringT, stringT.Or(listT)}, Required: 2, Pure: true, Result: bound.ListOf(stringT), Call: split,
		},
	}
}

func trimmer(space func(string) string, chars func(s, cut string) string) func(*Context, []value.Value) (value.Value, error) {
	return func(c *Context, args []value.Value) (value.Value, error) {
		s, out := args[0].AsString(), ""
		if len(args) == 1 {
			out = space(s)
		} else {
			out = chars(s, args[1].AsString())
		}
		return value.String(out), c.Pass(len(s) - len(out))
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

func substring(c *Context, args []value.Value) (value.Value, error) {
	s, from := args[0].AsString(), args[1].AsInt()
	if from < 0 {
		return value.Null, outOfRange("the start of substring() must not be negative, but is %d", from)
	}
	start := offset(s, from)
	s = s[start:]
	if len(args) == 3 {
		n := args[2].AsInt()
		if n < 0 {
			return value.Null, outOfRange("the length of substring() must not be negative, but is %d", n)
		}
		s = s[:offset(s, n)]
		start += len(s)
	}
	return value.String(s), c.Pass(start)
}

func left(c *Context, args []value.Value) (value.Value, error) {
	s, n := args[0].AsString(), args[1].AsInt()
	if n < 0 {
		return value.Null, outOfRange("the length of left() must not be negative, but is %d", n)
	}
	end := offset(s, n)
	return value.String(s[:end]), c.Pass(end)
}

func right(c *Context, args []value.Value) (value.Value, error) {
	s, n := args[0].AsString(), args[1].AsInt()
	if n < 0 {
		return value.Null, outOfRange("the length of right() must not be negative, but is %d", n)
	}
	return value.String(s[offset(s, max(0, int64(utf8.RuneCountInString(s))-n)):]), c.Pass(2 * len(s))
}

func replace(c *Context, args []value.Value) (value.Value, error) {
	s, old, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
	if old == "" {
		return args[0], nil
	}
	if err := c.Pass(len(s)); err != nil {
		return value.Null, err
	}
	if n := strings.Count(s, old); n > 0 {
		if err := c.Take(len(s) + n*max(0, len(with)-len(old))); err != nil {
			return value.Null, err
		}
	}
	return value.String(strings.ReplaceAll(s, old, with)), nil
}

func split(c *Context, args []value.Value) (value.Value, error) {
	s := args[0].AsString()
	if args[1].Kind() == value.KindList {
		return splitAny(c, s, args[1].AsList())
	}
	if err := c.Pass(len(s)); err != nil {
		return value.Null, err
	}
	sep := args[1].AsString()
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

// splitAny cuts s at the separators; where several fit, at the first listed.
// Without any it is one part.
func splitAny(c *Context, s string, list []value.Value) (value.Value, error) {
	seps := make([]string, len(list))
	for i, v := range list {
		switch {
		case v.IsNull():
			return value.Null, nil
		case v.Kind() != value.KindString:
			return value.Null, fault.AtRuntime(fault.TypeError, "InvalidArgumentValue",
				"the separators of split() must be STRING, but element %d of the list is %s", i, v.Kind())
		case v.AsString() == "":
			return value.Null, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue",
				"a separator in the list given to split() must not be empty")
		}
		seps[i] = v.AsString()
	}
	var out []value.Value
	start := 0
	for i := 0; i < len(s); {
		n := prefixOf(s[i:], seps)
		if err := c.step(1); err != nil {
			return value.Null, err
		}
		if n == 0 {
			i++
			continue
		}
		if err := c.Take(valueSize); err != nil {
			return value.Null, err
		}
		out = append(out, value.String(s[start:i]))
		i += n
		start = i
	}
	return value.List(append(out, value.String(s[start:]))), nil
}

// prefixOf is the length of the first of seps that s begins with, or 0.
func prefixOf(s string, seps []string) int {
	for _, sep := range seps {
		if strings.HasPrefix(s, sep) {
			return len(sep)
		}
	}
	return 0
}
