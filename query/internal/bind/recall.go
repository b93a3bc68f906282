package bind

import (
	"slices"
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// recallFields are what a clause of the kind RECALL can yield, in the order of the
// documentation.
func recallFields(c *syntax.Recall) []Field {
	number, text, truth := bound.OneOf(value.KindFloat), bound.OneOf(value.KindString), bound.OneOf(value.KindBool)
	count := bound.OneOf(value.KindInt)
	switch {
	case c.WhyNot:
		return []Field{{"node", nodeType}, {"recalled", truth}, {"reason", text}}
	case c.Verb == syntax.VerbActivate:
		return []Field{
			{"node", nodeType},
			{"activation", number},
			{"weight", number},
			{"promoted", truth},
			{"suppressed_by", nodeType},
			{"path", pathType},
			{"reason", text},
		}
	case c.Verb == syntax.VerbCompile:
		return []Field{
			{"text", text},
			{"tokens", count},
			{"nodes", bound.ListOf(nodeType)},
			{"considered", count},
			{"delivered", count},
			{"withheld", count},
			{"rule", text},
			{"rest_reachable", truth},
		}
	}
	return []Field{
		{"node", nodeType},
		{"score", number},
		{"lexical", number},
		{"semantic", number},
		{"activation", number},
		{"salience", number},
		{"recency", number},
		{"path", pathType},
		{"why", text},
		{"receipt", text},
	}
}

// usualFields are what is yielded without YIELD.
func usualFields(c *syntax.Recall) []string {
	switch {
	case c.WhyNot:
		return []string{"node", "recalled", "reason"}
	case c.Verb == syntax.VerbActivate:
		return []string{"node", "activation", "weight", "promoted", "suppressed_by"}
	case c.Verb == syntax.VerbCompile:
		return []string{"text", "tokens"}
	}
	return []string{"node", "score"}
}

// recall binds RECALL, ACTIVATE or COMPILE. As the last clause it returns what it
// yields.
func (s *single) recall(c *syntax.Recall, last bool) {
	clause := c.Verb.String()
	out := &bound.Recall{Span: c.Span, Verb: c.Verb, Via: texts(c.Via), Not: texts(c.Not), Self: c.Self}
	if c.Query != nil {
		kinds := kString
		if c.Verb == syntax.VerbRecall {
			kinds |= kList | kNode
		}
		out.Query = s.expr(c.Query, clause)
		s.b.demand(out.Query, kinds, clause)
	}
	from := "FROM"
	if c.Verb == syntax.VerbActivate {
		from = clause
	}
	for _, seed := range c.From {
		node := s.expr(seed.Node, from)
		s.b.demand(node, kNode|kList, from)
		out.From = append(out.From, bound.Seed{Node: node, Weight: s.number(seed.Weight, "WEIGHT")})
	}
	out.Depth = s.count(c.Depth, "DEPTH")
	out.Limit = s.count(c.Limit, "LIMIT")
	s.recallOptions(c, out)
	if c.WhyNot && s.b.writes {
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.Span, "EXPLAIN ... NOT runs the statement, so the statement can't write"))
	}
	yield := c.Yield
	if yield == nil {
		for _, f := range usualFields(c) {
			yield = append(yield, &syntax.YieldItem{Span: c.Span, Field: &syntax.Name{Span: c.Span, Text: f}})
		}
	}
	s.candidate(c, yield, out)
	out.Yields = s.yields(yield, recallFields(c), clause)
	s.emit(out)
	if last && s.outer == nil {
		s.returnYields(out.Yields, c.Span)
	}
}

// kMoment are the kinds that say when.
var kMoment = bound.Of(value.KindDateTime, value.KindLocalDateTime, value.KindDate)

// recallOptions binds the options without fields of their own in the syntax tree.
func (s *single) recallOptions(c *syntax.Recall, out *bound.Recall) {
	window := ""
	for _, o := range c.Options {
		switch o.Name {
		case "IN LAYERS":
			out.Layers = s.option(o, 0, kList)
		case "AS OF":
			out.AsOf = s.option(o, 0, kMoment)
		case "WITHIN":
			out.Within = s.option(o, 0, kDuration)
		case "BETWEEN":
			out.Since, out.Until = s.option(o, 0, kMoment), s.option(o, 1, kMoment)
		case "AT":
			out.Reference = s.option(o, 0, kMoment)
		case "BUDGET":
			out.Budget = s.count(o.Args[0], "BUDGET")
		case "OF CONVERSATION":
			out.Conversation = s.option(o, 0, kString)
		case "NOT":
			out.Missing = s.option(o, 0, kNode|kString)
			if !c.WhyNot {
				s.b.fail(fault.Syntax("UnexpectedSyntax", o.Span, "NOT belongs to EXPLAIN RECALL ... NOT node"))
			}
		case "INCLUDING":
			out.Including = s.including(o)
		case "REINFORCE":
			out.Reinforce = true
		}
		if o.Name == "WITHIN" || o.Name == "BETWEEN" {
			if window != "" {
				s.b.fail(fault.Syntax("UnexpectedSyntax", o.Span, "%s and %s both say which time is meant", window, o.Name).
					WithHint("Give one of them."))
			}
			window = o.Name
		}
	}
}

// option binds an argument of an option that must be of some kinds.
func (s *single) option(o *syntax.RecallOption, i int, kinds bound.Kinds) bound.Expr {
	out := s.expr(o.Args[i], o.Name)
	s.b.demand(out, kinds, o.Name)
	return out
}

// including checks what INCLUDING names, and returns it in the usual order.
func (s *single) including(o *syntax.RecallOption) []string {
	var asked []string
	for _, a := range o.Args {
		word := strings.ToUpper(a.(*syntax.Literal).Value.AsString())
		if !slices.Contains(bound.Included, word) {
			err := fault.Syntax("UnexpectedSyntax", a.At(), "INCLUDING knows no %s", word)
			if near := fault.Nearest(word, bound.Included); near != "" {
				err = err.WithHint("Did you mean %s?", near)
			} else {
				err = err.WithHint("It knows %s.", strings.Join(bound.Included, ", "))
			}
			s.b.fail(err)
		}
		asked = append(asked, word)
	}
	var out []string
	for _, word := range bound.Included {
		if slices.Contains(asked, word) {
			out = append(out, word)
		}
	}
	return out
}

// count binds an optional integer that is not a negative literal.
func (s *single) count(e syntax.Expr, what string) bound.Expr {
	if e == nil {
		return nil
	}
	out := s.expr(e, what)
	s.b.demand(out, kInt, what)
	if n, ok := constantInt(out); ok && n < 0 {
		s.b.fail(fault.Syntax("NegativeIntegerArgument", e.At(), "%s can't be negative", what))
	}
	return out
}

// candidate binds WHERE, which reads the candidate as node and as the name that
// YIELD gives it.
func (s *single) candidate(c *syntax.Recall, yield []*syntax.YieldItem, out *bound.Recall) {
	around := s.scope
	s.scope = around.clone()
	out.Node = s.scope.declare("node", nodeType)
	for _, y := range yield {
		if y.Field.Text == "node" && y.As != nil {
			s.scope.slots[y.As.Text] = out.Node
		}
	}
	out.Where = s.predicate(c.Where, "WHERE")
	s.scope = around
}
