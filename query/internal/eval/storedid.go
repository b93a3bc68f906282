package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// isNull compiles e IS [NOT] NULL. Asked of the property id, it is about what
// the user stored: the generated external id that .id falls back to is there for
// every entity, so asking for it would tell nothing. keys(n) and properties(n)
// see it the same way.
func (c *compiler) isNull(e *bound.IsNull) Fn {
	not := e.Not
	if p, ok := e.E.(*bound.Prop); ok && p.Key == idKey {
		f, key, span := c.expr(p.E), newName(keyName, idKey), p.At()
		return func(env *Env, row int) (value.Value, error) {
			v, err := f(env, row)
			if err == nil {
				v, err = env.storedID(v, &key, span)
			}
			return value.Bool(v.IsNull() != not), err
		}
	}
	f := c.expr(e.E)
	return func(env *Env, row int) (value.Value, error) {
		v, err := f(env, row)
		return value.Bool(v.IsNull() != not), err
	}
}

// storedID is v.id without the generated one.
func (e *Env) storedID(v value.Value, key *name, span syntax.Span) (value.Value, error) {
	var props []value.Prop
	switch v.Kind() {
	case value.KindNode:
		n := v.AsNode()
		if n == nil {
			var err error
			if n, err = e.Reader.LoadNode(v.NodeID()); err != nil {
				return value.Null, at(err, span)
			}
		}
		if n == nil {
			return value.Null, at(fn.Deleted(v), span)
		}
		props = n.Properties
	case value.KindEdge:
		r := v.AsEdge()
		if r == nil {
			var err error
			if r, err = e.Reader.LoadEdge(v.EdgeID()); err != nil {
				return value.Null, at(err, span)
			}
		}
		if r == nil {
			return value.Null, at(fn.Deleted(v), span)
		}
		props = r.Properties
	default:
		return e.property(v, key, span)
	}
	for i := range props {
		if props[i].Key == idKey {
			return props[i].Value, nil
		}
	}
	return value.Null, nil
}
