package syntax

import "github.com/alecthomas/participle/v2/lexer"

type gCreate struct {
	Tokens   []lexer.Token
	Patterns []*gPattern `parser:"'CREATE' @@ ( ',' @@ )*"`
}

func (g *gCreate) clause() (Clause, error) {
	return &Create{Span: spanOf(g.Tokens), Patterns: patterns(g.Patterns)}, nil
}

type gMerge struct {
	Tokens  []lexer.Token
	Pattern *gPattern  `parser:"'MERGE' @@"`
	Actions []*gAction `parser:"@@*"`
}

type gAction struct {
	Create bool        `parser:"'ON' ( @'CREATE' | 'MATCH' )"`
	Items  []*gSetItem `parser:"'SET' @@ ( ',' @@ )*"`
}

func (g *gMerge) clause() (Clause, error) {
	m := &Merge{Span: spanOf(g.Tokens), Pattern: g.Pattern.P}
	for _, a := range g.Actions {
		if a.Create {
			m.OnCreate = append(m.OnCreate, setItems(a.Items)...)
		} else {
			m.OnMatch = append(m.OnMatch, setItems(a.Items)...)
		}
	}
	return m, nil
}

type gSet struct {
	Tokens []lexer.Token
	Items  []*gSetItem `parser:"'SET' @@ ( ',' @@ )*"`
}

func (g *gSet) clause() (Clause, error) {
	return &Set{Span: spanOf(g.Tokens), Items: setItems(g.Items)}, nil
}

type gRemove struct {
	Tokens []lexer.Token
	Items  []*gRemoveItem `parser:"'REMOVE' @@ ( ',' @@ )*"`
}

func (g *gRemove) clause() (Clause, error) {
	r := &Remove{Span: spanOf(g.Tokens)}
	for _, item := range g.Items {
		r.Items = append(r.Items, item.I)
	}
	return r, nil
}

type gDelete struct {
	Tokens []lexer.Token
	Detach bool     `parser:"@'DETACH'?"`
	Exprs  []*gExpr `parser:"'DELETE' @@ ( ',' @@ )*"`
}

func (g *gDelete) clause() (Clause, error) {
	return &Delete{Span: spanOf(g.Tokens), Detach: g.Detach, Exprs: exprs(g.Exprs)}, nil
}
