package syntax

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The types that begin with g are the grammar as participle reads it from the
// field tags; their methods make the tree of ast.go. Literals match words
// without case. A branch is taken as soon as one of its tokens matched
// (UseLookahead(0)), so alternatives differ in their first token and an error is
// reported where it is.

// gStatement is one statement.
type gStatement struct {
	Mode  string  `parser:"@( 'EXPLAIN' | 'PROFILE' )?"`
	Query *gQuery `parser:"@@ ';'*"`
}

// gQuery is single queries joined by UNION.
type gQuery struct {
	First *gSingle  `parser:"@@"`
	Rest  []*gUnion `parser:"@@*"`
}

type gSingle struct {
	Clauses []*gClause `parser:"@@+"`
}

type gUnion struct {
	Tokens []lexer.Token
	All    bool     `parser:"'UNION' ( @'ALL' | 'DISTINCT' )?"`
	Single *gSingle `parser:"@@"`
}

// query makes the tree.
func (g *gQuery) query() *Query {
	q := &Query{Parts: []*SingleQuery{g.First.single()}}
	for _, u := range g.Rest {
		words := 1
		if isWord(&u.Tokens[1]) && (is(&u.Tokens[1], "ALL") || is(&u.Tokens[1], "DISTINCT")) {
			words = 2
		}
		q.Union = append(q.Union, spanOf(u.Tokens[:words]))
		q.All = append(q.All, u.All)
		q.Parts = append(q.Parts, u.Single.single())
	}
	return q
}

func (g *gSingle) single() *SingleQuery {
	return &SingleQuery{Clauses: clauses(g.Clauses)}
}

// clauses returns the clauses of a list.
func clauses(list []*gClause) []Clause {
	out := make([]Clause, len(list))
	for i, c := range list {
		out[i] = c.C
	}
	return out
}

// gClause is one clause. It is a hook that goes to the clause's own grammar by
// its first word, which is faster than trying twenty alternatives and knows the
// words of clauses that are not there yet.
type gClause struct{ C Clause }

// Parse implements participle.Parseable.
func (g *gClause) Parse(lex *lexer.PeekingLexer) (err error) {
	p := &parser{lex: lex}
	produce, err := p.production()
	if err != nil {
		p.take() // an error without progress would count as no match
		return err
	}
	if produce == nil {
		return participle.NextMatch
	}
	g.C, err = produce(lex)
	return err
}

// production returns the grammar of the clause that begins here, or nil if none
// does.
func (p *parser) production() (production, error) {
	t := p.peek()
	if !isWord(t) {
		return nil, nil
	}
	if t.Type == tIdent {
		if short := p.shortClause(); short != nil {
			return short, nil
		}
		return p.schemaCommand()
	}
	g := grammar()
	switch next := p.ahead(1); {
	case t.Type == kwCall && (isPunct(next, "{") || isPunct(next, "(")):
		return g.callSubquery, nil
	case t.Type == kwCreate && isWord(next) && !isPunct(p.ahead(2), "=") && !isPunct(p.ahead(2), "("):
		return p.schemaCommand()
	}
	return g.clauses[t.Type], nil
}

// production parses one clause.
type production func(*lexer.PeekingLexer) (Clause, error)

// grammars are the parsers that participle built. They are immutable.
type grammars struct {
	statement    *participle.Parser[gStatement]
	query        *participle.Parser[gQuery]
	clauses      map[lexer.TokenType]production
	callSubquery production
	activate     production
	compile      production
}

// grammar builds the parsers at the first use.
var grammar = sync.OnceValue(func() *grammars {
	read, project := produce[gMatch](), produce[gProjection]()
	remove, order := produce[gDelete](), produce[gOrder]()
	return &grammars{
		statement: build[gStatement](),
		query:     build[gQuery](),
		clauses: map[lexer.TokenType]production{
			kwMatch:    read,
			kwOptional: read,
			kwUnwind:   produce[gUnwind](),
			kwWith:     project,
			kwReturn:   project,
			kwOrder:    order,
			kwSkip:     order,
			kwOffset:   order,
			kwLimit:    order,
			kwCreate:   produce[gCreate](),
			kwMerge:    produce[gMerge](),
			kwSet:      produce[gSet](),
			kwRemove:   produce[gRemove](),
			kwDelete:   remove,
			kwDetach:   remove,
			kwForeach:  produce[gForeach](),
			kwCall:     produce[gCall](),
			kwRemember: produce[gRemember](),
			kwRecall:   produce[gRecall](),
		},
		callSubquery: produce[gCallSubquery](),
		activate:     produce[gActivate](),
		compile:      produce[gCompile](),
	}
})

// build makes participle's parser for G. It panics only for a malformed tag,
// which any test finds.
func build[G any]() *participle.Parser[G] {
	insensitive := []string{"Ident"}
	for _, w := range words {
		insensitive = append(insensitive, "Word"+w)
	}
	return participle.MustBuild[G](
		participle.Lexer(lexing{}),
		participle.UseLookahead(0),
		participle.CaseInsensitive(insensitive...),
	)
}

// produce makes the production of a clause whose grammar is G.
func produce[G any, P interface {
	*G
	clause() (Clause, error)
}]() production {
	parser := build[G]()
	return func(lex *lexer.PeekingLexer) (Clause, error) {
		g, err := parser.ParseFromLexer(lex, participle.AllowTrailing(true))
		if err != nil {
			return nil, translate(err)
		}
		return P(g).clause()
	}
}

// query parses a query within a statement and leaves what ends it.
func (p *parser) query() (*Query, error) {
	g, err := grammar().query.ParseFromLexer(p.lex, participle.AllowTrailing(true))
	if err != nil {
		return nil, translate(err)
	}
	return g.query(), nil
}
