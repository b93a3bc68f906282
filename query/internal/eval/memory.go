package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// site is one compiled expression that makes values on the heap. The memory of
// what it made is the statement's until the same site is evaluated again: by
// then the caller has dropped the last values, or copied and accounted for them.
type site struct{ _ byte }

// begin gives back what s took last time.
func (e *Env) begin(s *site) (mark int64) {
	e.Return(e.spent[s])
	return e.Taken()
}

// end notes what s took since begin.
func (e *Env) end(s *site, mark int64) {
	took := e.Taken() - mark
	if took == 0 && e.spent[s] == 0 {
		return
	}
	if e.spent == nil {
		e.spent = map[*site]int64{}
	}
	e.spent[s] = took
}

// isScalar tells values that hold on to no memory worth counting.
func isScalar(v value.Value) bool {
	switch v.Kind() {
	case value.KindString, value.KindList, value.KindMap, value.KindPath:
		return false
	}
	return true
}

// takesMemory tells the forms that make values on the heap.
func takesMemory(e bound.Expr) bool {
	switch e := e.(type) {
	case *bound.List, *bound.Map, *bound.MapProjection, *bound.ListComp, *bound.Call, *bound.Subquery:
		return true
	case *bound.Binary:
		return e.Op == syntax.OpAdd || e.Op == syntax.OpConcat
	}
	return false
}

// account wraps an expression that takes memory; others stay as they are.
func (c *compiler) account(f Fn) Fn {
	if !c.allocates {
		return f
	}
	s := &site{}
	return func(env *Env, row int) (value.Value, error) {
		mark := env.begin(s)
		v, err := f(env, row)
		env.end(s, mark)
		return v, err
	}
}
