package bound

import (
	"fmt"
	"strconv"

	"engram/query/internal/syntax"
)

func (f *clauseFormatter) patterns(ps []*Pattern) {
	for i, p := range ps {
		if i > 0 {
			f.WriteString(", ")
		}
		f.pattern(p)
	}
}

func (f *clauseFormatter) pattern(p *Pattern) {
	if p.Path >= 0 {
		f.WriteString(f.slot(p.Path) + " = ")
	}
	wrapped := p.Shortest != syntax.NotShortest
	if wrapped {
		f.WriteString(map[bool]string{false: "shortestPath(", true: "allShortestPaths("}[p.Shortest == syntax.AllShortestPaths])
		if p.Count > 1 {
			fmt.Fprintf(f, "%d: ", p.Count)
		}
	}
	for i, n := range p.Nodes {
		f.node(n)
		if i < len(p.Rels) {
			f.rel(p.Rels[i])
		}
	}
	if wrapped {
		f.WriteByte(')')
	}
}

// part writes a pattern variable; one that has a value already stands in angle
// brackets.
func (f *clauseFormatter) part(slot int, known bool) {
	if known {
		f.WriteString("<" + f.slot(slot) + ">")
		return
	}
	f.WriteString(f.slot(slot))
}

func (f *clauseFormatter) node(n *NodePat) {
	f.WriteByte('(')
	f.part(n.Slot, n.Bound)
	if n.Labels != nil {
		f.WriteString(":" + FormatLabels(n.Labels))
	}
	if n.LabelsFrom != nil {
		f.WriteString(":")
		f.expr(n.LabelsFrom, 0)
	}
	f.props(n.Props, n.PropsFrom)
	f.tail("WHERE", n.Where)
	f.WriteByte(')')
}

func (f *clauseFormatter) rel(r *RelPat) {
	f.WriteString(map[bool]string{false: "-[", true: "<-["}[r.Dir == syntax.RelIn])
	f.part(r.Slot, r.Bound)
	f.types(":", r.Types)
	if r.TypeFrom != nil {
		f.WriteString(":")
		f.expr(r.TypeFrom, 0)
	}
	if r.VarLength {
		f.WriteString("*" + strconv.FormatInt(r.Min, 10) + "..")
		if r.Max >= 0 {
			f.WriteString(strconv.FormatInt(r.Max, 10))
		}
	}
	f.props(r.Props, r.PropsFrom)
	f.tail("WHERE", r.Where)
	f.WriteString(map[bool]string{false: "]-", true: "]->"}[r.Dir == syntax.RelOut])
}

func (f *clauseFormatter) props(props []PropPat, from Expr) {
	if from != nil {
		f.WriteByte(' ')
		f.expr(from, 0)
	}
	if len(props) == 0 {
		return
	}
	keys := make([]string, len(props))
	values := make([]Expr, len(props))
	for i, p := range props {
		keys[i], values[i] = p.Key, p.Expr
	}
	f.WriteByte(' ')
	f.entries(keys, values, "")
}

// FormatLabels writes a label expression without its leading colon.
func FormatLabels(e syntax.LabelExpr) string { return formatLabels(e, 0) }

// formatLabels puts parentheses around what binds weaker than least: 0 is |, 1
// is &, 2 is !.
func formatLabels(e syntax.LabelExpr, least int) string {
	paren := func(level int, s string) string {
		if level < least {
			return "(" + s + ")"
		}
		return s
	}
	switch e := e.(type) {
	case *syntax.LabelName:
		return Quote(e.Text)
	case *syntax.LabelNot:
		return "!" + formatLabels(e.E, 2)
	case *syntax.LabelAnd:
		sep := "&"
		if e.Colons {
			sep = ":"
		}
		return paren(1, formatLabels(e.L, 1)+sep+formatLabels(e.R, 1))
	case *syntax.LabelOr:
		return paren(0, formatLabels(e.L, 0)+"|"+formatLabels(e.R, 0))
	case *syntax.LabelAny:
		return "%"
	}
	return ""
}
