// Package bound holds statements whose names are resolved: every variable is a
// slot, every projection with aggregates is split into grouping, aggregation
// and what follows, and every error that can be told from the text alone has
// been told. Package bind makes it; packages logical and eval read it.
package bound

import (
	"engram/graph/value"
	"engram/query/internal/syntax"
)

// Expr is one of the expression types below.
type Expr interface {
	At() syntax.Span
	Type() Type
}

// Info is the place and static type that every expression carries.
type Info struct {
	syntax.Span
	T Type
}

// Type returns the static type.
func (i Info) Type() Type { return i.T }

type (
	// Const is a constant.
	Const struct {
		Info
		Value value.Value
	}
	// Param is a parameter; a missing one is a ParameterMissing error at run time.
	Param struct {
		Info
		Name string
	}
	// Slot reads a column of the row.
	Slot struct {
		Info
		Index int
		Name  string
	}
	// Local reads a variable of an enclosing comprehension, quantifier or reduce.
	Local struct {
		Info
		Index int
		Name  string
	}
	// Prop is E.Key: of a node, edge, map or temporal value; null of null.
	Prop struct {
		Info
		E   Expr
		Key string
	}
	// Index is E[I] on a list, map, node or edge.
	Index struct {
		Info
		E, I Expr
	}
	// Slice is E[From..To]; nil bounds are open.
	Slice struct {
		Info
		E, From, To Expr
	}
	// List makes a list.
	List struct {
		Info
		Elems []Expr
	}
	// Map makes a map.
	Map struct {
		Info
		Keys   []string
		Values []Expr
	}
	// MapProjection is E {...}. Star takes all properties first; the entries of
	// Keys and Values (nil: E's property of that name) override.
	MapProjection struct {
		Info
		E      Expr
		Star   bool
		Keys   []string
		Values []Expr
	}
	// Unary is NOT, minus or plus.
	Unary struct {
		Info
		Op syntax.Op
		E  Expr
	}
	// Binary is L op R.
	Binary struct {
		Info
		Op   syntax.Op
		L, R Expr
	}
	// IsNull is E IS [NOT] NULL.
	IsNull struct {
		Info
		E   Expr
		Not bool
	}
	// IsTyped is E IS [NOT] :: Of. It is never null.
	IsTyped struct {
		Info
		E   Expr
		Of  *syntax.ValueType
		Not bool
	}
	// HasLabels tests the labels of a node or the type of an edge.
	HasLabels struct {
		Info
		E      Expr
		Labels syntax.LabelExpr
	}
	// Call calls a scalar function; Name is the canonical name in package fn.
	Call struct {
		Info
		Name string
		Args []Expr
	}
	// Case is CASE; Test nil is the searched form.
	Case struct {
		Info
		Test       Expr
		When, Then []Expr
		Else       Expr // nil: null
	}
	// ListComp is [x IN List WHERE Where | Proj].
	ListComp struct {
		Info
		Var         int // local
		List        Expr
		Where, Proj Expr // nil: true, the element
	}
	// Quantifier is all, any, none or single.
	Quantifier struct {
		Info
		Kind  syntax.QuantKind
		Var   int // local
		List  Expr
		Where Expr // nil: true
	}
	// Reduce folds a list.
	Reduce struct {
		Info
		Acc, Var   int // locals
		Init, List Expr
		E          Expr
	}
	// Subquery runs Query for the row at hand. Before it runs, Inner[i] of the
	// inner row is set to Outer[i]. It only reads.
	Subquery struct {
		Info
		Kind  SubqueryKind
		Query *Query // its last clause projects one column for Collect
		Outer []Expr
		Inner []int
	}
)

// SubqueryKind says what a Subquery makes of the inner rows.
type SubqueryKind uint8

// The kinds: whether there is a row, how many, or the list of the first column.
// Pattern predicates are Exists, pattern comprehensions are Collect.
const (
	Exists SubqueryKind = iota
	Count
	Collect
)
