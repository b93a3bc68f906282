package logical

import "engram/query/internal/bound"

// asks are what subqueries in expressions want to know.
var asks = map[bound.SubqueryKind]ask{bound.Exists: askSome, bound.Count: askCount, bound.Collect: askRows}

// exprs plans the subqueries inside expressions; nil ones are passed over.
func (b *builder) exprs(exprs ...bound.Expr) error {
	var err error
	for _, e := range exprs {
		Walk(e, func(e bound.Expr) {
			s, ok := e.(*bound.Subquery)
			if !ok || err != nil || b.subs[s] != nil {
				return
			}
			b.subs[s], err = b.queryFor(asks[s.Kind], s.Query)
		})
	}
	return err
}

func (b *builder) projectExprs(c *bound.Project) error {
	if err := b.exprs(c.Skip, c.Limit, c.Where); err != nil {
		return err
	}
	for _, items := range [][]bound.Item{c.Group, c.Items} {
		for _, it := range items {
			if err := b.exprs(it.Expr); err != nil {
				return err
			}
		}
	}
	for _, a := range c.Aggs {
		if err := b.exprs(a.Args...); err != nil {
			return err
		}
	}
	for _, k := range c.OrderBy {
		if err := b.exprs(k.Expr); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) setExprs(items []*bound.SetItem) error {
	for _, it := range items {
		if err := b.exprs(it.Target, it.Value); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) patternExprs(patterns ...*bound.Pattern) error {
	var err error
	for _, p := range patterns {
		eachPatternExpr(p, func(e bound.Expr) {
			if err == nil {
				err = b.exprs(e)
			}
		})
	}
	return err
}

// eachPatternExpr visits the property and WHERE expressions of a pattern.
func eachPatternExpr(p *bound.Pattern, visit func(bound.Expr)) {
	one := func(props []bound.PropPat, from, where bound.Expr) {
		for _, pp := range props {
			visit(pp.Expr)
		}
		if from != nil {
			visit(from)
		}
		if where != nil {
			visit(where)
		}
	}
	for _, n := range p.Nodes {
		one(n.Props, n.PropsFrom, n.Where)
		if n.LabelsFrom != nil {
			visit(n.LabelsFrom)
		}
	}
	for _, r := range p.Rels {
		one(r.Props, r.PropsFrom, r.Where)
		if r.TypeFrom != nil {
			visit(r.TypeFrom)
		}
	}
}

func (b *builder) rememberExprs(c *bound.Remember) error {
	if err := b.exprs(c.Text, c.Props); err != nil {
		return err
	}
	for _, l := range c.Links {
		if err := b.exprs(l.Weight); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) recallExprs(c *bound.Recall) error {
	return b.exprs(c.Exprs()...)
}
