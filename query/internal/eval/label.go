package eval

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// labelTest tests a node's labels or an edge's type.
type labelTest func(env *Env, v value.Value) bool

func (c *compiler) labelTest(e syntax.LabelExpr) labelTest {
	if c.depth++; c.depth > maxDepth {
		c.fail(tooDeep(e.At()))
		return nil
	}
	defer func() { c.depth-- }()
	switch e := e.(type) {
	case *syntax.LabelName:
		label, typ := newName(labelName, e.Text), newName(typeName, e.Text)
		return func(env *Env, v value.Value) bool { return env.hasName(v, &label, &typ) }
	case *syntax.LabelNot:
		f := c.labelTest(e.E)
		return func(env *Env, v value.Value) bool { return !f(env, v) }
	case *syntax.LabelAnd:
		l, r := c.labelTest(e.L), c.labelTest(e.R)
		return func(env *Env, v value.Value) bool { return l(env, v) && r(env, v) }
	case *syntax.LabelOr:
		l, r := c.labelTest(e.L), c.labelTest(e.R)
		return func(env *Env, v value.Value) bool { return l(env, v) || r(env, v) }
	}
	return func(env *Env, v value.Value) bool { return env.hasAny(v) } // %
}

// hasName tells whether a node has a label or an edge a type.
func (e *Env) hasName(v value.Value, label, typ *name) bool {
	if v.Kind() == value.KindNode {
		if n := v.AsNode(); n != nil {
			return slices.Contains(n.Labels, label.text)
		}
		id := e.resolve(label)
		return id != 0 && e.Reader.HasLabel(v.NodeID(), value.LabelID(id))
	}
	if r := v.AsEdge(); r != nil {
		return r.Type == typ.text
	}
	id := e.resolve(typ)
	_, _, t, _ := e.Reader.EdgeEnds(v.EdgeID())
	return id != 0 && uint32(t) == id
}

func (e *Env) hasAny(v value.Value) bool {
	if v.Kind() == value.KindEdge {
		return true
	}
	if n := v.AsNode(); n != nil {
		return len(n.Labels) > 0
	}
	var buf [8]value.LabelID
	return len(e.Reader.Labels(v.NodeID(), buf[:0])) > 0
}

// checkExists is the error for reading an entity that this statement deleted.
func (e *Env) checkExists(v value.Value) error {
	if e.ReadOnly {
		return nil
	}
	switch {
	case v.Kind() == value.KindNode && v.AsNode() == nil:
		if !e.Reader.NodeExists(v.NodeID()) {
			return fn.Deleted(v)
		}
	case v.Kind() == value.KindEdge && v.AsEdge() == nil:
		if _, _, _, ok := e.Reader.EdgeEnds(v.EdgeID()); !ok {
			return fn.Deleted(v)
		}
	}
	return nil
}
