package logical

import "engram/query/internal/bound"

// exprsOf returns the expressions of op itself.
func exprsOf(op Op) []bound.Expr {
	var out []bound.Expr
	add := func(es ...bound.Expr) {
		for _, e := range es {
			if e != nil {
				out = append(out, e)
			}
		}
	}
	sets := func(items []*bound.SetItem) {
		for _, it := range items {
			if p, ok := it.Target.(*bound.Prop); ok {
				add(p.E, it.Value)
				continue
			}
			add(it.Target, it.Value)
		}
	}
	switch o := op.(type) {
	case *NodeScan:
		add(o.After)
	case *IDSeek:
		add(o.ID)
	case *IndexSeek:
		add(o.exprs()...)
	case *ValueJoin:
		add(o.Probe)
	case *VarExpand:
		for _, p := range o.Props {
			add(p.Expr)
		}
		add(o.Within.wheres()...)
	case *ShortestPath:
		for _, p := range o.Props {
			add(p.Expr)
		}
		add(o.Within.wheres()...)
	case *Filter:
		add(o.Preds...)
	case *SemiJoin:
		add(o.Sub)
	case *Project:
		for _, it := range o.Items {
			add(it.Expr)
		}
	case *Aggregate:
		for _, it := range o.Group {
			add(it.Expr)
		}
		for _, a := range o.Aggs {
			add(a.Args...)
		}
	case *Sort:
		for _, k := range o.Keys {
			add(k.Expr)
		}
	case *TopK:
		for _, k := range o.Keys {
			add(k.Expr)
		}
		add(o.Skip, o.Limit)
	case *Skip:
		add(o.N)
	case *Limit:
		add(o.N)
	case *Unwind:
		add(o.List)
	case *Create:
		for _, p := range o.Patterns {
			eachPatternExpr(p, func(e bound.Expr) { add(e) })
		}
	case *Merge:
		eachPatternExpr(o.Pattern, func(e bound.Expr) { add(e) })
		sets(o.OnCreate)
		sets(o.OnMatch)
	case *Set:
		sets(o.Items)
	case *Delete:
		add(o.Exprs...)
	case *Foreach:
		add(o.List)
	case *CallProc:
		add(o.Call.Args...)
	case *Remember:
		add(o.Call.Text, o.Call.Props)
	case *Recall:
		add(o.Call.Exprs()...)
	}
	return out
}
