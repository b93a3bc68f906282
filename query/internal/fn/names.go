package fn

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// nameFuncs are the functions behind names that are computed. Nobody can write
// them, and nobody is told of them.
func nameFuncs() []Func {
	element := bound.OneOf(value.KindNode, value.KindEdge)
	return []Func{
		{Name: " entry", Params: []bound.Type{bound.Any, bound.Any}, Required: 2, Result: mapT, NullAware: true, Pure: true, Call: entry},
		{Name: " hasAll", Params: []bound.Type{element, bound.Any}, Required: 2, Result: boolT, Call: hasNames(true)},
		{Name: " hasAny", Params: []bound.Type{element, bound.Any}, Required: 2, Result: boolT, Call: hasNames(false)},
	}
}

// entry is the map of a key and its value.
func entry(_ *Context, args []value.Value) (value.Value, error) {
	if args[0].Kind() != value.KindString {
		return value.Null, notAName(args[0])
	}
	return value.Map([]value.Prop{{Key: args[0].AsString(), Value: args[1]}}), nil
}

// hasNames tells whether a node has all or any of the labels, or a relationship one
// of the types.
func hasNames(all bool) func(*Context, []value.Value) (value.Value, error) {
	return func(c *Context, args []value.Value) (value.Value, error) {
		names, err := Names(args[1])
		if err != nil {
			return value.Null, err
		}
		own, err := namesOf(c, args[0])
		if err != nil {
			return value.Null, err
		}
		if err := c.step(len(names)); err != nil {
			return value.Null, err
		}
		for _, name := range names {
			if slices.Contains(own, name) != all {
				return value.Bool(!all), nil
			}
		}
		return value.Bool(all), nil
	}
}

// namesOf lists the labels of a node, or the type of a relationship.
func namesOf(c *Context, v value.Value) ([]string, error) {
	if v.Kind() == value.KindEdge {
		t, err := relType(c, []value.Value{v})
		return []string{t.AsString()}, err
	}
	list, err := labels(c, []value.Value{v})
	if err != nil {
		return nil, err
	}
	return Names(list)
}

// Names lists the names of labels or types in a text, or in a list of texts and
// lists of them, in order.
func Names(v value.Value) ([]string, error) {
	switch v.Kind() {
	case value.KindString:
		if v.AsString() == "" {
			return nil, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue", "the name of a label or a type is empty")
		}
		return []string{v.AsString()}, nil
	case value.KindList:
		var out []string
		for _, e := range v.AsList() {
			names, err := Names(e)
			if err != nil {
				return nil, err
			}
			out = append(out, names...)
		}
		return out, nil
	}
	return nil, notAName(v)
}

func notAName(v value.Value) error {
	return fault.AtRuntime(fault.TypeError, "InvalidArgumentType", "a name is a STRING, but this is %s", v.Kind().Named())
}
