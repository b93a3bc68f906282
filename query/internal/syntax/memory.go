package syntax

import (
	"slices"
	"strings"

	"engram/graph/value"
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

type gRemember struct {
	Tokens []lexer.Token
	Text   *gTextExpr `parser:"'REMEMBER' @@"`
	Labels *gLabels   `parser:"@@"`
	Props  *gMap      `parser:"@@?"`
	Links  []*gLink   `parser:"( 'LINK' @@ ( ',' @@ )* )?"`
	Alone  bool       `parser:"@'ALONE'?"`
	As     *gName     `parser:"( 'AS' @@ )?"`
}

type gLink struct {
	Tokens []lexer.Token
	Node   *gName `parser:"'(' @@ ')'"`
	Type   *gName `parser:"'AS' ':' @@"`
	Weight *gExpr `parser:"( 'WEIGHT' @@ )?"`
}

func (g *gRemember) clause() (Clause, error) {
	r := &Remember{
		Span: spanOf(g.Tokens), Text: g.Text.E, Labels: g.Labels.L, Alone: g.Alone, As: g.As.get(),
	}
	if g.Props != nil {
		r.Props = g.Props.E
	}
	for _, l := range g.Links {
		r.Links = append(r.Links, &Link{Span: spanOf(l.Tokens), Node: l.Node.N, Type: l.Type.N, Weight: l.Weight.get()})
	}
	return r, nil
}

type gRecall struct {
	Tokens  []lexer.Token
	Query   *gTextExpr       `parser:"'RECALL' @@"`
	Options []*gRecallOption `parser:"@@*"`
}

// gActivate is ACTIVATE node [WEIGHT w], ... .
type gActivate struct {
	Tokens  []lexer.Token
	Seeds   []*gSeed         `parser:"'ACTIVATE' @@ ( ',' @@ )*"`
	Options []*gRecallOption `parser:"@@*"`
}

func (g *gActivate) clause() (Clause, error) {
	r := &Recall{Span: spanOf(g.Tokens), Verb: VerbActivate, From: seeds(g.Seeds)}
	return r, options(r, g.Options)
}

// gCompile is COMPILE 'intent' ... .
type gCompile struct {
	Tokens  []lexer.Token
	Query   *gTextExpr       `parser:"'COMPILE' @@"`
	Options []*gRecallOption `parser:"@@*"`
}

func (g *gCompile) clause() (Clause, error) {
	r := &Recall{Span: spanOf(g.Tokens), Verb: VerbCompile, Query: g.Query.E}
	return r, options(r, g.Options)
}

// gRecallOption is one option of RECALL, ACTIVATE or COMPILE. They may come in any
// order; which clause takes which is the binder's.
type gRecallOption struct {
	Tokens    []lexer.Token
	From      []*gSeed     `parser:"  'FROM' @@ ( ',' @@ )*"`
	Self      bool         `parser:"| @'SELF'"`
	Via       *gTypes      `parser:"| 'VIA' @@"`
	Against   *gTypes      `parser:"| 'AGAINST' @@"`
	Where     *gLayersExpr `parser:"| 'WHERE' @@"`
	Depth     *gLayersExpr `parser:"| 'DEPTH' @@"`
	Limit     *gLayersExpr `parser:"| 'LIMIT' @@"`
	Yield     []*gYield    `parser:"| 'YIELD' @@ ( ',' @@ )*"`
	Layers    *gLayersExpr `parser:"| 'IN' 'LAYERS' @@"`
	AsOf      *gLayersExpr `parser:"| 'AS' 'OF' @@"`
	Within    *gLayersExpr `parser:"| 'WITHIN' @@"`
	From2     *gBound      `parser:"| 'BETWEEN' @@"`
	To        *gBound      `parser:"  'AND' @@"`
	Budget    *gLayersExpr `parser:"| 'BUDGET' @@ 'TOKENS'"`
	Of        *gLayersExpr `parser:"| 'OF' 'CONVERSATION' @@"`
	Missing   *gLayersExpr `parser:"| 'NOT' @@"`
	Including []*gName     `parser:"| 'INCLUDING' @@ ( '|' @@ )*"`
	At        *gLayersExpr `parser:"| 'AT' @@"`
	Reinforce bool         `parser:"| @'REINFORCE'"`
}

type gSeed struct {
	Tokens []lexer.Token
	Node   *gLayersExpr `parser:"@@"`
	Weight *gLayersExpr `parser:"( 'WEIGHT' @@ )?"`
}

func (g *gRecall) clause() (Clause, error) {
	r := &Recall{Span: spanOf(g.Tokens), Query: g.Query.E}
	return r, options(r, g.Options)
}

// options adds options to a clause.
func options(r *Recall, list []*gRecallOption) error {
	seen := map[string]bool{}
	for _, o := range list {
		name := o.into(r)
		if seen[name] {
			return fault.Syntax("UnexpectedSyntax", spanOf(o.Tokens), "%s is given twice", name)
		}
		if known := RecallOptions(r.Verb); !slices.Contains(known, name) {
			return fault.Syntax("UnexpectedSyntax", spanOf(o.Tokens), "%s takes no %s", r.Verb, name).
				WithHint("Its options are %s.", strings.Join(known, ", "))
		}
		seen[name] = true
	}
	return nil
}

func seeds(list []*gSeed) []*Seed {
	var out []*Seed
	for _, s := range list {
		seed := &Seed{Span: spanOf(s.Tokens), Node: s.Node.E}
		if s.Weight != nil {
			seed.Weight = s.Weight.E
		}
		out = append(out, seed)
	}
	return out
}

// into puts the option into its field, or into Options when it has none, and
// returns its name.
func (o *gRecallOption) into(r *Recall) string {
	name := strings.ToUpper(o.Tokens[0].Value)
	var args []Expr
	switch name {
	case "FROM":
		r.From = append(r.From, seeds(o.From)...)
		return name
	case "SELF":
		r.Self = true
		return name
	case "VIA":
		r.Via = o.Via.T
		return name
	case "AGAINST":
		r.Not = o.Against.T
		return name
	case "WHERE":
		r.Where = o.Where.E
		return name
	case "DEPTH":
		r.Depth = o.Depth.E
		return name
	case "LIMIT":
		r.Limit = o.Limit.E
		return name
	case "YIELD":
		r.Yield = yields(o.Yield)
		return name
	case "IN":
		name, args = "IN LAYERS", []Expr{o.Layers.E}
	case "AS":
		name, args = "AS OF", []Expr{o.AsOf.E}
	case "WITHIN":
		args = []Expr{o.Within.E}
	case "BETWEEN":
		args = []Expr{o.From2.E, o.To.E}
	case "INCLUDING":
		for _, n := range o.Including {
			args = append(args, &Literal{Span: n.N.Span, Value: value.String(n.N.Text)})
		}
	case "AT":
		args = []Expr{o.At.E}
	case "BUDGET":
		args = []Expr{o.Budget.E}
	case "OF":
		name, args = "OF CONVERSATION", []Expr{o.Of.E}
	case "NOT":
		args = []Expr{o.Missing.E}
	}
	r.Options = append(r.Options, &RecallOption{Span: spanOf(o.Tokens), Name: name, Args: args})
	return name
}
