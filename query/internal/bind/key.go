package bind

import (
	"fmt"
	"strconv"
	"strings"

	"engram/query/internal/syntax"
)

// exprKey returns a text that is equal for expressions that are written the
// same, apart from white space, letter case of functions and parentheses. It is
// "" for expressions that hold a pattern or a subquery: they are never matched
// with another.
func exprKey(e syntax.Expr) string {
	k := keyWriter{}
	k.expr(e)
	if k.opaque {
		return ""
	}
	return k.String()
}

type keyWriter struct {
	strings.Builder
	opaque bool
}

func (k *keyWriter) node(tag string, parts ...syntax.Expr) {
	k.WriteByte('(')
	k.WriteString(tag)
	for _, p := range parts {
		k.WriteByte(' ')
		k.expr(p)
	}
	k.WriteByte(')')
}

func (k *keyWriter) expr(e syntax.Expr) {
	switch e := e.(type) {
	case nil:
		k.WriteByte('-')
	case *syntax.Literal:
		k.WriteString(literalKey(e))
	case *syntax.Param:
		k.node("param " + strconv.Quote(e.Name))
	case *syntax.Variable:
		k.node("var " + strconv.Quote(e.Text))
	case *syntax.Property:
		k.node("prop "+strconv.Quote(e.Key.Text), e.E)
	case *syntax.Index:
		k.node("index", e.E, e.I)
	case *syntax.Slice:
		k.node("slice", e.E, e.From, e.To)
	case *syntax.ListLit:
		k.node("list", e.Elems...)
	case *syntax.MapLit:
		tag := "map"
		for _, name := range e.Keys {
			tag += " " + strconv.Quote(name.Text)
		}
		k.node(tag, e.Values...)
	case *syntax.MapProjection:
		tag := "mapproj"
		parts := []syntax.Expr{e.E}
		for _, item := range e.Items {
			if item.All {
				tag += " *"
				continue
			}
			tag += " " + strconv.Quote(item.Key.Text)
			parts = append(parts, item.Value)
		}
		k.node(tag, parts...)
	case *syntax.Unary:
		k.node("unary "+strconv.Itoa(int(e.Op)), e.E)
	case *syntax.Binary:
		k.node("binary "+strconv.Itoa(int(e.Op)), e.L, e.R)
	case *syntax.IsNull:
		k.node(fmt.Sprint("isnull ", e.Not), e.E)
	case *syntax.HasLabels:
		k.opaque = k.opaque || !plainLabels(e.Labels)
		k.node("labels "+strings.Join(labelNames(e.Labels), ":"), e.E)
	case *syntax.Func:
		k.node(fmt.Sprint("func ", strings.ToLower(e.Name), e.Distinct, e.Star), e.Args...)
	case *syntax.Case:
		parts := []syntax.Expr{e.Test}
		for i := range e.When {
			parts = append(parts, e.When[i], e.Then[i])
		}
		k.node("case", append(parts, e.Else)...)
	case *syntax.ListComp:
		k.node("comp "+strconv.Quote(e.Var.Text), e.List, e.Where, e.Proj)
	case *syntax.Quantifier:
		k.node(fmt.Sprint("quant ", e.Kind, strconv.Quote(e.Var.Text)), e.List, e.Where)
	case *syntax.Reduce:
		k.node(fmt.Sprintf("reduce %q %q", e.Acc.Text, e.Var.Text), e.Init, e.List, e.E)
	default:
		k.opaque = true
	}
}

func literalKey(e *syntax.Literal) string {
	v := e.Value
	return fmt.Sprintf("(lit %d %v %d %x %q)", v.Kind(), v.AsBool(), v.AsInt(), v.AsFloat(), v.AsString())
}
