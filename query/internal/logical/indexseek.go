package logical

import (
	"strings"

	"engram/query/internal/bound"
)

// IndexSeek yields the nodes with the label Owner, or with Edge the edges of the
// type Owner, that an index by Keys has: those whose first properties equal Eq and whose next property lies within Lo and Hi or
// begins with Prefix; without any of these, those that have the first property.
// It may yield more: the predicates are tested above it. When the index is not
// there at run time, all of them come.
type IndexSeek struct {
	Unary
	Slot  int
	Edge  bool
	Owner string
	Keys  []string
	Eq    []bound.Expr
	// Any tells that the last of Eq is a list, of which one element is equal.
	Any            bool
	Lo, Hi, Prefix bound.Expr // or nil
	// Order is in which order they come, by the last of Keys, while the graph can
	// tell; see TopK.InOrder.
	Order Order
	// All tells that the nodes without the property come, too: those with null.
	All bool
}

// Order is an order of an index.
type Order uint8

// The orders. By id is the usual one.
const (
	ByID Order = iota
	Ascending
	Descending
)

// Name implements Op.
func (o *IndexSeek) Name() string {
	if o.Edge {
		return "EdgeIndexSeek"
	}
	return "IndexSeek"
}

// exprs returns the expressions that are sought.
func (o *IndexSeek) exprs() []bound.Expr {
	out := append([]bound.Expr(nil), o.Eq...)
	for _, e := range []bound.Expr{o.Lo, o.Hi, o.Prefix} {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// detail describes the seek.
func (o *IndexSeek) detail(d *describer) string {
	name := d.slot(o.Slot)
	var parts []string
	for i, e := range o.Eq {
		op := " = "
		if o.Any && i == len(o.Eq)-1 {
			op = " IN "
		}
		parts = append(parts, name+"."+o.Keys[i]+op+d.expr(e))
	}
	if n := len(o.Eq); n < len(o.Keys) {
		prop := name + "." + o.Keys[n]
		switch {
		case o.Prefix != nil:
			parts = append(parts, prop+" STARTS WITH "+d.expr(o.Prefix))
		case o.Lo != nil && o.Hi != nil:
			parts = append(parts, d.expr(o.Lo)+" <= "+prop+" <= "+d.expr(o.Hi))
		case o.Lo != nil:
			parts = append(parts, prop+" >= "+d.expr(o.Lo))
		case o.Hi != nil:
			parts = append(parts, prop+" <= "+d.expr(o.Hi))
		case n == 0 && !o.All:
			parts = append(parts, prop+" IS NOT NULL")
		}
	}
	text := strings.TrimSpace(name + ":" + o.Owner + "(" + strings.Join(o.Keys, ", ") + ") " + strings.Join(parts, " AND "))
	switch o.Order {
	case Ascending:
		text += " in ascending order"
	case Descending:
		text += " in descending order"
	}
	return text
}

// ValueJoin yields the nodes with Label ("": all) whose property Key equals
// Probe, from a table that it makes of all of them once, instead of looking at
// each for every input row. It may yield more: the predicate is tested above it.
type ValueJoin struct {
	Unary
	Slot  int
	Label string
	Key   string
	Probe bound.Expr
}

// Name implements Op.
func (*ValueJoin) Name() string { return "ValueJoin" }

func (o *ValueJoin) detail(d *describer) string {
	name := d.slot(o.Slot)
	label := ""
	if o.Label != "" {
		label = ":" + o.Label
	}
	return name + label + " ON " + name + "." + o.Key + " = " + d.expr(o.Probe)
}

// SchemaChange creates or drops an index or a constraint. It yields no rows.
type SchemaChange struct {
	Unary
	Cmd *bound.SchemaChange
}

// Name implements Op.
func (o *SchemaChange) Name() string {
	switch {
	case o.Cmd.Drop && o.Cmd.Constraint:
		return "DropConstraint"
	case o.Cmd.Drop:
		return "DropIndex"
	case o.Cmd.Constraint:
		return "CreateConstraint"
	}
	return "CreateIndex"
}

func (o *SchemaChange) detail() string {
	if o.Cmd.Def.Owner == "" {
		return o.Cmd.Def.Name
	}
	return strings.TrimSpace(o.Cmd.Def.Name + " " + o.Cmd.Def.String())
}
