package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// CompileColumn compiles an expression for whole columns. Constants, slots and
// properties of slots take a short way; the rest goes row by row.
func CompileColumn(e bound.Expr) (Column, error) {
	e = Fold(e)
	switch e := e.(type) {
	case *bound.Const:
		v := e.Value
		return func(_ *Env, n int, out []value.Value) error {
			for i := range out[:n] {
				out[i] = v
			}
			return nil
		}, nil
	case *bound.Slot:
		slot := e.Index
		return func(env *Env, n int, out []value.Value) error {
			copied := 0
			if slot < len(env.Cols) {
				copied = copy(out[:n], env.Cols[slot])
			}
			clear(out[copied:n])
			return nil
		}, nil
	case *bound.Index:
		if s := labelsOfSlot(e); s != nil {
			c := compiler{}
			rows := c.column(c.expr(e))
			if c.err != nil {
				return nil, c.err
			}
			return firstLabel(s.Index, rows), nil
		}
	case *bound.Prop:
		if s, ok := e.E.(*bound.Slot); ok {
			p := slotProp{slot: s.Index, key: newName(keyName, e.Key), span: e.At()}
			return func(env *Env, n int, out []value.Value) error { return p.read(env, nil, out[:n]) }, nil
		}
	}
	c := compiler{}
	f := c.expr(e)
	if c.err != nil {
		return nil, c.err
	}
	return c.column(f), nil
}

// column evaluates f row by row. The whole column is one site: its values live
// together.
func (c *compiler) column(f Fn) Column {
	rows := func(env *Env, out []value.Value) (err error) {
		for i := range out {
			if out[i], err = f(env, i); err != nil {
				return err
			}
			if err := env.tick(); err != nil {
				return err
			}
		}
		return nil
	}
	if !c.allocates {
		return func(env *Env, n int, out []value.Value) error { return rows(env, out[:n]) }
	}
	s := &site{}
	return func(env *Env, n int, out []value.Value) error {
		mark := env.begin(s)
		err := rows(env, out[:n])
		env.end(s, mark)
		return err
	}
}

// slotProp is a property of the entity in a slot.
type slotProp struct {
	slot int
	key  name
	span syntax.Span
}

// read fills out with the property in the rows of sel, or in rows 0 and up when
// sel is nil.
func (p *slotProp) read(env *Env, sel []int, out []value.Value) error {
	if ids := p.nodes(env, sel, len(out)); ids != nil {
		if key := value.KeyID(env.resolve(&p.key)); key != 0 {
			return p.gather(env, ids, key, out)
		}
	}
	for i := range out {
		row := i
		if sel != nil {
			row = sel[i]
		}
		v, err := env.property(env.col(p.slot, row), &p.key, p.span)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

// nodes returns the ids when all the rows hold references to nodes, else nil.
func (p *slotProp) nodes(env *Env, sel []int, n int) []value.NodeID {
	if p.slot >= len(env.Cols) || n == 0 {
		return nil
	}
	col, ids := env.Cols[p.slot], env.ids[:0]
	if sel == nil {
		if n > len(col) {
			return nil
		}
		var ok bool
		if env.ids, ok = value.NodeRefs(col[:n], ids); !ok {
			return nil
		}
		return env.ids
	}
	for i := range n {
		row := sel[i]
		if row >= len(col) || col[row].Kind() != value.KindNode || col[row].AsNode() != nil {
			return nil
		}
		ids = append(ids, col[row].NodeID())
	}
	env.ids = ids
	return ids
}

func (p *slotProp) gather(env *Env, ids []value.NodeID, key value.KeyID, out []value.Value) error {
	if err := env.Reader.GatherNodeProp(ids, key, out); err != nil {
		return at(err, p.span)
	}
	if env.ReadOnly {
		return nil
	}
	for i, id := range ids {
		if out[i].IsNull() && !env.Reader.NodeExists(id) {
			return at(fn.Deleted(value.NodeRef(id)), p.span)
		}
	}
	return nil
}
