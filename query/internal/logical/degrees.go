package logical

import (
	"strings"

	"engram/query/internal/syntax"
)

// lookUpDegrees replaces an expansion that ends a subquery of which only the number
// of rows matters: the edges are counted instead of read. It needs to know that
// nobody reads what the expansion yields, so it comes after pruneColumns.
func lookUpDegrees(p *Part) {
	op := &p.Op
	if project, ok := (*op).(*Project); ok && len(p.Out) == 0 {
		op = &project.In
	}
	e, ok := (*op).(*Expand)
	if !ok || e.Into || len(e.Unique) > 0 || len(e.Live.List()) > 0 {
		return
	}
	if _, ok := e.In.(*Argument); ok {
		*op = &Degree{Unary: Unary{Meta: e.Meta, In: e.In}, From: e.From, Types: e.Types, Dir: e.Dir}
	}
}

func (d *describer) degree(o *Degree) string {
	left, right := "-", "-"
	switch o.Dir {
	case syntax.RelOut:
		right = "->"
	case syntax.RelIn:
		left = "<-"
	}
	types := ""
	if len(o.Types) > 0 {
		types = "[:" + strings.Join(o.Types, "|") + "]"
	}
	return "(" + d.slot(o.From) + ")" + left + types + right + "()"
}
