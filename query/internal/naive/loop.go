package naive

import (
	"fmt"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// loop evaluates the expressions that go through a list.
func (e *Engine) loop(x bound.Expr, r row, locals []value.Value) (value.Value, error) {
	switch x := x.(type) {
	case *bound.ListComp:
		return e.listComp(x, r, locals)
	case *bound.Quantifier:
		return e.quantifier(x, r, locals)
	case *bound.Reduce:
		return e.reduce(x, r, locals)
	}
	return value.Null, unsupported(x)
}

// over evaluates a list and calls do for each element with the local set. It
// reports false when the list is null.
func (e *Engine) over(list bound.Expr, index int, r row, locals []value.Value, do func(value.Value, []value.Value) error) (bool, error) {
	v, err := e.eval(list, r, locals)
	if err != nil || v.IsNull() {
		return false, err
	}
	if v.Kind() != value.KindList {
		return false, fmt.Errorf("naive: %v is no list", v)
	}
	for _, elem := range v.AsList() {
		if err := do(elem, put(locals, index, elem)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// put returns a copy of the locals with one set.
func put(locals []value.Value, index int, v value.Value) []value.Value {
	out := make([]value.Value, max(index+1, len(locals)))
	copy(out, locals)
	out[index] = v
	return out
}

func (e *Engine) listComp(x *bound.ListComp, r row, locals []value.Value) (value.Value, error) {
	var out []value.Value
	ok, err := e.over(x.List, x.Var, r, locals, func(elem value.Value, inner []value.Value) error {
		keep, err := e.isTrue(x.Where, r, inner)
		if err != nil || !keep {
			return err
		}
		if x.Proj != nil {
			if elem, err = e.eval(x.Proj, r, inner); err != nil {
				return err
			}
		}
		out = append(out, elem)
		return nil
	})
	if !ok {
		return value.Null, err
	}
	return value.List(out), nil
}

// quantifier counts the answers: null means that some could decide otherwise.
func (e *Engine) quantifier(x *bound.Quantifier, r row, locals []value.Value) (value.Value, error) {
	yes, no, unknown := 0, 0, 0
	ok, err := e.over(x.List, x.Var, r, locals, func(_ value.Value, inner []value.Value) error {
		v, err := e.eval(x.Where, r, inner)
		switch {
		case err != nil:
			return err
		case v.IsNull():
			unknown++
		case v.AsBool():
			yes++
		default:
			no++
		}
		return nil
	})
	if !ok {
		return value.Null, err
	}
	var now, could bool // the answer if every unknown is false, and if it is true
	switch x.Kind {
	case syntax.QuantAll:
		now, could = no+unknown == 0, no == 0
	case syntax.QuantAny:
		now, could = yes > 0, yes+unknown > 0
	case syntax.QuantNone:
		now, could = yes == 0, yes+unknown == 0
	case syntax.QuantSingle:
		now, could = yes == 1, yes+unknown == 1
		if yes == 0 && unknown > 0 {
			return value.Null, nil
		}
		if yes > 1 {
			return value.Bool(false), nil
		}
	}
	if now != could {
		return value.Null, nil
	}
	return value.Bool(now), nil
}

func (e *Engine) reduce(x *bound.Reduce, r row, locals []value.Value) (value.Value, error) {
	acc, err := e.eval(x.Init, r, locals)
	if err != nil {
		return value.Null, err
	}
	ok, err := e.over(x.List, x.Var, r, locals, func(_ value.Value, inner []value.Value) error {
		acc, err = e.eval(x.E, r, put(inner, x.Acc, acc))
		return err
	})
	if !ok {
		return value.Null, err
	}
	return acc, nil
}
