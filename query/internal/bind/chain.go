package bind

import (
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// maxChained is how deep comparison chains may stand in the middle of others. In
// a < b < c the tree holds b twice, so each level doubles the work of every
// later stage.
const maxChained = 4

// checkChains refuses statements whose trees would blow up. It runs before
// anything else walks the tree and sees each part once.
func (b *binder) checkChains(q *syntax.Query) {
	c := chains{}
	c.query(q)
	if c.deepest > maxChained {
		b.fail(fault.New(fault.ResourceExhausted, fault.CompileTime, "NestingTooDeep", c.at,
			"comparison chains such as a < b < c stand more than %d deep inside each other", maxChained).
			WithHint("Compute the inner ones with WITH first."))
	}
}

// chains finds how deep chains are nested.
type chains struct {
	deepest int
	at      syntax.Span // of the deepest
}

// expr returns how deep chains are nested in e, and in its right operand if it
// is binary.
func (c *chains) expr(e syntax.Expr) (depth, right int) {
	add := func(x syntax.Expr) {
		if x != nil {
			d, _ := c.expr(x)
			depth = max(depth, d)
		}
	}
	switch e := e.(type) {
	case *syntax.Binary:
		if link, ok := chainLink(e); ok {
			l, middle := c.expr(e.L)
			right, _ = c.expr(link.R)
			depth = max(l, middle+1, right)
			if depth > c.deepest {
				c.deepest, c.at = depth, e.Span
			}
			return depth, right
		}
		add(e.L)
		right, _ = c.expr(e.R)
		return max(depth, right), right
	case *syntax.PatternExpr:
		patternExprs(e.Pattern, add)
	case *syntax.PatternComp:
		patternExprs(e.Pattern, add)
		add(e.Where)
		add(e.Proj)
	case *syntax.Subquery:
		return c.query(e.Query), 0
	}
	children(e, add)
	return depth, 0
}

// chainLink returns the last comparison of a chain a < b < c, when e is one.
func chainLink(e *syntax.Binary) (*syntax.Binary, bool) {
	link, ok := e.R.(*syntax.Binary)
	if !ok || e.Op != syntax.OpAnd {
		return nil, false
	}
	before, ok := e.L.(*syntax.Binary)
	if ok && before.Op == syntax.OpAnd {
		before, ok = before.R.(*syntax.Binary)
	}
	return link, ok && before.R == link.L
}

func (c *chains) query(q *syntax.Query) (depth int) {
	for _, part := range q.Parts {
		for _, clause := range part.Clauses {
			if call, ok := clause.(*syntax.CallSubquery); ok {
				depth = max(depth, c.query(call.Query))
			}
			clauseExprs(clause, func(e syntax.Expr) {
				d, _ := c.expr(e)
				depth = max(depth, d)
			})
		}
	}
	return depth
}

// clauseExprs calls visit for the expressions of a clause, subqueries of CALL
// left out. None of them is nil.
func clauseExprs(c syntax.Clause, visit func(syntax.Expr)) {
	each := func(es ...syntax.Expr) {
		for _, e := range es {
			if e != nil {
				visit(e)
			}
		}
	}
	patterns := func(ps ...*syntax.Pattern) {
		for _, p := range ps {
			patternExprs(p, visit)
		}
	}
	sets := func(items []*syntax.SetItem) {
		for _, it := range items {
			each(it.Target, it.Value)
			each(dynamicExprs(it.Dynamic)...)
		}
	}
	switch c := c.(type) {
	case *syntax.Match:
		patterns(c.Patterns...)
		each(c.Where)
	case *syntax.Unwind:
		each(c.List)
	case *syntax.Projection:
		for _, it := range c.Items {
			each(it.Expr)
		}
		for _, s := range c.OrderBy {
			each(s.Expr)
		}
		each(c.Skip, c.Limit, c.Where)
	case *syntax.Create:
		patterns(c.Patterns...)
	case *syntax.Merge:
		patterns(c.Pattern)
		sets(c.OnCreate)
		sets(c.OnMatch)
	case *syntax.Set:
		sets(c.Items)
	case *syntax.Remove:
		for _, it := range c.Items {
			each(it.Target)
			each(dynamicExprs(it.Dynamic)...)
		}
	case *syntax.Delete:
		each(c.Exprs...)
	case *syntax.Foreach:
		each(c.List)
		for _, inner := range c.Body {
			clauseExprs(inner, visit)
		}
	case *syntax.Call:
		each(c.Args...)
		each(c.Where)
	case *syntax.Remember:
		each(c.Text, c.Props)
		for _, l := range c.Links {
			each(l.Weight)
		}
	case *syntax.Recall:
		each(c.Query, c.Where, c.Depth, c.Limit)
		for _, s := range c.From {
			each(s.Node, s.Weight)
		}
		for _, o := range c.Options {
			each(o.Args...)
		}
	}
}

// patternExprs calls visit for the expressions of a pattern.
func patternExprs(p *syntax.Pattern, visit func(syntax.Expr)) {
	each := func(es ...syntax.Expr) {
		for _, e := range es {
			if e != nil {
				visit(e)
			}
		}
	}
	for i, n := range p.Nodes {
		each(n.Props, n.Where)
		each(dynamicExprs(n.Dynamic)...)
		if i < len(p.Rels) {
			each(p.Rels[i].Props, p.Rels[i].Where)
			each(dynamicExprs(p.Rels[i].Dynamic)...)
		}
	}
}
