package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// valueSize is the memory one element of a list takes, in bytes.
const valueSize = 24

func (c *compiler) list(e *bound.List) Fn {
	elems, span := c.exprs(e.Elems), e.At()
	return func(env *Env, row int) (value.Value, error) {
		if err := env.Take(len(elems) * valueSize); err != nil {
			return value.Null, err
		}
		out := make([]value.Value, len(elems))
		for i, f := range elems {
			v, err := f(env, row)
			if err != nil {
				return value.Null, err
			}
			out[i] = v
		}
		return env.made(value.List(out), span)
	}
}

// made returns a value that was put together, unless it is too much.
func (e *Env) made(v value.Value, span syntax.Span) (value.Value, error) {
	return v, at(e.Made(v), span)
}

func (c *compiler) mapLit(e *bound.Map) Fn {
	keys, values, span := e.Keys, c.exprs(e.Values), e.At()
	return func(env *Env, row int) (value.Value, error) {
		if err := env.Take(len(keys) * 2 * valueSize); err != nil {
			return value.Null, err
		}
		out := make([]value.Prop, len(keys))
		for i, f := range values {
			v, err := f(env, row)
			if err != nil {
				return value.Null, err
			}
			out[i] = value.Prop{Key: keys[i], Value: v}
		}
		return env.made(value.Map(out), span)
	}
}

func (c *compiler) mapProjection(e *bound.MapProjection) Fn {
	of, star, span := c.expr(e.E), e.Star, e.At()
	names, values := make([]name, len(e.Keys)), make([]Fn, len(e.Keys))
	for i, k := range e.Keys {
		names[i], values[i] = newName(keyName, k), c.opt(e.Values[i])
	}
	return func(env *Env, row int) (value.Value, error) {
		v, err := of(env, row)
		if err != nil || v.IsNull() {
			return value.Null, err
		}
		switch v.Kind() {
		case value.KindNode, value.KindEdge, value.KindMap:
		default:
			return value.Null, typeError(span, "a map is projected from a node, relationship or map, not from %s", v.Kind())
		}
		var out []value.Prop
		if star {
			props, err := env.Properties(v)
			if err != nil {
				return value.Null, at(err, span)
			}
			out = append(out, props...)
		}
		for i := range names {
			var got value.Value
			if values[i] != nil {
				got, err = values[i](env, row)
			} else {
				got, err = env.property(v, &names[i], span)
			}
			if err != nil {
				return value.Null, err
			}
			out = append(out, value.Prop{Key: names[i].text, Value: got})
		}
		if err := env.Take(len(out) * 2 * valueSize); err != nil {
			return value.Null, err
		}
		return env.made(value.Map(out), span)
	}
}

// elements evaluates the list of a comprehension. ok is false for null.
func (e *Env) elements(f Fn, row int, span syntax.Span, what string) (l []value.Value, ok bool, err error) {
	v, err := f(e, row)
	if err != nil || v.IsNull() {
		return nil, false, err
	}
	if v.Kind() != value.KindList {
		return nil, false, typeError(span, "%s goes over a LIST, not over a value of type %s", what, v.Kind())
	}
	return v.AsList(), true, nil
}

func (c *compiler) listComp(e *bound.ListComp) Fn {
	list, where, proj, local := c.expr(e.List), c.opt(e.Where), c.opt(e.Proj), e.Var
	span, whereAt := e.List.At(), syntax.Span{}
	if e.Where != nil {
		whereAt = e.Where.At()
	}
	return func(env *Env, row int) (value.Value, error) {
		elems, ok, err := env.elements(list, row, span, "a list comprehension")
		if err != nil || !ok {
			return value.Null, err
		}
		var out []value.Value
		if where == nil {
			out = make([]value.Value, 0, len(elems))
		}
		for _, v := range elems {
			if err := env.tick(); err != nil {
				return value.Null, err
			}
			env.SetLocal(local, v)
			if where != nil {
				keep, err := env.predicate(where, row, whereAt)
				if err != nil {
					return value.Null, err
				}
				if keep != value.True {
					continue
				}
			}
			if proj != nil {
				mark := env.Taken()
				if v, err = proj(env, row); err != nil {
					return value.Null, err
				}
				if isScalar(v) {
					env.GiveBack(mark)
				}
			}
			out = append(out, v)
		}
		if err := env.Take(len(out) * valueSize); err != nil {
			return value.Null, err
		}
		return env.made(value.List(out), span)
	}
}

// predicate evaluates a condition.
func (e *Env) predicate(f Fn, row int, span syntax.Span) (value.Tri, error) {
	mark := e.Taken()
	v, err := f(e, row)
	if err != nil {
		return value.Unknown, err
	}
	e.GiveBack(mark)
	return truth(v, span, "the condition")
}

func (c *compiler) quantifier(e *bound.Quantifier) Fn {
	list, where, local, kind := c.expr(e.List), c.opt(e.Where), e.Var, e.Kind
	span, whereAt := e.List.At(), syntax.Span{}
	if e.Where != nil {
		whereAt = e.Where.At()
	}
	return func(env *Env, row int) (value.Value, error) {
		elems, ok, err := env.elements(list, row, span, "a quantifier")
		if err != nil || !ok {
			return value.Null, err
		}
		var tally quantTally
		for _, v := range elems {
			if err := env.tick(); err != nil {
				return value.Null, err
			}
			env.SetLocal(local, v)
			t := value.True
			if where != nil {
				if t, err = env.predicate(where, row, whereAt); err != nil {
					return value.Null, err
				}
			}
			if tally.add(t); tally.decided(kind) {
				break
			}
		}
		return tally.result(kind).Value(), nil
	}
}

// quantTally counts the answers of a quantifier's predicate.
type quantTally struct{ yes, no, unknown int }

func (q *quantTally) add(t value.Tri) {
	switch t {
	case value.True:
		q.yes++
	case value.False:
		q.no++
	default:
		q.unknown++
	}
}

// decided reports whether no further element can change the result.
func (q *quantTally) decided(kind syntax.QuantKind) bool {
	switch kind {
	case syntax.QuantAll:
		return q.no > 0
	case syntax.QuantSingle:
		return q.yes > 1
	}
	return q.yes > 0
}

func (q *quantTally) result(kind syntax.QuantKind) value.Tri {
	if !q.decided(kind) && q.unknown > 0 {
		return value.Unknown
	}
	switch kind {
	case syntax.QuantAll:
		return value.TriOf(q.no == 0)
	case syntax.QuantAny:
		return value.TriOf(q.yes > 0)
	case syntax.QuantNone:
		return value.TriOf(q.yes == 0)
	}
	return value.TriOf(q.yes == 1)
}

func (c *compiler) reduce(e *bound.Reduce) Fn {
	start, list, step := c.expr(e.Init), c.expr(e.List), c.expr(e.E)
	acc, local, span := e.Acc, e.Var, e.List.At()
	return func(env *Env, row int) (value.Value, error) {
		elems, ok, err := env.elements(list, row, span, "reduce()")
		if err != nil || !ok {
			return value.Null, err
		}
		mark := env.Taken()
		sum, err := start(env, row)
		if err != nil {
			return value.Null, err
		}
		for _, v := range elems {
			if err := env.tick(); err != nil {
				return value.Null, err
			}
			env.SetLocal(acc, sum)
			env.SetLocal(local, v)
			if sum, err = step(env, row); err != nil {
				return value.Null, err
			}
			if isScalar(sum) {
				env.GiveBack(mark)
			}
		}
		return sum, nil
	}
}

func (c *compiler) subquery(e *bound.Subquery) Fn {
	outer, span := c.exprs(e.Outer), e.At()
	return func(env *Env, row int) (value.Value, error) {
		if env.Runner == nil {
			return value.Null, fault.New(fault.NotSupported, fault.Runtime, "NotSupported", span, "a subquery cannot be used here")
		}
		base, err := env.push(outer, row)
		if err != nil {
			return value.Null, err
		}
		v, err := env.Runner.RunSubquery(env, e, env.stack[base:])
		env.pop(base)
		if err == nil && v.Kind() == value.KindList {
			if err = env.Take(v.Size()); err == nil {
				err = env.Made(v)
			}
		}
		return v, at(err, span)
	}
}
