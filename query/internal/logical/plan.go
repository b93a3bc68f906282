// Package logical plans: it turns a bound statement into a tree of operators
// and rewrites the tree by ordered rules, one file a rule. Operators are nouns,
// rules are verb phrases. The tree says what is done in which order; package
// physical does it.
package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// Plan is a planned statement.
type Plan struct {
	Query   *Query
	Columns []string
	Writes  bool
	// Learning says that the statement is about what was learned so far.
	Learning bool
	// Whole says that the statement reads the whole graph by a procedure.
	Whole  bool
	Locals int
	Text   string
	Mode   syntax.Mode
	// Implicit are the parameters that must be there before anything runs.
	Implicit []string
	// Subqueries holds the plan of every subquery expression of the statement.
	Subqueries map[*bound.Subquery]*Query
}

// Query is a union of parts with the same number of columns.
type Query struct {
	Parts    []*Part
	Distinct bool // UNION without ALL
}

// Part is one single query: a tree of operators over rows of Width slots.
type Part struct {
	Op    Op
	Width int
	Vars  []bound.Var // by slot; slots added by the planner are behind
	Args  []int
	Out   []int // slots of the columns; empty without RETURN
}

// Op is one operator of the tree.
type Op interface {
	// Name is the operator's name in EXPLAIN.
	Name() string
	// Inputs returns the places of the inputs, so that rules can replace them.
	// The first one is the input whose rows flow through.
	Inputs() []*Op
	// Info returns what every operator carries.
	Info() *Meta
}

// Meta is what every operator carries.
type Meta struct {
	// Carry are the slots of the input that somebody above reads, in ascending
	// order. The others are dead behind the operator.
	Carry []int
	// Live are all slots with a value behind the operator that somebody reads.
	Live Slots
}

// Info returns m itself, so that embedding it makes an operator.
func (m *Meta) Info() *Meta { return m }

// Unary is the base of the operators with one input.
type Unary struct {
	Meta
	In Op
}

// Inputs returns the one input.
func (u *Unary) Inputs() []*Op { return []*Op{&u.In} }

// leaf is the base of operators without input.
type leaf struct{ Meta }

// Inputs returns nothing.
func (*leaf) Inputs() []*Op { return nil }

type (
	// Argument is the one row that a part starts from.
	Argument struct {
		leaf
		Slots []int
	}
	// NodeScan yields every node with Label ("": every node) for each input row, in
	// the order of their numbers. After, which may be nil and reads no row, is a number
	// up to which none is wanted; the filter above still tests that.
	NodeScan struct {
		Unary
		Slot  int
		Label string
		After bound.Expr
	}
	// IDSeek yields the nodes whose property id equals ID or, with Any, one of
	// the elements of the list ID.
	IDSeek struct {
		Unary
		Slot int
		ID   bound.Expr
		Any  bool
	}
	// Expand follows one edge from From. With Into, To has a value and edges to
	// it are kept; Meet then allows to start from whichever end is cheaper.
	Expand struct {
		Unary
		From, Rel, To int
		Types         []string
		Dir           syntax.RelDir
		Into, Meet    bool
		Unique        []Used
	}
	// BoundExpand checks an edge that has a value already and yields its ends.
	// With List the slot holds the edges of a walk from From to To, each of which
	// was matched by a pattern of variable length.
	BoundExpand struct {
		Unary
		From, Rel, To      int
		Types              []string
		Dir                syntax.RelDir
		FromBound, ToBound bool
		List               bool
		Min, Max           int64
		Unique             []Used
	}
	// VarExpand follows Min to Max edges (Max -1: any number) and yields the list
	// of edges. Reverse tells that it walks from the pattern's right end, so that
	// the list has to be turned round.
	VarExpand struct {
		Unary
		From, Rel, To int
		Types         []string
		Dir           syntax.RelDir // seen from From
		Min, Max      int64
		Props         []bound.PropPat
		Into          bool
		Reverse       bool
		Unique        []Used
		Within        Within
		// Reach tells that only the set of ends matters: each end comes once.
		Reach bool
	}
	// ShortestPath finds the shortest walk, or all of the shortest, between two
	// nodes that have a value.
	ShortestPath struct {
		Unary
		From, Rel, To int
		Types         []string
		Dir           syntax.RelDir
		Min, Max      int64
		Props         []bound.PropPat
		All           bool
		Count         int64 // so many walks, or with All lengths of walks; 0: the function
		Single        bool  // the pattern is one plain edge: Rel holds it, not a list
		Unique        []Used
		Within        Within
	}
	// PathBuild puts a path together from the slots of its pattern.
	PathBuild struct {
		Unary
		Slot    int
		Pattern *bound.Pattern
	}
	// Filter keeps the rows for which every predicate is true.
	Filter struct {
		Unary
		Preds []bound.Expr
	}
	// SemiJoin keeps the rows for which a subquery has a row or, with Anti, none.
	// It looks for no second one.
	SemiJoin struct {
		Unary
		Sub  *bound.Subquery
		Expr bound.Expr // the predicate as it was written
		Anti bool
	}
	// Degree yields a row without columns for each edge of From.
	Degree struct {
		Unary
		From  int
		Types []string
		Dir   syntax.RelDir
	}
	// Project computes items.
	Project struct {
		Unary
		Items []bound.Item
	}
	// Aggregate groups.
	Aggregate struct {
		Unary
		Group []bound.Item
		Aggs  []bound.Agg
		Args  []int // slots that hold one value for the whole part
	}
	// CountLookup yields one row: how many nodes have Label ("": all) or, with
	// Edges, how many edges are of one of Types (none: all).
	CountLookup struct {
		Unary
		Slot  int
		Label string
		Edges bool
		Types []string
		Args  []int // slots that hold one value for the whole part
	}
	// Distinct keeps the first of the rows that agree in Slots.
	Distinct struct {
		Unary
		Slots []int
	}
	// Sort orders the rows; it is stable.
	Sort struct {
		Unary
		Keys []bound.Sort
	}
	// TopK is Sort, then Skip, then Limit. InOrder tells that the rows come in the
	// order of the first key, about, while the IndexSeek below has an order: then not
	// all of them are needed.
	TopK struct {
		Unary
		Keys        []bound.Sort
		Skip, Limit bound.Expr // Skip may be nil
		InOrder     bool
	}
	// Skip drops the first rows.
	Skip struct {
		Unary
		N bound.Expr
	}
	// Limit keeps the first rows. Drain tells that the input is read to its end
	// all the same, since it writes.
	Limit struct {
		Unary
		N     bound.Expr
		Drain bool
	}
	// Optional runs Inner, which starts at an Argument, on all input rows at
	// once; rows for which it finds nothing get nulls in New. RowSlot numbers the
	// rows.
	Optional struct {
		Unary
		Inner   Op
		New     []int
		RowSlot int
	}
	// Unwind makes a row of every element of a list.
	Unwind struct {
		Unary
		List bound.Expr
		Slot int
	}
	// Create makes nodes and edges.
	Create struct {
		Unary
		Patterns []*bound.Pattern
	}
	// Merge runs Inner, which starts at an Argument, row by row, and creates the
	// pattern where it finds nothing.
	Merge struct {
		Unary
		Inner    Op
		Pattern  *bound.Pattern
		New      []int
		OnCreate []*bound.SetItem
		OnMatch  []*bound.SetItem
	}
	// Set changes properties and labels.
	Set struct {
		Unary
		Items []*bound.SetItem
	}
	// Remove removes properties and labels.
	Remove struct {
		Unary
		Items []*bound.RemoveItem
	}
	// Delete deletes nodes, edges and paths.
	Delete struct {
		Unary
		Detach bool
		Exprs  []bound.Expr
	}
	// Foreach runs Body, which starts at an Argument, for every element.
	Foreach struct {
		Unary
		Slot int
		List bound.Expr
		Body Op
	}
	// CallProc calls a procedure.
	CallProc struct {
		Unary
		Call *bound.CallProc
	}
	// CallSubquery runs Query for each row.
	CallSubquery struct {
		Unary
		Call  *bound.CallSubquery
		Query *Query
	}
	// Eager reads its input to the end before it yields a row.
	Eager struct{ Unary }
	// Remember stores a memory.
	Remember struct {
		Unary
		Call *bound.Remember
	}
	// Recall finds memories. Within, unless it is nil, finds by an index the nodes of
	// which all that WHERE keeps are some.
	Recall struct {
		Unary
		Call   *bound.Recall
		Within Op
	}
)

// Used is an edge slot that an expansion must not repeat; List tells that the
// slot holds a list of edges.
type Used struct {
	Slot int
	List bool
}

// Inputs returns the input and the inner tree.
func (o *Optional) Inputs() []*Op { return []*Op{&o.In, &o.Inner} }

// Inputs returns the input and, if there is one, the search by an index.
func (o *Recall) Inputs() []*Op {
	if o.Within == nil {
		return []*Op{&o.In}
	}
	return []*Op{&o.In, &o.Within}
}

// Inputs returns the input and the inner tree.
func (m *Merge) Inputs() []*Op { return []*Op{&m.In, &m.Inner} }

// Inputs returns the input and the body.
func (f *Foreach) Inputs() []*Op { return []*Op{&f.In, &f.Body} }
