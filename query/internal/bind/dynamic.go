package bind

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// entryFunc is the function that makes a map of one key and its value. Nobody can
// write it.
const entryFunc = " entry"

// dynamicExprs are the expressions that yield names.
func dynamicExprs(list []*syntax.LabelDynamic) []syntax.Expr {
	var out []syntax.Expr
	for _, d := range list {
		out = append(out, d.E)
	}
	return out
}

// given binds names that an element gets or loses: a list of what the expressions
// yield, each a name or a list of names. Nil without any.
func (s *single) given(list []*syntax.LabelDynamic, clause string) bound.Expr {
	if len(list) == 0 {
		return nil
	}
	out := &bound.List{Info: info(list[0].Span.To(list[len(list)-1].Span), bound.ListOf(bound.Any))}
	for _, d := range list {
		if d.Any {
			s.b.fail(fault.Syntax("UnexpectedSyntax", d.Span, "%s gives all names: $any() only asks", clause).
				WithHint("Write $(...)."))
		}
		out.Elems = append(out.Elems, s.expr(d.E, clause))
	}
	return out
}

// alsoNamed adds to where the condition that the element of a slot has the names.
func (m *matcher) alsoNamed(list []*syntax.LabelDynamic, of bound.Expr, where bound.Expr) bound.Expr {
	for _, d := range list {
		name := syntax.HasAllNames
		if d.Any {
			name = syntax.HasAnyName
		}
		test := &bound.Call{Info: info(d.Span, boolType), Name: name, Args: []bound.Expr{of, m.expr(d.E, m.clause)}}
		where = and(test, where)
	}
	return where
}

// edgesNamed adds to where the condition that the edge, or each of a walk, is of the
// type.
func (m *matcher) edgesNamed(p *syntax.RelPattern, out *bound.RelPat, walk bool, where bound.Expr) bound.Expr {
	if len(p.Dynamic) == 0 {
		return where
	}
	at := p.Dynamic[0].Span
	vars := m.rows.vars[out.Slot]
	slot := &bound.Slot{Info: info(at, vars.Type), Index: out.Slot, Name: vars.Name}
	if !walk {
		return m.alsoNamed(p.Dynamic, slot, where)
	}
	var list bound.Expr = slot
	if !out.VarLength {
		list = &bound.List{Info: info(at, edgesType), Elems: []bound.Expr{slot}}
	}
	local := &bound.Local{Info: info(at, edgeType), Index: m.env("WHERE").push("r", edgeType), Name: "r"}
	return and(&bound.Quantifier{
		Info: info(at, boolType), Kind: syntax.QuantAll, Var: local.Index, List: list,
		Where: m.alsoNamed(p.Dynamic, local, nil),
	}, where)
}

// and is the conjunction of a condition and perhaps another.
func and(e, more bound.Expr) bound.Expr {
	if more == nil {
		return e
	}
	return &bound.Binary{Info: info(e.At(), boolType), Op: syntax.OpAnd, L: e, R: more}
}

// setKey binds e[key] = value, and REMOVE e[key] with a nil value, as e += {key: value}.
func (s *single) setKey(at syntax.Span, target *syntax.Index, v syntax.Expr, clause string) *bound.SetItem {
	var to bound.Expr = &bound.Const{Info: info(at, bound.Null)}
	key := s.expr(target.I, clause)
	if v != nil {
		to = s.expr(v, clause)
	}
	s.b.demand(key, kString, "the name of a property")
	entry := &bound.Call{Info: info(target.At(), bound.OneOf(value.KindMap)), Name: entryFunc, Args: []bound.Expr{key, to}}
	return &bound.SetItem{Span: at, Kind: syntax.SetMerge, Target: s.expr(target.E, clause), Value: entry}
}
