// Package syntax turns the text of a statement into a tree. It knows the
// grammar only: names are not resolved and types are not checked here.
package syntax

import (
	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/fault"
)

// Pos is a place in the statement as typed.
type Pos = fault.Pos

// Span is a part of the statement, with the place of its start. Embedding it
// makes a node of the tree.
type Span = fault.Span

// Statement is one parsed statement.
type Statement struct {
	Mode  Mode // plain, EXPLAIN or PROFILE
	Query *Query
	Text  string // as typed
}

// Mode says whether a statement is run, explained or profiled.
type Mode uint8

// The modes.
const (
	Plain Mode = iota
	Explain
	Profile
)

// Query is one or more single queries joined by UNION. All[i] tells how
// Parts[i+1] is joined: true for UNION ALL.
type Query struct {
	Parts []*SingleQuery
	All   []bool
	Union []Span // the UNION keywords
}

// SingleQuery is a sequence of clauses.
type SingleQuery struct{ Clauses []Clause }

// Clause is one of the clause types below.
type Clause interface{ At() Span }

type (
	// Match is MATCH or OPTIONAL MATCH.
	Match struct {
		Span
		Optional bool
		Patterns []*Pattern
		Where    Expr // or nil
	}
	// Unwind is UNWIND list AS variable.
	Unwind struct {
		Span
		List Expr
		As   *Name
	}
	// Finish is FINISH: the end of a query that returns nothing.
	Finish struct{ Span }
	// Projection is WITH or RETURN, and what is short for WITH *: FILTER, LET, ORDER
	// BY, SKIP and LIMIT as clauses of their own.
	Projection struct {
		Span
		Word     string // FILTER and the like; empty for WITH and RETURN
		Return   bool
		Distinct bool
		Star     bool
		Items    []*Item
		OrderBy  []*SortItem
		Skip     Expr // or nil
		Limit    Expr // or nil
		Where    Expr // or nil; WITH only
	}
	// Create is CREATE patterns.
	Create struct {
		Span
		Patterns []*Pattern
	}
	// Merge is MERGE with its actions.
	Merge struct {
		Span
		Pattern  *Pattern
		OnCreate []*SetItem
		OnMatch  []*SetItem
	}
	// Set is SET items.
	Set struct {
		Span
		Items []*SetItem
	}
	// Remove is REMOVE items.
	Remove struct {
		Span
		Items []*RemoveItem
	}
	// Delete is [DETACH] DELETE expressions.
	Delete struct {
		Span
		Detach bool
		Exprs  []Expr
	}
	// Foreach is FOREACH (variable IN list | updates).
	Foreach struct {
		Span
		Var  *Name
		List Expr
		Body []Clause
	}
	// Call is CALL procedure [(args)] [YIELD items [WHERE]].
	Call struct {
		Span
		Procedure []string
		Args      []Expr
		Implicit  bool // written without parentheses
		YieldStar bool
		Yield     []*YieldItem
		HasYield  bool
		Where     Expr
		// Show tells that it was written as SHOW: * stands among other clauses too.
		Show bool
		// Writes tells that it was written as a clause of its own that writes.
		Writes bool
		// Memory tells that it was written as a clause that changes memories, such as
		// FORGET.
		Memory bool
	}
	// SchemaChange is CREATE or DROP of an index or a constraint. What is dropped
	// has a Name, or in the old form an Owner and Keys.
	SchemaChange struct {
		Span
		Drop       bool
		Constraint bool
		Lenient    bool // IF NOT EXISTS, IF EXISTS
		Name       *Name
		Kind       schema.Kind
		Edge       bool
		Owner      *Name   // label or type
		Also       []*Name // further labels of a full-text index
		Keys       []*Name
	}
	// CallSubquery is CALL [(imports)] { query } [IN TRANSACTIONS].
	CallSubquery struct {
		Span
		// Scoped tells that the variables it sees are listed: Imports or, with
		// ImportStar, all. Otherwise they are those of its first WITH.
		Scoped     bool
		ImportStar bool
		Imports    []*Name
		Query      *Query
		Batches    *Batches // or nil
		// Memory tells that it was written as CONSOLIDATE.
		Memory bool
	}
	// Remember is REMEMBER 'text' ... .
	Remember struct {
		Span
		Text   Expr
		Labels []*Name
		Props  Expr // a map, or nil
		Links  []*Link
		Alone  bool
		As     *Name // or nil
	}
	// Recall is RECALL, ACTIVATE or COMPILE: they share their options.
	Recall struct {
		Span
		Verb  RecallVerb
		Query Expr    // nil for ACTIVATE
		From  []*Seed // what ACTIVATE begins at, or FROM
		Self  bool
		Via   []*Name
		Not   []*Name // AGAINST
		Where Expr
		Depth Expr
		Limit Expr
		Yield []*YieldItem // nil: the usual ones
		// Options are all others, in the order of the text.
		Options []*RecallOption
		// WhyNot tells that the statement is EXPLAIN ... NOT node: it is run, and
		// tells why that node was not recalled.
		WhyNot bool
	}
)

// Link is LINK (n) AS :TYPE [WEIGHT w] of REMEMBER.
type Link struct {
	Span
	Node   *Name
	Type   *Name
	Weight Expr
}

// Seed is FROM node [WEIGHT w] of RECALL.
type Seed struct {
	Span
	Node   Expr
	Weight Expr
}

// RecallVerb tells clauses of the kind Recall apart.
type RecallVerb uint8

// The verbs.
const (
	VerbRecall RecallVerb = iota
	VerbActivate
	VerbCompile
)

// String returns the word.
func (v RecallVerb) String() string { return [...]string{"RECALL", "ACTIVATE", "COMPILE"}[v] }

// RecallOption is an option of RECALL that has no field of its own, such as IN
// LAYERS or AS OF.
type RecallOption struct {
	Span
	Name string // upper case, words joined by one space
	Args []Expr
}

// Item is expression [AS name] in WITH or RETURN.
type Item struct {
	Span
	Expr Expr
	As   *Name  // or nil
	Text string // the expression's source text, the implicit column name
}

// SortItem is one ORDER BY key.
type SortItem struct {
	Span
	Expr Expr
	Desc bool
}

// YieldItem is field [AS name].
type YieldItem struct {
	Span
	Field *Name
	As    *Name // or nil
}

// SetKind says which form a SET item has.
type SetKind uint8

// The forms of SET.
const (
	SetProperty SetKind = iota // e.key = value
	SetReplace                 // v = map
	SetMerge                   // v += map
	SetLabels                  // v:A:B
	UnsetLabels                // REMOVE v:$(e), which becomes an item of SET
)

// SetItem is one item of SET.
type SetItem struct {
	Span
	Kind   SetKind
	Target Expr // a variable, or a *Property or *Index for SetProperty
	Value  Expr
	Labels []*Name
	// Dynamic are further labels.
	Dynamic []*LabelDynamic
}

// RemoveItem is v:A:B or e.key.
type RemoveItem struct {
	Span
	Target  Expr // a variable for labels, else a *Property or *Index
	Labels  []*Name
	Dynamic []*LabelDynamic
}

// Name is an identifier; Text has no backticks.
type Name struct {
	Span
	Text string
}

// Shortest says whether a pattern is wrapped in a shortest path function.
type Shortest uint8

// The shortest path forms.
const (
	NotShortest Shortest = iota
	ShortestPath
	AllShortestPaths
)

// Pattern is [name =] node (rel node)*: len(Nodes) == len(Rels)+1.
type Pattern struct {
	Span
	Var      *Name // path variable, or nil
	Shortest Shortest
	Count    int64 // k of SHORTEST k or SHORTEST k GROUPS; 0: not written so
	Nodes    []*NodePattern
	Rels     []*RelPattern
}

// NodePattern is (v:Label {props} WHERE e).
type NodePattern struct {
	Span
	Var    *Name
	Labels LabelExpr // or nil
	// Dynamic are further labels, all of which are asked for.
	Dynamic []*LabelDynamic
	Props   Expr // *MapLit or *Param, or nil
	Where   Expr // or nil
}

// RelDir is the arrow of a relationship pattern.
type RelDir uint8

// The arrows. Undirected is -- or <-->.
const (
	RelOut RelDir = iota
	RelIn
	Undirected
)

// RelPattern is -[v:A|B*1..3 {props} WHERE e]->. TypeExpr stands in place of Types
// for an expression that is no list of types, such as !A.
type RelPattern struct {
	Span
	Var      *Name
	Types    []*Name
	TypeExpr LabelExpr
	Dynamic  []*LabelDynamic
	Dir      RelDir
	Var0     *VarLength // or nil for a single hop
	Props    Expr
	Where    Expr
}

// VarLength is *min..max; nil bounds were left out.
type VarLength struct {
	Span
	Min, Max *int64
}

// LabelExpr is a label expression such as A&(B|!C). A plain :A:B is a LabelAnd.
type LabelExpr interface{ At() Span }

type (
	// LabelName is one label.
	LabelName struct{ Name }
	// LabelNot is !e.
	LabelNot struct {
		Span
		E LabelExpr
	}
	// LabelAnd is a:b or a&b. Colons tells the old form, the only one that CREATE
	// and MERGE take.
	LabelAnd struct {
		Span
		L, R   LabelExpr
		Colons bool
	}
	// LabelOr is a|b.
	LabelOr struct {
		Span
		L, R LabelExpr
	}
	// LabelAny is %.
	LabelAny struct{ Span }
	// LabelDynamic is $(e), $all(e) or $any(e): names that an expression yields. The
	// parser takes it out of the expressions that it leaves to others.
	LabelDynamic struct {
		Span
		E   Expr
		Any bool
	}
)

// Expr is one of the expression types below.
type Expr interface{ At() Span }

type (
	// Literal is null, a boolean, number or string.
	Literal struct {
		Span
		Value value.Value
	}
	// Param is $name.
	Param struct {
		Span
		Name string
	}
	// Variable is a name in an expression.
	Variable struct{ Name }
	// Property is E.key.
	Property struct {
		Span
		E   Expr
		Key *Name
	}
	// Index is E[i].
	Index struct {
		Span
		E, I Expr
	}
	// Slice is E[from..to]; either bound may be nil.
	Slice struct {
		Span
		E, From, To Expr
	}
	// ListLit is [a, b].
	ListLit struct {
		Span
		Elems []Expr
	}
	// MapLit is {k: v}.
	MapLit struct {
		Span
		Keys   []*Name
		Values []Expr
	}
	// MapProjection is v {.key, .*, k: e, other}.
	MapProjection struct {
		Span
		E     Expr
		Items []*MapProjectionItem
	}
	// Unary is NOT e, -e, +e.
	Unary struct {
		Span
		Op Op
		E  Expr
	}
	// Binary is l op r. Comparison chains a < b < c parse to an And of
	// Binaries that share b.
	Binary struct {
		Span
		Op   Op
		L, R Expr
	}
	// IsNull is e IS [NOT] NULL.
	IsNull struct {
		Span
		E   Expr
		Not bool
	}
	// IsTyped is e IS [NOT] :: type.
	IsTyped struct {
		Span
		E         Expr
		ValueType *ValueType
		Not       bool
	}
	// HasLabels is e:A:B or e:A&B.
	HasLabels struct {
		Span
		E      Expr
		Labels LabelExpr
	}
	// Func is name([DISTINCT] args); count(*) has Star.
	Func struct {
		Span
		Name     string // as typed, namespace parts joined by dots
		Distinct bool
		Star     bool
		Args     []Expr
	}
	// Case is CASE [test] WHEN .. THEN .. [ELSE ..] END. With Extended the test is
	// the variable CaseSubject in the conditions When, as in WHEN > 1 or WHEN 1, 2.
	Case struct {
		Span
		Test       Expr // or nil
		Extended   bool
		When, Then []Expr
		Else       Expr // or nil
	}
	// ListComp is [v IN list WHERE p | e].
	ListComp struct {
		Span
		Var         *Name
		List        Expr
		Where, Proj Expr // either may be nil
	}
	// PatternComp is [p = pattern WHERE e | e].
	PatternComp struct {
		Span
		Pattern     *Pattern
		Where, Proj Expr
	}
	// Quantifier is all|any|none|single(v IN list WHERE p).
	Quantifier struct {
		Span
		Kind  QuantKind
		Var   *Name
		List  Expr
		Where Expr
	}
	// Reduce is reduce(acc = init, v IN list | e).
	Reduce struct {
		Span
		Acc  *Name
		Init Expr
		Var  *Name
		List Expr
		E    Expr
	}
	// PatternExpr is a pattern used as a predicate.
	PatternExpr struct {
		Span
		Pattern *Pattern
	}
	// Subquery is EXISTS { }, COUNT { } or COLLECT { }. A bare pattern with an
	// optional WHERE parses to a Query of one Match without a RETURN.
	Subquery struct {
		Span
		Kind  SubqueryKind
		Query *Query
	}
)

// CaseSubject is the name of the variable that stands for the test of an extended
// CASE. Nobody can write it.
const CaseSubject = " case"

// MapProjectionItem is one item of a map projection.
type MapProjectionItem struct {
	Span
	All   bool  // .*
	Key   *Name // .key, or the key of key: e, or the variable's own name
	Value Expr  // nil for .key
}

// SubqueryKind says what a subquery expression yields.
type SubqueryKind uint8

// The subquery expressions.
const (
	ExistsSubquery SubqueryKind = iota
	CountSubquery
	CollectSubquery
)

// QuantKind is the kind of a quantifier.
type QuantKind uint8

// The quantifiers.
const (
	QuantAll QuantKind = iota
	QuantAny
	QuantNone
	QuantSingle
)

// Op is an operator.
type Op uint8

// The operators.
const (
	OpOr Op = iota
	OpXor
	OpAnd
	OpNot
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpPow
	OpIn
	OpStartsWith
	OpEndsWith
	OpContains
	OpMatches // =~
	OpNeg
	OpPos
	OpConcat // ||
)

// OnError says what the failure of one transaction means for the next ones.
type OnError uint8

// What to do.
const (
	OnErrorFail     OnError = iota // end the statement with the error
	OnErrorContinue                // leave the rows out, go on
	OnErrorBreak                   // leave the rows out, run no further one
)

// Batches is IN TRANSACTIONS [OF size ROWS] [ON ERROR ...].
type Batches struct {
	Span
	Size    Expr // or nil
	OnError OnError
}
