package notice

import (
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

type (
	labelID = value.LabelID
	typeID  = value.TypeID
	keyID   = value.KeyID
)

func (w *walker) query(q *bound.Query) {
	for _, part := range q.Parts {
		for _, c := range part.Clauses {
			w.clause(c)
		}
	}
}

func (w *walker) clause(c bound.Clause) {
	switch c := c.(type) {
	case *bound.Match:
		for _, p := range c.Patterns {
			w.reads(p)
		}
		w.exprs(c.Where)
	case *bound.Unwind:
		w.exprs(c.List)
	case *bound.Project:
		w.project(c)
	case *bound.Create:
		for _, p := range c.Patterns {
			w.creates(p)
		}
	case *bound.Merge:
		w.creates(c.Pattern)
		w.sets(c.OnCreate)
		w.sets(c.OnMatch)
	case *bound.Set:
		w.sets(c.Items)
	case *bound.Delete:
		w.exprs(c.Exprs...)
	case *bound.Foreach:
		w.exprs(c.List)
		for _, inner := range c.Body {
			w.clause(inner)
		}
	case *bound.CallProc:
		w.anyProperty = w.anyProperty || c.Writes // what memories become is noted in properties
		w.exprs(c.Args...)
		w.exprs(c.Where)
	case *bound.CallSubquery:
		w.query(c.Query)
	case *bound.Remember:
		w.remembers(c)
	case *bound.Recall:
		w.recalls(c)
	}
}

func (w *walker) project(c *bound.Project) {
	for _, items := range [][]bound.Item{c.Group, c.Items} {
		for _, it := range items {
			w.exprs(it.Expr)
		}
	}
	for _, a := range c.Aggs {
		w.exprs(a.Args...)
	}
	for _, s := range c.OrderBy {
		w.exprs(s.Expr)
	}
	w.exprs(c.Where)
}

// reads looks at a pattern that has to be there.
func (w *walker) reads(p *bound.Pattern) {
	for _, n := range p.Nodes {
		labels(n.Labels, func(l *syntax.LabelName) { w.label(l.Text, l.At()) })
		w.props(n.Props)
		w.exprs(n.PropsFrom, n.Where)
	}
	for _, r := range p.Rels {
		for _, t := range r.Types {
			w.relType(t, r.Span)
		}
		w.props(r.Props)
		w.exprs(r.PropsFrom, r.Where)
	}
}

func (w *walker) props(props []bound.PropPat) {
	for _, p := range props {
		w.key(p.Key, p.Expr.At())
		w.exprs(p.Expr)
	}
}

// creates looks at a pattern that is made.
func (w *walker) creates(p *bound.Pattern) {
	made := func(props []bound.PropPat, from bound.Expr) {
		for _, p := range props {
			w.writes(UnknownProperty, p.Key)
			w.exprs(p.Expr)
		}
		w.anyProperty = w.anyProperty || from != nil
	}
	for _, n := range p.Nodes {
		labels(n.Labels, func(l *syntax.LabelName) { w.writes(UnknownLabel, l.Text) })
		made(n.Props, n.PropsFrom)
	}
	for _, r := range p.Rels {
		w.writes(UnknownRelationType, r.Types...)
		made(r.Props, r.PropsFrom)
	}
}

func (w *walker) sets(items []*bound.SetItem) {
	for _, it := range items {
		switch it.Kind {
		case syntax.SetProperty:
			w.writes(UnknownProperty, it.Key)
		case syntax.SetLabels:
			w.writes(UnknownLabel, it.Labels...)
		case syntax.UnsetLabels:
		default:
			w.anyProperty = true
		}
		w.exprs(it.Value)
	}
}

// remembers: a memory has properties that the clause does not name.
func (w *walker) remembers(c *bound.Remember) {
	w.anyProperty = true
	w.writes(UnknownLabel, "Memory")
	w.writes(UnknownRelationType, vocab.Supersedes, vocab.Related)
	w.writes(UnknownLabel, c.Labels...)
	for _, l := range c.Links {
		w.writes(UnknownRelationType, l.Type)
	}
	w.exprs(c.Text, c.Props)
}

func (w *walker) recalls(c *bound.Recall) {
	w.included = w.included || slices.Contains(c.Including, w.class)
	for _, types := range [][]string{c.Via, c.Not} {
		for _, t := range types {
			w.relType(t, c.Span)
		}
	}
	w.exprs(c.Exprs()...)
}

// exprs looks at expressions; nil ones are left out.
func (w *walker) exprs(list ...bound.Expr) {
	entity := bound.Of(value.KindNode, value.KindEdge)
	for _, e := range list {
		bound.Walk(e, func(e bound.Expr) {
			switch e := e.(type) {
			case *bound.Prop:
				if e.E.Type().Only(entity) {
					w.key(e.Key, e.Span)
				}
			case *bound.HasLabels:
				visit := w.label
				if e.E.Type().Only(bound.Of(value.KindEdge)) {
					visit = w.relType
				}
				labels(e.Labels, func(l *syntax.LabelName) { visit(l.Text, l.At()) })
			case *bound.Subquery:
				w.query(e.Query)
			}
		})
	}
}
