package syntax

import (
	"strings"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

type gMatch struct {
	Tokens   []lexer.Token
	Optional bool        `parser:"@'OPTIONAL'?"`
	Patterns []*gPattern `parser:"'MATCH' @@ ( ',' @@ )*"`
	Where    *gExpr      `parser:"( 'WHERE' @@ )?"`
}

func (g *gMatch) clause() (Clause, error) {
	return &Match{Span: spanOf(g.Tokens), Optional: g.Optional, Patterns: patterns(g.Patterns), Where: g.Where.get()}, nil
}

type gUnwind struct {
	Tokens []lexer.Token
	List   *gExpr `parser:"'UNWIND' @@"`
	As     *gName `parser:"'AS' @@"`
}

func (g *gUnwind) clause() (Clause, error) {
	return &Unwind{Span: spanOf(g.Tokens), List: g.List.E, As: g.As.N}, nil
}

type gProjection struct {
	Tokens   []lexer.Token
	Return   bool     `parser:"( @'RETURN' | 'WITH' )"`
	Distinct bool     `parser:"@'DISTINCT'?"`
	Star     bool     `parser:"( @'*'"`
	More     []*gItem `parser:"  ( ',' @@ )*"`
	Items    []*gItem `parser:"| @@ ( ',' @@ )* )"`
	OrderBy  []*gSort `parser:"( 'ORDER' 'BY' @@ ( ',' @@ )* )?"`
	Skip     *gExpr   `parser:"( ( 'SKIP' | 'OFFSET' ) @@ )?"`
	Limit    *gExpr   `parser:"( 'LIMIT' @@ )?"`
	Where    *gExpr   `parser:"( 'WHERE' @@ )?"`
}

type gSort struct {
	Tokens []lexer.Token
	E      *gExpr `parser:"@@"`
	Desc   bool   `parser:"( @( 'DESC' | 'DESCENDING' ) | 'ASC' | 'ASCENDING' )?"`
}

func (g *gProjection) clause() (Clause, error) {
	p := &Projection{
		Span: spanOf(g.Tokens), Return: g.Return, Distinct: g.Distinct, Star: g.Star,
		Skip: g.Skip.get(), Limit: g.Limit.get(), Where: g.Where.get(),
	}
	if g.Return && p.Where != nil {
		return nil, fault.Syntax("UnexpectedSyntax", p.Where.At(), "RETURN has no WHERE").
			WithHint("Filter before, with MATCH ... WHERE or WITH ... WHERE.")
	}
	for _, list := range [][]*gItem{g.More, g.Items} {
		for _, item := range list {
			p.Items = append(p.Items, item.I)
		}
	}
	p.OrderBy = sortItems(g.OrderBy)
	return p, nil
}

// sortItems returns the keys of ORDER BY.
func sortItems(list []*gSort) []*SortItem {
	var out []*SortItem
	for _, s := range list {
		out = append(out, &SortItem{Span: spanOf(s.Tokens), Expr: s.E.E, Desc: s.Desc})
	}
	return out
}

type gForeach struct {
	Tokens []lexer.Token
	Var    *gName     `parser:"'FOREACH' '(' @@"`
	List   *gBarExpr  `parser:"'IN' @@"`
	Body   []*gClause `parser:"'|' @@+ ')'"`
}

func (g *gForeach) clause() (Clause, error) {
	f := &Foreach{Span: spanOf(g.Tokens), Var: g.Var.N, List: g.List.E, Body: clauses(g.Body)}
	for _, c := range f.Body {
		switch c.(type) {
		case *Create, *Merge, *Set, *Remove, *Delete, *Foreach:
		default:
			return nil, fault.Syntax("InvalidClauseComposition", c.At(), "FOREACH may only hold CREATE, MERGE, SET, REMOVE, DELETE and FOREACH").
				WithHint("Use UNWIND for other clauses over every element of a list.")
		}
	}
	return f, nil
}

type gCall struct {
	Tokens    []lexer.Token
	Name      []*gName  `parser:"'CALL' @@ ( '.' @@ )*"`
	Paren     bool      `parser:"( @'('"`
	Args      []*gExpr  `parser:"  ( @@ ( ',' @@ )* )? ')' )?"`
	HasYield  bool      `parser:"( @'YIELD'"`
	YieldStar bool      `parser:"  ( @'*'"`
	Yield     []*gYield `parser:"  | @@ ( ',' @@ )* )"`
	Where     *gExpr    `parser:"  ( 'WHERE' @@ )? )?"`
}

type gYield struct {
	Tokens []lexer.Token
	Field  *gName `parser:"@@"`
	As     *gName `parser:"( 'AS' @@ )?"`
}

func (g *gCall) clause() (Clause, error) {
	c := &Call{
		Span: spanOf(g.Tokens), Implicit: !g.Paren, Args: exprs(g.Args), HasYield: g.HasYield,
		YieldStar: g.YieldStar, Yield: yields(g.Yield), Where: g.Where.get(),
	}
	for _, n := range g.Name {
		c.Procedure = append(c.Procedure, n.N.Text)
	}
	return c, nil
}

// yields returns the items of a YIELD.
func yields(list []*gYield) []*YieldItem {
	var out []*YieldItem
	for _, y := range list {
		out = append(out, &YieldItem{Span: spanOf(y.Tokens), Field: y.Field.N, As: y.As.get()})
	}
	return out
}

type gCallSubquery struct {
	Tokens  []lexer.Token
	Scope   *gScope   `parser:"'CALL' @@?"`
	Query   *gQuery   `parser:"'{' @@ '}'"`
	Batches *gBatches `parser:"@@?"`
}

// gScope lists the variables that a subquery sees.
type gScope struct {
	Open  bool     `parser:"@'('"`
	Star  bool     `parser:"( @'*'"`
	Names []*gName `parser:"| @@ ( ',' @@ )* )? ')'"`
}

type gBatches struct {
	Tokens  []lexer.Token
	In      bool   `parser:"'IN' @'TRANSACTIONS'"`
	Size    *gExpr `parser:"( 'OF' @@ ( 'ROWS' | 'ROW' ) )?"`
	OnError string `parser:"( 'ON' 'ERROR' @( 'FAIL' | 'CONTINUE' | 'BREAK' ) )?"`
}

func (g *gCallSubquery) clause() (Clause, error) {
	c := &CallSubquery{Span: spanOf(g.Tokens), Query: g.Query.query()}
	if g.Scope != nil {
		c.Scoped, c.ImportStar = true, g.Scope.Star
		for _, n := range g.Scope.Names {
			c.Imports = append(c.Imports, n.N)
		}
	}
	if b := g.Batches; b != nil {
		c.Batches = &Batches{Span: spanOf(b.Tokens), Size: b.Size.get()}
		switch strings.ToUpper(b.OnError) {
		case "CONTINUE":
			c.Batches.OnError = OnErrorContinue
		case "BREAK":
			c.Batches.OnError = OnErrorBreak
		}
	}
	return c, nil
}
