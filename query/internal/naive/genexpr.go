package naive

import (
	"fmt"
	"strings"

	"engram/graph/value"
)

// literal writes a constant of the kind.
func (g *gen) literal(k kind) string {
	v := randomValue(g.r, k)
	switch k {
	case intKind:
		return fmt.Sprint(v.AsInt())
	case floatKind:
		return fmt.Sprintf("%.1f", v.AsFloat())
	case stringKind:
		return "'" + v.AsString() + "'"
	case boolKind:
		return fmt.Sprint(v.AsBool())
	}
	return listLiteral(v.AsList())
}

func listLiteral(vs []value.Value) string {
	var parts []string
	for _, v := range vs {
		parts = append(parts, fmt.Sprint(v.AsInt()))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// expr writes an expression of a scalar kind, at most depth operators deep.
func (g *gen) expr(k kind, depth int) string {
	if depth <= 0 || g.chance(4) {
		return g.leaf(k)
	}
	e := func(k kind) string { return g.expr(k, depth-1) }
	switch k {
	case intKind:
		return g.intExpr(e)
	case floatKind:
		switch g.r.IntN(3) {
		case 0:
			return fmt.Sprintf("(%s + %s)", e(floatKind), e(intKind))
		case 1:
			return fmt.Sprintf("abs(%s)", e(floatKind))
		}
		return fmt.Sprintf("toFloat(%s)", e(intKind))
	case stringKind:
		switch g.r.IntN(4) {
		case 0:
			return fmt.Sprintf("(%s %s %s)", e(stringKind), g.pick([]string{"+", "||"}), e(stringKind))
		case 1:
			return fmt.Sprintf("toUpper(%s)", e(stringKind))
		case 2:
			if g.chance(2) {
				return fmt.Sprintf("CASE %s WHEN %s, > %s THEN %s WHEN IS NULL THEN %s END",
					e(intKind), e(intKind), e(intKind), e(stringKind), e(stringKind))
			}
			return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", e(boolKind), e(stringKind), e(stringKind))
		}
		return fmt.Sprintf("coalesce(%s, %s)", e(stringKind), e(stringKind))
	case listKind:
		return g.listExpr(e)
	}
	return g.boolExpr(e)
}

// leaf is a variable, a property or a constant.
func (g *gen) leaf(k kind) string {
	if name := g.known(k); name != "" && g.chance(2) {
		return name
	}
	if g.chance(15) {
		return "null"
	}
	if name := g.known(nodeKind); name != "" && !g.chance(3) {
		return name + "." + keys[k]
	}
	if name := g.known(edgeKind); name != "" && !g.chance(3) {
		return name + "." + keys[k]
	}
	return g.literal(k)
}

func (g *gen) intExpr(e func(kind) string) string {
	switch g.r.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", e(intKind), g.pick([]string{"+", "-", "*"}), e(intKind))
	case 1:
		return fmt.Sprintf("(%s %s %d)", e(intKind), g.pick([]string{"/", "%"}), 1+g.r.IntN(3))
	case 2:
		return fmt.Sprintf("size(%s)", e(listKind))
	case 3:
		return fmt.Sprintf("%s[%d]", e(listKind), g.r.IntN(4)-2)
	case 4:
		if p := g.known(pathKind); p != "" {
			return fmt.Sprintf("length(%s)", p)
		}
		if es := g.known(edgesKind); es != "" {
			return fmt.Sprintf("size(%s)", es)
		}
	case 5:
		if n := g.known(nodeKind); n != "" {
			return fmt.Sprintf("COUNT { (%s)%s() }", n, g.arrow())
		}
	case 6:
		if n := g.known(nodeKind); n != "" {
			return fmt.Sprintf("size([(%s)%s(o%s) WHERE o.i > %s | o.i])", n, g.arrow(), g.pick([]string{"", ":A", ":B"}), e(intKind))
		}
	case 7:
		return fmt.Sprintf("reduce(a = %s, x IN %s | a + x)", e(intKind), e(listKind))
	}
	return fmt.Sprintf("coalesce(%s, %s)", e(intKind), e(intKind))
}

func (g *gen) arrow() string {
	t := ":" + g.pick(relTypes)
	return g.pick([]string{"-->", "<--", "--", "-[" + t + "]->", "<-[" + t + "]-", "-[" + t + "]-"})
}

func (g *gen) listExpr(e func(kind) string) string {
	switch g.r.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", e(listKind), g.pick([]string{"+", "||"}), e(listKind))
	case 1:
		return fmt.Sprintf("[x IN %s WHERE x %s %s | x + %d]", e(listKind), g.pick([]string{"<", ">", "="}), e(intKind), g.r.IntN(3))
	case 2:
		return fmt.Sprintf("%s[%d..]", e(listKind), g.r.IntN(3)-1)
	case 3:
		return fmt.Sprintf("[%s, %s]", e(intKind), e(intKind))
	}
	return fmt.Sprintf("tail(%s)", e(listKind))
}

func (g *gen) boolExpr(e func(kind) string) string {
	node := g.known(nodeKind)
	switch g.r.IntN(15) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", e(boolKind), g.pick([]string{"AND", "OR", "XOR"}), e(boolKind))
	case 2:
		return fmt.Sprintf("NOT %s", e(boolKind))
	case 3:
		return fmt.Sprintf("(%s %s %s)", e(intKind), g.pick([]string{"<", "<=", ">", ">=", "=", "<>"}), e(intKind))
	case 4:
		return fmt.Sprintf("(%s %s %s)", e(stringKind), g.pick([]string{"STARTS WITH", "ENDS WITH", "CONTAINS", "=", "<"}), e(stringKind))
	case 5:
		return fmt.Sprintf("(%s IN %s)", e(intKind), e(listKind))
	case 6:
		k := kind(g.r.IntN(int(scalars)))
		return fmt.Sprintf("(%s IS %s)", e(k), g.pick([]string{"NULL", "NOT NULL", ":: INTEGER", "NOT :: STRING | LIST<INTEGER>", ":: ANY NOT NULL"}))
	case 7:
		return fmt.Sprintf("%s(x IN %s WHERE x %s %d)", g.pick([]string{"all", "any", "none", "single"}), e(listKind), g.pick([]string{"<", ">", "="}), g.r.IntN(3))
	case 8:
		if node != "" {
			return fmt.Sprintf("(%s:%s)", node, g.pick(labels))
		}
	case 9:
		if node != "" {
			return fmt.Sprintf("EXISTS { (%s)%s(:%s) }", node, g.arrow(), g.pick(labels))
		}
	case 11:
		if node != "" {
			return fmt.Sprintf("exists((%s)%s(:%s))", node, g.arrow(), g.pick(labels))
		}
	case 12:
		if node != "" {
			return fmt.Sprintf("exists((%s)-[:%s*1..2]->(%s))", node, g.pick(relTypes), g.known(nodeKind))
		}
	case 13:
		if node != "" {
			return fmt.Sprintf("(%s = %s)", node, g.known(nodeKind))
		}
	case 10:
		if node != "" {
			return fmt.Sprintf("EXISTS { MATCH (%s)%s(o) WHERE o.i > coalesce(%s, 0) }", node, g.arrow(), e(intKind))
		}
	}
	return fmt.Sprintf("(%s = %s)", e(floatKind), e(intKind))
}
