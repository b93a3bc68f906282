package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// CompileFilter compiles a predicate for selections of rows. The parts of an AND
// filter one after the other: a row that an earlier part drops is not looked at
// by later ones. A value that is neither boolean nor null is a TypeError.
func CompileFilter(e bound.Expr) (Filter, error) {
	c := compiler{}
	f := c.filter(Fold(e))
	if c.err != nil {
		return nil, c.err
	}
	return f, nil
}

func (c *compiler) filter(e bound.Expr) Filter {
	if b, ok := e.(*bound.Binary); ok {
		if b.Op == syntax.OpAnd && c.depth < maxDepth {
			c.depth++
			l, r := c.filter(b.L), c.filter(b.R)
			c.depth--
			return func(env *Env, sel []int) ([]int, error) {
				sel, err := l(env, sel)
				if err != nil || len(sel) == 0 {
					return sel, err
				}
				return r(env, sel)
			}
		}
		if f := c.compareColumn(b); f != nil {
			return f
		}
	}
	f, span := c.expr(e), e.At()
	return func(env *Env, sel []int) ([]int, error) {
		kept := sel[:0]
		for _, row := range sel {
			if err := env.tick(); err != nil {
				return nil, err
			}
			t, err := env.predicate(f, row, span)
			if err != nil {
				return nil, err
			}
			if t == value.True {
				kept = append(kept, row)
			}
		}
		return kept, nil
	}
}

// compareColumn compiles the comparison of a slot or a slot's property with
// what is the same in all rows; nil when e is not one.
func (c *compiler) compareColumn(e *bound.Binary) Filter {
	op, left, right := e.Op, e.L, e.R
	if rowFree(left) {
		op, left, right = mirrored(op), right, left
	}
	if op < syntax.OpEq || op > syntax.OpGe || !rowFree(right) {
		return nil
	}
	cmp := comparer(op)
	switch left := left.(type) {
	case *bound.Slot:
		slot, rhs := left.Index, c.expr(right)
		return func(env *Env, sel []int) ([]int, error) {
			if len(sel) == 0 {
				return sel, nil
			}
			want, err := rhs(env, sel[0])
			if err != nil {
				return nil, err
			}
			kept := sel[:0]
			for _, row := range sel {
				v := env.col(slot, row)
				if err := env.Pass(min(v.Size(), want.Size())); err != nil {
					return nil, err
				}
				if cmp(v, want) == value.True {
					kept = append(kept, row)
				}
			}
			return kept, env.step(len(sel))
		}
	case *bound.Prop:
		s, ok := left.E.(*bound.Slot)
		if !ok {
			return nil
		}
		p := slotProp{slot: s.Index, key: newName(keyName, left.Key), span: left.At()}
		return p.compare(cmp, c.expr(right))
	}
	return nil
}

func (p slotProp) compare(cmp func(a, b value.Value) value.Tri, rhs Fn) Filter {
	return func(env *Env, sel []int) ([]int, error) {
		if len(sel) == 0 {
			return sel, nil
		}
		want, err := rhs(env, sel[0])
		if err != nil {
			return nil, err
		}
		if cap(env.vals) < len(sel) {
			env.vals = make([]value.Value, max(len(sel), 64))
		}
		got := env.vals[:len(sel)]
		if err := p.read(env, sel, got); err != nil {
			return nil, err
		}
		kept := sel[:0]
		for i, row := range sel {
			if err := env.Pass(min(got[i].Size(), want.Size())); err != nil {
				return nil, err
			}
			if cmp(got[i], want) == value.True {
				kept = append(kept, row)
			}
		}
		return kept, env.step(len(sel))
	}
}

// mirrored is the comparison with its sides swapped.
func mirrored(op syntax.Op) syntax.Op {
	switch op {
	case syntax.OpLt:
		return syntax.OpGt
	case syntax.OpLe:
		return syntax.OpGe
	case syntax.OpGt:
		return syntax.OpLt
	case syntax.OpGe:
		return syntax.OpLe
	case syntax.OpEq, syntax.OpNe:
		return op
	}
	return syntax.OpAdd // no comparison
}
