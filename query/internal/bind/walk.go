package bind

import "engram/query/internal/syntax"

// children calls visit for the direct subexpressions of e, in order of text.
// Patterns and subqueries inside e are not entered: see patternParts.
func children(e syntax.Expr, visit func(syntax.Expr)) {
	each := func(es ...syntax.Expr) {
		for _, x := range es {
			if x != nil {
				visit(x)
			}
		}
	}
	switch e := e.(type) {
	case *syntax.Property:
		each(e.E)
	case *syntax.Index:
		each(e.E, e.I)
	case *syntax.Slice:
		each(e.E, e.From, e.To)
	case *syntax.ListLit:
		each(e.Elems...)
	case *syntax.MapLit:
		each(e.Values...)
	case *syntax.MapProjection:
		each(e.E)
		for _, item := range e.Items {
			each(item.Value)
		}
	case *syntax.Unary:
		each(e.E)
	case *syntax.Binary:
		each(e.L, e.R)
	case *syntax.IsNull:
		each(e.E)
	case *syntax.IsTyped:
		each(e.E)
	case *syntax.HasLabels:
		each(e.E)
	case *syntax.Func:
		each(e.Args...)
	case *syntax.Case:
		each(e.Test)
		for i := range e.When {
			each(e.When[i], e.Then[i])
		}
		each(e.Else)
	case *syntax.ListComp:
		each(e.List, e.Where, e.Proj)
	case *syntax.Quantifier:
		each(e.List, e.Where)
	case *syntax.Reduce:
		each(e.Init, e.List, e.E)
	}
}

// names gathers the identifiers that expressions, patterns and clauses mention,
// each once, in order of text. Variables of comprehensions are left out, but
// not those that patterns and clauses bind: it is a superset of the free
// variables.
type names struct {
	seen  map[string]bool
	list  []string
	local map[string]int // names bound by comprehensions around, how often
}

func (n *names) add(name string) {
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	if !n.seen[name] && n.local[name] == 0 {
		n.seen[name] = true
		n.list = append(n.list, name)
	}
}

func (n *names) ident(name *syntax.Name) {
	if name != nil {
		n.add(name.Text)
	}
}

func (n *names) expr(e syntax.Expr) {
	switch e := e.(type) {
	case nil:
		return
	case *syntax.Variable:
		n.add(e.Text)
	case *syntax.PatternExpr:
		n.pattern(e.Pattern)
	case *syntax.PatternComp:
		n.pattern(e.Pattern)
		n.expr(e.Where)
		n.expr(e.Proj)
	case *syntax.Subquery:
		n.query(e.Query)
	case *syntax.ListComp:
		n.expr(e.List)
		n.inside(func() { n.exprs(e.Where, e.Proj) }, e.Var)
		return
	case *syntax.Quantifier:
		n.expr(e.List)
		n.inside(func() { n.expr(e.Where) }, e.Var)
		return
	case *syntax.Reduce:
		n.exprs(e.Init, e.List)
		n.inside(func() { n.expr(e.E) }, e.Acc, e.Var)
		return
	}
	children(e, n.expr)
}

// inside runs visit where the given locals hide other variables.
func (n *names) inside(visit func(), locals ...*syntax.Name) {
	if n.local == nil {
		n.local = map[string]int{}
	}
	for _, l := range locals {
		n.local[l.Text]++
	}
	visit()
	for _, l := range locals {
		n.local[l.Text]--
	}
}

func (n *names) exprs(es ...syntax.Expr) {
	for _, e := range es {
		n.expr(e)
	}
}

func (n *names) pattern(p *syntax.Pattern) {
	n.ident(p.Var)
	for i, node := range p.Nodes {
		n.ident(node.Var)
		n.exprs(node.Props, node.Where)
		n.exprs(dynamicExprs(node.Dynamic)...)
		if i < len(p.Rels) {
			n.ident(p.Rels[i].Var)
			n.exprs(p.Rels[i].Props, p.Rels[i].Where)
			n.exprs(dynamicExprs(p.Rels[i].Dynamic)...)
		}
	}
}

func (n *names) query(q *syntax.Query) {
	for _, part := range q.Parts {
		n.clauses(part.Clauses)
	}
}

func (n *names) clauses(cs []syntax.Clause) {
	for _, c := range cs {
		n.clause(c)
	}
}

func (n *names) clause(c syntax.Clause) {
	switch c := c.(type) {
	case *syntax.Match:
		for _, p := range c.Patterns {
			n.pattern(p)
		}
	case *syntax.CallSubquery:
		for _, name := range c.Imports {
			n.ident(name)
		}
		n.query(c.Query)
	}
	clauseExprs(c, n.expr)
}

// mentions reports whether e contains an expression that test accepts. It does
// not enter patterns and subqueries.
func mentions(e syntax.Expr, test func(syntax.Expr) bool) bool {
	if e == nil {
		return false
	}
	if test(e) {
		return true
	}
	found := false
	children(e, func(c syntax.Expr) { found = found || mentions(c, test) })
	return found
}
