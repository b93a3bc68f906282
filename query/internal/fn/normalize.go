package fn

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

func normalizeFuncs() []Func {
	return []Func{
		{
			Name: "normalize", Doc: "A string in a Unicode normal form: 'NFC' (the default), 'NFD', 'NFKC' or 'NFKD'.",
			Params: []bound.Type{stringT, stringT}, Required: 1, Pure: true, Result: stringT,
			Call: func(c *Context, args []value.Value) (value.Value, error) {
				form, err := normalForm("normalize", args)
				if err != nil {
					return value.Null, err
				}
				s := args[0].AsString()
				if form.IsNormalString(s) {
					return args[0], nil
				}
				if err := c.Take(maxGrowth * len(s)); err != nil {
					return value.Null, err
				}
				return value.String(form.String(s)), nil
			},
		},
		{
			Name: "isNormalized", Doc: "Whether a string is in a Unicode normal form, 'NFC' or as given.",
			Params: []bound.Type{stringT, stringT}, Required: 1, Pure: true, Result: boolT,
			Call: func(_ *Context, args []value.Value) (value.Value, error) {
				form, err := normalForm("isNormalized", args)
				if err != nil {
					return value.Null, err
				}
				return value.Bool(form.IsNormalString(args[0].AsString())), nil
			},
		},
	}
}

// maxGrowth is by how much a string in UTF-8 grows at most when it is
// normalised: U+FDFA takes 3 bytes, and 33 in NFKD.
const maxGrowth = 11

// normalForm reads the second argument.
func normalForm(name string, args []value.Value) (norm.Form, error) {
	if len(args) < 2 {
		return norm.NFC, nil
	}
	switch strings.ToUpper(args[1].AsString()) {
	case "NFC":
		return norm.NFC, nil
	case "NFD":
		return norm.NFD, nil
	case "NFKC":
		return norm.NFKC, nil
	case "NFKD":
		return norm.NFKD, nil
	}
	return 0, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue",
		"%s() knows the normal forms NFC, NFD, NFKC and NFKD, not %s", name, args[1])
}
