package syntax

import (
	"strings"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// Clauses that are short for others, as GQL and newer Cypher have them.

// shortClause returns the production of such a clause, or nil.
func (p *parser) shortClause() production {
	t := p.peek()
	switch {
	case is(t, "FILTER"):
		return handmade((*parser).filter)
	case is(t, "LET"):
		return handmade((*parser).let)
	case is(t, "INSERT"):
		return handmade((*parser).insert)
	case is(t, "NODETACH") && p.ahead(1).Type == kwDelete:
		return func(lex *lexer.PeekingLexer) (Clause, error) {
			lex.Next()
			return grammar().clauses[kwDelete](lex)
		}
	}
	return nil
}

// filter parses FILTER [WHERE] e: WITH * WHERE e.
func (p *parser) filter() (*Projection, error) {
	t := p.take()
	p.acceptKw(kwWhere)
	where, err := p.expr()
	if err != nil {
		return nil, err
	}
	return &Projection{Span: p.since(span(t)), Word: "FILTER", Star: true, Where: where}, nil
}

// let parses LET name = e, ...: WITH *, e AS name, ...
func (p *parser) let() (*Projection, error) {
	t := p.take()
	items, err := commaList(p, func() (*Item, error) {
		name, err := p.name("a variable")
		if err != nil {
			return nil, err
		}
		if err := p.expect("="); err != nil {
			return nil, err
		}
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		return &Item{Span: p.since(name.Span), Expr: e, As: name, Text: name.Text}, nil
	})
	if err != nil {
		return nil, err
	}
	return &Projection{Span: p.since(span(t)), Word: "LET", Star: true, Items: items}, nil
}

// insert parses INSERT patterns: CREATE.
func (p *parser) insert() (*Create, error) {
	t := p.take()
	patterns, err := commaList(p, p.pattern)
	if err != nil {
		return nil, err
	}
	return &Create{Span: p.since(span(t)), Patterns: patterns}, nil
}

// gOrder is ORDER BY, SKIP and LIMIT as a clause of its own.
type gOrder struct {
	Tokens  []lexer.Token
	OrderBy []*gSort `parser:"( 'ORDER' 'BY' @@ ( ',' @@ )* )?"`
	Skip    *gExpr   `parser:"( ( 'SKIP' | 'OFFSET' ) @@ )?"`
	Limit   *gExpr   `parser:"( 'LIMIT' @@ )?"`
}

func (g *gOrder) clause() (Clause, error) {
	word := strings.ToUpper(g.Tokens[0].Value)
	if word == "ORDER" {
		word = "ORDER BY"
	}
	p := &Projection{Span: spanOf(g.Tokens), Word: word, Star: true, Skip: g.Skip.get(), Limit: g.Limit.get()}
	p.OrderBy = sortItems(g.OrderBy)
	return p, nil
}

// dialects are the versions of Cypher that CYPHER may name before a statement.
var dialects = map[string]bool{"5": true, "25": true}

// settings are what else it may name; they tell other planners what to do.
var settings = map[string]bool{
	"PLANNER": true, "RUNTIME": true, "REPLAN": true, "UPDATESTRATEGY": true, "EXPRESSIONENGINE": true,
	"OPERATORENGINE": true, "INTERPRETEDPIPESFALLBACK": true, "CONNECTCOMPONENTSPLANNER": true, "DEBUG": true,
}

// withoutDialect returns the tokens behind CYPHER, its version and its settings. None
// of them changes what a statement means.
func withoutDialect(tokens []lexer.Token) ([]lexer.Token, error) {
	if len(tokens) == 0 || !is(&tokens[0], "CYPHER") {
		return tokens, nil
	}
	rest := tokens[1:]
	if len(rest) > 0 && (rest[0].Type == tInt || rest[0].Type == tFloat) {
		if !dialects[rest[0].Value] {
			return nil, fault.Syntax(unexpectedSyntax, span(&rest[0]), "there is no version %s of Cypher here", rest[0].Value).
				WithHint("CYPHER 5, CYPHER 25 and CYPHER alone all mean the same.")
		}
		rest = rest[1:]
	}
	for len(rest) > 2 && isWord(&rest[0]) && isPunct(&rest[1], "=") {
		if !settings[strings.ToUpper(rest[0].Value)] {
			return nil, fault.Syntax(unexpectedSyntax, span(&rest[0]), "there is no setting %s of a statement", rest[0].Value)
		}
		rest = rest[3:]
	}
	return rest, nil
}
