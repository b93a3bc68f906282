package syntax

import (
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

// gRecallOption is one option of RECALL. They may come in any order.
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
	seen := map[string]bool{}
	for _, o := range g.Options {
		name := o.into(r)
		if seen[name] {
			return nil, fault.Syntax("UnexpectedSyntax", spanOf(o.Tokens), "%s is given twice", name)
		}
		seen[name] = true
	}
	return r, nil
}

// into puts the option into its field, or into Options when it has none, and
// returns its name.
func (o *gRecallOption) into(r *Recall) string {
	name := strings.ToUpper(o.Tokens[0].Value)
	var args []Expr
	switch name {
	case "FROM":
		for _, s := range o.From {
			seed := &Seed{Span: spanOf(s.Tokens), Node: s.Node.E}
			if s.Weight != nil {
				seed.Weight = s.Weight.E
			}
			r.From = append(r.From, seed)
		}
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
			args = append(args, &Literal{Span: n.N.Span, Value: value.String(strings.ToUpper(n.N.Text))})
		}
	case "AT":
		args = []Expr{o.At.E}
	}
	r.Options = append(r.Options, &RecallOption{Span: spanOf(o.Tokens), Name: name, Args: args})
	return name
}
