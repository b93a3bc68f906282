package bound

import (
	"slices"

	"engram/graph/schema"
	"engram/query/internal/syntax"
)

// Statement is a bound statement.
type Statement struct {
	Mode    syntax.Mode
	Text    string
	Query   *Query
	Columns []string // empty when it returns nothing
	Writes  bool
	// Learning says that the statement is about what was learned so far.
	Learning bool
	// Whole says that it reads the whole graph by a procedure and takes its time.
	Whole  bool
	Locals int // number of locals its expressions use, subqueries included
	// Implicit lists the parameters that a procedure call takes as arguments
	// without writing them. A missing one is ParameterMissing (MissingParameter)
	// at compile time, unlike other parameters.
	Implicit []string
}

// Query is a union of single queries with the same columns.
type Query struct {
	Parts   []*Single
	All     []bool // All[i]: Parts[i+1] is joined by UNION ALL
	Columns []string
}

// Single is a sequence of clauses over rows of Width slots. A slot belongs to
// one variable for good; clauses list the slots that live on behind them.
type Single struct {
	Clauses []Clause
	Width   int
	Vars    []Var // by slot
	// Args are the slots filled from outside before it runs (subqueries). They
	// hold their value in every row, behind projections and aggregates too.
	Args []int
	Out  []int // slots of the columns, in order; empty without RETURN
}

// Var names a slot. Anonymous pattern parts have an empty name.
type Var struct {
	Name string
	Type Type
}

// Clause is one of the clause types below.
type Clause interface{ At() syntax.Span }

type (
	// Match finds the patterns together: no edge is used twice among them.
	Match struct {
		syntax.Span
		Optional bool
		Patterns []*Pattern
		Where    Expr  // or nil
		New      []int // slots it binds; null after a failed OPTIONAL MATCH
	}
	// Unwind makes a row of every element.
	Unwind struct {
		syntax.Span
		List Expr
		Slot int
	}
	// Project is WITH or RETURN. Group and Aggs, when Aggregates is set, are
	// computed first; Items, OrderBy and Where then read their slots. Item slots
	// are new, so that OrderBy can read both sides of the projection; behind the
	// clause only the item slots live.
	Project struct {
		syntax.Span
		Return     bool
		Aggregates bool
		Group      []Item
		Aggs       []Agg
		Items      []Item
		Distinct   bool
		OrderBy    []Sort
		Skip       Expr // reads no slots; nil: 0
		Limit      Expr // reads no slots; nil: all
		// Where is applied after everything else; or nil. Like OrderBy it reads
		// both sides of the projection, but only the item slots with Distinct, and
		// only those and the Group and Aggs slots with Aggregates.
		Where Expr
	}
	// Create makes what the patterns say; unbound slots are filled.
	Create struct {
		syntax.Span
		Patterns []*Pattern
	}
	// Merge matches Pattern or creates it.
	Merge struct {
		syntax.Span
		Pattern  *Pattern
		New      []int
		OnCreate []*SetItem
		OnMatch  []*SetItem
	}
	// Set changes properties and labels, item by item.
	Set struct {
		syntax.Span
		Items []*SetItem
	}
	// Remove removes properties and labels.
	Remove struct {
		syntax.Span
		Items []*RemoveItem
	}
	// Delete deletes nodes, edges and paths.
	Delete struct {
		syntax.Span
		Detach bool
		Exprs  []Expr
	}
	// Foreach runs Body for every element.
	Foreach struct {
		syntax.Span
		Slot int
		List Expr
		Body []Clause
	}
	// CallProc calls a procedure.
	CallProc struct {
		syntax.Span
		Name    string
		Args    []Expr
		Yields  []Yield
		Where   Expr
		Writes  bool // it changes the graph
		Deletes bool // it may delete nodes
	}
	// CallSubquery runs Query for each row: Inner[i] of the inner row is set to
	// slot Outer[i]; the columns of its rows fill the slots of Out.
	CallSubquery struct {
		syntax.Span
		Query *Query
		Outer []int
		Inner []int
		Out   []int
	}
	// Remember stores a memory.
	Remember struct {
		syntax.Span
		Text    Expr
		Labels  []string
		Props   Expr // or nil
		Links   []Link
		Alone   bool
		Slot    int // of the memory
		Created int // slot of whether it was new, or -1
	}
	// SchemaChange creates or drops an index or a constraint; it stands alone. What
	// is dropped has a name or, in the old form, an owner and keys.
	SchemaChange struct {
		syntax.Span
		Drop       bool
		Constraint bool
		Lenient    bool // what is there, or is not, is no error
		Def        schema.Def
	}
	// Recall finds memories, activates nodes or compiles a text. Where reads Node's
	// slot. Expressions that were left out are nil.
	Recall struct {
		syntax.Span
		Verb         syntax.RecallVerb
		Query        Expr
		From         []Seed
		Self         bool
		Via          []string
		Not          []string
		Where        Expr
		Depth        Expr
		Limit        Expr
		Layers       Expr
		AsOf         Expr
		Within       Expr
		Since, Until Expr     // BETWEEN
		Including    []string // of Included, in their order
		Reference    Expr     // AT
		Budget       Expr     // in tokens
		Conversation Expr
		Missing      Expr // NOT of EXPLAIN
		Reinforce    bool // the rows are of use
		Node         int  // slot the candidate is put into for Where
		Yields       []Yield
	}
)

// Included are what INCLUDING can ask for.
var Included = []string{"SUPERSEDED", "FORGOTTEN", "TELEMETRY", "VERDICTS"}

// Exprs returns the expressions of RECALL and its like, none of them nil.
func (c *Recall) Exprs() []Expr {
	all := []Expr{c.Query}
	for _, s := range c.From {
		all = append(all, s.Node, s.Weight)
	}
	all = append(all, c.Where, c.Depth, c.Limit, c.Layers, c.AsOf, c.Within, c.Since, c.Until, c.Reference, c.Budget, c.Conversation, c.Missing)
	return slices.DeleteFunc(all, func(e Expr) bool { return e == nil })
}

// Item is an expression with the slot and column name it goes to.
type Item struct {
	Expr Expr
	Slot int
	Name string
}

// Agg is one aggregate. Name is its canonical name in package fn; count(*) is
// "count" without arguments.
type Agg struct {
	syntax.Span
	Name     string
	Args     []Expr
	Distinct bool
	Slot     int
}

// Sort is one sort key.
type Sort struct {
	Expr Expr
	Desc bool
}

// Yield puts a field of a procedure or of RECALL into a slot.
type Yield struct {
	Field string
	Slot  int
	Name  string
}

// Link is one LINK of REMEMBER.
type Link struct {
	Node   int // slot
	Type   string
	Weight Expr // or nil
}

// Seed is one FROM of RECALL.
type Seed struct {
	Node   Expr
	Weight Expr // or nil
}

// Pattern is a chain of nodes and edges: len(Nodes) == len(Rels)+1.
type Pattern struct {
	syntax.Span
	Path     int // slot of the path, or -1
	Shortest syntax.Shortest
	Count    int64 // as in syntax.Pattern
	Nodes    []*NodePat
	Rels     []*RelPat
}

// NodePat is a node of a pattern. Bound tells that its slot has a value before
// the clause runs (or, in CREATE, that an earlier part of the clause fills it).
type NodePat struct {
	syntax.Span
	Slot   int
	Bound  bool
	Labels syntax.LabelExpr // or nil
	// LabelsFrom is a list of further labels, and of lists of them, that CREATE and
	// MERGE give; or nil. What MERGE looks for is in Where.
	LabelsFrom Expr
	Props      []PropPat
	// PropsFrom is a parameter map in place of Props, or nil.
	PropsFrom Expr
	Where     Expr // or nil
}

// PropPat is key: expression in a pattern.
type PropPat struct {
	Key  string
	Expr Expr
}

// RelPat is an edge of a pattern. With VarLength its slot holds a list.
type RelPat struct {
	syntax.Span
	Slot      int
	Bound     bool
	Types     []string
	TypeFrom  Expr // like LabelsFrom of nodes; or nil
	Dir       syntax.RelDir
	VarLength bool
	Min, Max  int64 // Max -1: no bound
	Props     []PropPat
	PropsFrom Expr
	Where     Expr // or nil
}

// SetItem is one item of SET: Target is a node, edge or map expression.
type SetItem struct {
	syntax.Span
	Kind   syntax.SetKind
	Target Expr
	Key    string
	Value  Expr // of labels: a list of further ones, as in NodePat; or nil
	Labels []string
}

// RemoveItem removes Labels, or Key when Labels is empty.
type RemoveItem struct {
	syntax.Span
	Target Expr
	Labels []string
	Key    string
}
