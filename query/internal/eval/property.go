package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
	"engram/query/internal/temporal"
)

func (c *compiler) prop(e *bound.Prop) Fn {
	key, span := newName(keyName, e.Key), e.At()
	if s, ok := e.E.(*bound.Slot); ok {
		i := s.Index
		return func(env *Env, row int) (value.Value, error) {
			return env.property(env.col(i, row), &key, span)
		}
	}
	f := c.expr(e.E)
	return func(env *Env, row int) (value.Value, error) {
		v, err := f(env, row)
		if err != nil {
			return value.Null, err
		}
		return env.property(v, &key, span)
	}
}

// property returns v.key.
func (e *Env) property(v value.Value, key *name, span syntax.Span) (value.Value, error) {
	switch v.Kind() {
	case value.KindNull:
		return value.Null, nil
	case value.KindNode:
		if n := v.AsNode(); n != nil {
			return loadedProp(n.Properties, n.ElementID, key.text), nil
		}
		return e.nodeProp(v, value.KeyID(e.resolve(key)), key.text, span)
	case value.KindEdge:
		if n := v.AsEdge(); n != nil {
			return loadedProp(n.Properties, n.ElementID, key.text), nil
		}
		return e.edgeProp(v, value.KeyID(e.resolve(key)), key.text, span)
	case value.KindMap:
		got, _ := v.AsMap().Get(key.text)
		return got, nil
	case value.KindDate, value.KindLocalTime, value.KindTime, value.KindLocalDateTime, value.KindDateTime, value.KindDuration:
		return component(v, key.text, span)
	}
	return value.Null, typeError(span, "a value of type %s has no properties, so .%s cannot be read", v.Kind(), key.text)
}

// idKey is the property that every entity has, stored or generated.
const idKey = "id"

func (e *Env) nodeProp(v value.Value, key value.KeyID, text string, span syntax.Span) (value.Value, error) {
	if key != 0 {
		if got, err := e.Reader.NodeProp(v.NodeID(), key); err != nil || !got.IsNull() {
			return got, at(err, span)
		}
	}
	if !e.ReadOnly && !e.Reader.NodeExists(v.NodeID()) {
		return value.Null, at(fn.Deleted(v), span)
	}
	if key == 0 && text == idKey {
		return e.generatedID(v, span)
	}
	return value.Null, nil
}

func (e *Env) edgeProp(v value.Value, key value.KeyID, text string, span syntax.Span) (value.Value, error) {
	if key != 0 {
		if got, err := e.Reader.EdgeProp(v.EdgeID(), key); err != nil || !got.IsNull() {
			return got, at(err, span)
		}
	}
	if !e.ReadOnly {
		if _, _, _, ok := e.Reader.EdgeEnds(v.EdgeID()); !ok {
			return value.Null, at(fn.Deleted(v), span)
		}
	}
	if text == idKey {
		return e.generatedID(v, span)
	}
	return value.Null, nil
}

// generatedID serves .id of an entity in a graph where no id was ever stored,
// so that the key has no number to read through.
func (e *Env) generatedID(v value.Value, span syntax.Span) (value.Value, error) {
	f, _ := fn.Lookup("elementId")
	got, err := f.Call(&e.Context, []value.Value{v})
	return got, at(err, span)
}

func loadedProp(props []value.Prop, elementID, key string) value.Value {
	for i := range props {
		if props[i].Key == key {
			return props[i].Value
		}
	}
	if key == idKey {
		return value.String(elementID)
	}
	return value.Null
}

func component(v value.Value, key string, span syntax.Span) (value.Value, error) {
	got, ok := temporal.Component(v, key)
	if !ok {
		return value.Null, fault.New(fault.TypeError, fault.Runtime, "InvalidArgumentValue", span,
			"%s has no component %s", v.Kind().Named(), key)
	}
	return got, nil
}

func (c *compiler) index(e *bound.Index) Fn {
	of, at, span := c.expr(e.E), c.expr(e.I), e.At()
	return func(env *Env, row int) (value.Value, error) {
		v, err := of(env, row)
		if err != nil {
			return value.Null, err
		}
		i, err := at(env, row)
		if err != nil || v.IsNull() {
			return value.Null, err
		}
		return env.element(v, i, span)
	}
}

// element returns v[i]; v is not null.
func (e *Env) element(v, i value.Value, span syntax.Span) (value.Value, error) {
	switch v.Kind() {
	case value.KindList:
		if i.IsNull() {
			return value.Null, nil
		}
		if i.Kind() != value.KindInt {
			return value.Null, typeError(span, "a list is indexed by INTEGER, not by %s", i.Kind())
		}
		l, n := v.AsList(), i.AsInt()
		if n < 0 {
			n += int64(len(l))
		}
		if n < 0 || n >= int64(len(l)) {
			return value.Null, nil
		}
		return l[n], nil
	case value.KindMap, value.KindNode, value.KindEdge:
		if i.IsNull() {
			return value.Null, nil
		}
		if i.Kind() != value.KindString {
			return value.Null, fault.New(fault.TypeError, fault.Runtime, "MapElementAccessByNonString", span,
				"%s is indexed by STRING, not by %s", v.Kind().Named(), i.Kind())
		}
		key := newName(keyName, i.AsString())
		return e.property(v, &key, span)
	}
	return value.Null, typeError(span, "a value of type %s cannot be indexed", v.Kind())
}

func (c *compiler) slice(e *bound.Slice) Fn {
	of, from, to, span := c.expr(e.E), c.opt(e.From), c.opt(e.To), e.At()
	return func(env *Env, row int) (value.Value, error) {
		v, err := of(env, row)
		if err != nil {
			return value.Null, err
		}
		if !v.IsNull() && v.Kind() != value.KindList {
			return value.Null, typeError(span, "a part [from..to] is taken of a LIST, not of a value of type %s", v.Kind())
		}
		l := v.AsList()
		low, null1, err := env.sliceBound(from, row, 0, len(l), span)
		if err != nil {
			return value.Null, err
		}
		high, null2, err := env.sliceBound(to, row, len(l), len(l), span)
		if err != nil || null1 || null2 || v.IsNull() {
			return value.Null, err
		}
		if low >= high {
			return value.List(nil), nil
		}
		return v.Part(low, high), nil
	}
}

// sliceBound computes a bound: negative ones count from the end, and those
// beyond the list are moved to its ends.
func (e *Env) sliceBound(f Fn, row, def, n int, span syntax.Span) (at int, null bool, err error) {
	if f == nil {
		return def, false, nil
	}
	v, err := f(e, row)
	if err != nil || v.IsNull() {
		return 0, true, err
	}
	if v.Kind() != value.KindInt {
		return 0, false, typeError(span, "the bounds of a part of a list must be INTEGER, not %s", v.Kind())
	}
	i := v.AsInt()
	if i < 0 {
		i += int64(n)
	}
	return int(min(max(i, 0), int64(n))), false, nil
}
