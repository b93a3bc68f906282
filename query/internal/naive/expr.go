package naive

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

func (e *Engine) eval(x bound.Expr, r row, locals []value.Value) (value.Value, error) {
	switch x := x.(type) {
	case nil:
		return value.Null, nil
	case *bound.Const:
		return x.Value, nil
	case *bound.Param:
		v, ok := e.Params[x.Name]
		if !ok {
			return v, fmt.Errorf("naive: no parameter %s", x.Name)
		}
		return v, nil
	case *bound.Slot:
		if x.Index >= len(r) {
			return value.Null, fmt.Errorf("naive: slot %d of a row of %d", x.Index, len(r))
		}
		return r[x.Index], nil
	case *bound.Local:
		return locals[x.Index], nil
	case *bound.Prop:
		of, err := e.eval(x.E, r, locals)
		if err != nil {
			return of, err
		}
		return e.property(of, x.Key)
	case *bound.List:
		vs, err := e.all(x.Elems, r, locals)
		return value.List(vs), err
	case *bound.Map:
		vs, err := e.all(x.Values, r, locals)
		if err != nil {
			return value.Null, err
		}
		var entries []value.Prop
		for i, k := range x.Keys {
			entries = append(entries, value.Prop{Key: k, Value: vs[i]})
		}
		return value.Map(entries), nil
	case *bound.Index, *bound.Slice:
		return e.pick(x, r, locals)
	case *bound.Unary:
		return e.unary(x, r, locals)
	case *bound.Binary:
		return e.binary(x, r, locals)
	case *bound.IsNull:
		v, err := e.eval(x.E, r, locals)
		if p, ok := x.E.(*bound.Prop); ok && p.Key == "id" && err == nil {
			v, err = e.storedID(p, r, locals)
		}
		return value.Bool(v.IsNull() != x.Not), err
	case *bound.IsTyped:
		v, err := e.eval(x.E, r, locals)
		return value.Bool(x.Of.Has(v) != x.Not), err
	case *bound.HasLabels:
		v, err := e.eval(x.E, r, locals)
		if err != nil || v.IsNull() {
			return value.Null, err
		}
		return value.Bool(e.hasLabels(v, x.Labels)), nil
	case *bound.Call:
		return e.call(x, r, locals)
	case *bound.Case:
		return e.caseExpr(x, r, locals)
	case *bound.ListComp, *bound.Quantifier, *bound.Reduce:
		return e.loop(x, r, locals)
	case *bound.Subquery:
		return e.subquery(x, r, locals)
	}
	return value.Null, unsupported(x)
}

func (e *Engine) all(xs []bound.Expr, r row, locals []value.Value) ([]value.Value, error) {
	out := make([]value.Value, len(xs))
	for i, x := range xs {
		v, err := e.eval(x, r, locals)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (e *Engine) property(of value.Value, key string) (value.Value, error) {
	switch of.Kind() {
	case value.KindNull:
		return value.Null, nil
	case value.KindMap:
		v, _ := of.AsMap().Get(key)
		return v, nil
	case value.KindNode:
		id, ok := e.G.Key(key)
		if !ok {
			return value.Null, nil
		}
		return e.G.NodeProp(of.NodeID(), id)
	case value.KindEdge:
		id, ok := e.G.Key(key)
		if !ok {
			return value.Null, nil
		}
		return e.G.EdgeProp(of.EdgeID(), id)
	}
	return value.Null, unsupported(of)
}

// storedID evaluates p, which reads .id, without the generated id.
func (e *Engine) storedID(p *bound.Prop, r row, locals []value.Value) (value.Value, error) {
	of, err := e.eval(p.E, r, locals)
	if err != nil {
		return of, err
	}
	props, err := e.properties(of)
	for _, prop := range props {
		if prop.Key == p.Key {
			return prop.Value, err
		}
	}
	return value.Null, err
}

// pick evaluates l[i] and l[i..j] on lists.
func (e *Engine) pick(x bound.Expr, r row, locals []value.Value) (value.Value, error) {
	if x, ok := x.(*bound.Index); ok {
		vs, err := e.all([]bound.Expr{x.E, x.I}, r, locals)
		if err != nil || vs[0].IsNull() || vs[1].IsNull() {
			return value.Null, err
		}
		if vs[0].Kind() != value.KindList || vs[1].Kind() != value.KindInt {
			return value.Null, unsupported(x)
		}
		list, i := vs[0].AsList(), vs[1].AsInt()
		if i < 0 {
			i += int64(len(list))
		}
		if i < 0 || i >= int64(len(list)) {
			return value.Null, nil
		}
		return list[i], nil
	}
	s := x.(*bound.Slice)
	list, err := e.eval(s.E, r, locals)
	if err != nil || list.IsNull() {
		return value.Null, err
	}
	limits := [2]int64{0, int64(len(list.AsList()))}
	for i, b := range []bound.Expr{s.From, s.To} {
		if b == nil {
			continue
		}
		v, err := e.eval(b, r, locals)
		if err != nil || v.IsNull() {
			return value.Null, err
		}
		n := v.AsInt()
		if n < 0 {
			n += int64(len(list.AsList()))
		}
		limits[i] = min(max(n, 0), int64(len(list.AsList())))
	}
	if limits[0] >= limits[1] {
		return value.List(nil), nil
	}
	return value.List(list.AsList()[limits[0]:limits[1]]), nil
}

func (e *Engine) unary(x *bound.Unary, r row, locals []value.Value) (value.Value, error) {
	v, err := e.eval(x.E, r, locals)
	switch {
	case err != nil || v.IsNull():
		return value.Null, err
	case x.Op == syntax.OpNot && v.Kind() == value.KindBool:
		return value.Bool(!v.AsBool()), nil
	case x.Op == syntax.OpPos && v.IsNumber():
		return v, nil
	case x.Op == syntax.OpNeg && v.Kind() == value.KindInt && v.AsInt() != math.MinInt64:
		return value.Int(-v.AsInt()), nil
	case x.Op == syntax.OpNeg && v.Kind() == value.KindFloat:
		return value.Float(-v.AsFloat()), nil
	}
	return value.Null, fmt.Errorf("naive: wrong operand %v", v)
}

func fromTri(t value.Tri) value.Value {
	switch t {
	case value.TriOf(true):
		return value.Bool(true)
	case value.TriOf(false):
		return value.Bool(false)
	}
	return value.Null
}

func not(t value.Tri) value.Tri {
	if t == value.Unknown {
		return t
	}
	return value.TriOf(t == value.TriOf(false))
}

func (e *Engine) binary(x *bound.Binary, r row, locals []value.Value) (value.Value, error) {
	vs, err := e.all([]bound.Expr{x.L, x.R}, r, locals)
	if err != nil {
		return value.Null, err
	}
	a, b := vs[0], vs[1]
	switch x.Op {
	case syntax.OpAnd, syntax.OpOr, syntax.OpXor:
		return logic(x.Op, a, b)
	case syntax.OpEq:
		return fromTri(value.Equal(a, b)), nil
	case syntax.OpNe:
		return fromTri(not(value.Equal(a, b))), nil
	case syntax.OpLt:
		return fromTri(value.Less(a, b)), nil
	case syntax.OpGt:
		return fromTri(value.Less(b, a)), nil
	case syntax.OpLe:
		return fromTri(value.LessOrEqual(a, b)), nil
	case syntax.OpGe:
		return fromTri(value.LessOrEqual(b, a)), nil
	case syntax.OpIn:
		return in(a, b)
	case syntax.OpStartsWith, syntax.OpEndsWith, syntax.OpContains:
		if a.Kind() != value.KindString || b.Kind() != value.KindString {
			return value.Null, nil
		}
		test := map[syntax.Op]func(string, string) bool{
			syntax.OpStartsWith: strings.HasPrefix, syntax.OpEndsWith: strings.HasSuffix, syntax.OpContains: strings.Contains,
		}[x.Op]
		return value.Bool(test(a.AsString(), b.AsString())), nil
	}
	return arithmetic(x.Op, a, b)
}

// logic is three-valued: null stands for not knowing.
func logic(op syntax.Op, a, b value.Value) (value.Value, error) {
	for _, v := range []value.Value{a, b} {
		if !v.IsNull() && v.Kind() != value.KindBool {
			return value.Null, errors.New("naive: a boolean is needed")
		}
	}
	decides := op == syntax.OpOr // the operand that settles AND and OR
	switch {
	case op == syntax.OpXor && (a.IsNull() || b.IsNull()):
		return value.Null, nil
	case op == syntax.OpXor:
		return value.Bool(a.AsBool() != b.AsBool()), nil
	case !a.IsNull() && a.AsBool() == decides, !b.IsNull() && b.AsBool() == decides:
		return value.Bool(decides), nil
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	}
	return value.Bool(!decides), nil
}

func in(a, list value.Value) (value.Value, error) {
	if list.IsNull() {
		return value.Null, nil
	}
	if list.Kind() != value.KindList {
		return value.Null, errors.New("naive: IN needs a list")
	}
	unknown := false
	for _, v := range list.AsList() {
		switch value.Equal(a, v) {
		case value.TriOf(true):
			return value.Bool(true), nil
		case value.Unknown:
			unknown = true
		}
	}
	if unknown {
		return value.Null, nil
	}
	return value.Bool(false), nil
}

func arithmetic(op syntax.Op, a, b value.Value) (value.Value, error) {
	lists := a.Kind() == value.KindList || b.Kind() == value.KindList
	switch {
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case op == syntax.OpConcat && a.Kind() == b.Kind():
		return arithmetic(syntax.OpAdd, a, b)
	case op == syntax.OpAdd && lists:
		var out []value.Value
		for _, v := range []value.Value{a, b} {
			if v.Kind() == value.KindList {
				out = append(out, v.AsList()...)
			} else {
				out = append(out, v)
			}
		}
		return value.List(out), nil
	case op == syntax.OpAdd && a.Kind() == value.KindString && b.Kind() == value.KindString:
		return value.String(a.AsString() + b.AsString()), nil
	case !a.IsNumber() || !b.IsNumber():
		return value.Null, unsupported(op)
	case a.Kind() == value.KindInt && b.Kind() == value.KindInt && op != syntax.OpPow:
		return whole(op, a.AsInt(), b.AsInt())
	}
	x, y := a.AsFloat(), b.AsFloat()
	switch op {
	case syntax.OpAdd:
		return value.Float(x + y), nil
	case syntax.OpSub:
		return value.Float(x - y), nil
	case syntax.OpMul:
		return value.Float(x * y), nil
	case syntax.OpDiv:
		return value.Float(x / y), nil
	case syntax.OpMod:
		return value.Float(math.Mod(x, y)), nil
	case syntax.OpPow:
		return value.Float(math.Pow(x, y)), nil
	}
	return value.Null, unsupported(op)
}

// whole is arithmetic on integers small enough not to overflow.
func whole(op syntax.Op, x, y int64) (value.Value, error) {
	const most = 1 << 31
	if max(x, -x) > most || max(y, -y) > most {
		return value.Null, unsupported(op)
	}
	switch op {
	case syntax.OpAdd:
		return value.Int(x + y), nil
	case syntax.OpSub:
		return value.Int(x - y), nil
	case syntax.OpMul:
		return value.Int(x * y), nil
	}
	if y == 0 {
		return value.Null, errors.New("naive: division by zero")
	}
	if op == syntax.OpMod {
		return value.Int(x % y), nil
	}
	return value.Int(x / y), nil
}

func (e *Engine) call(x *bound.Call, r row, locals []value.Value) (value.Value, error) {
	f, ok := fn.Lookup(x.Name)
	if !ok {
		return value.Null, unsupported(x)
	}
	args, err := e.all(x.Args, r, locals)
	if err != nil {
		return value.Null, err
	}
	if !f.NullAware {
		for _, a := range args {
			if a.IsNull() {
				return value.Null, nil
			}
		}
	}
	for i, a := range args {
		if !a.IsNull() && !f.Param(i).Kinds.Has(a.Kind()) {
			return value.Null, fmt.Errorf("naive: %s() takes no %v", f.Name, a.Kind())
		}
	}
	return f.Call(e.context(), args)
}

func (e *Engine) caseExpr(x *bound.Case, r row, locals []value.Value) (value.Value, error) {
	test, err := e.eval(x.Test, r, locals)
	if err != nil {
		return value.Null, err
	}
	for i, when := range x.When {
		v, err := e.eval(when, r, locals)
		if err != nil {
			return value.Null, err
		}
		hit := v.AsBool()
		if x.Test != nil {
			hit = value.Equal(test, v) == value.TriOf(true)
		}
		if hit {
			return e.eval(x.Then[i], r, locals)
		}
	}
	return e.eval(x.Else, r, locals)
}

func (e *Engine) subquery(x *bound.Subquery, r row, locals []value.Value) (value.Value, error) {
	args := make([]value.Value, len(x.Outer))
	for i, o := range x.Outer {
		v, err := e.eval(o, r, locals)
		if err != nil {
			return value.Null, err
		}
		args[x.Inner[i]] = v
	}
	rows, err := e.query(x.Query, args)
	if err != nil {
		return value.Null, err
	}
	switch x.Kind {
	case bound.Exists:
		return value.Bool(len(rows) > 0), nil
	case bound.Count:
		return value.Int(int64(len(rows))), nil
	}
	var out []value.Value
	for _, r := range rows {
		out = append(out, r[0])
	}
	return value.List(out), nil
}
