package logical

import "engram/query/internal/bound"

// Defined returns the slots that have a value behind op.
func Defined(op Op) Slots {
	if a, ok := op.(*Argument); ok {
		return Slots(nil).With(a.Slots...)
	}
	return definedBehind(op, Defined(*op.Inputs()[0]))
}

// definedBehind is Defined for an operator whose input is known.
func definedBehind(op Op, in Slots) Slots {
	switch o := op.(type) {
	case *Aggregate:
		in = Slots(nil).With(o.Args...)
	case *CountLookup:
		in = Slots(nil).With(o.Args...)
	}
	return in.With(Defines(op)...)
}

// definitions remembers Defined of the operators of a tree that does not change
// meanwhile, so that asking for all of a long chain takes one walk.
type definitions map[Op]Slots

func (d definitions) of(op Op) Slots {
	if _, ok := op.(*Argument); ok {
		return Defined(op)
	}
	s, ok := d[op]
	if !ok {
		s = definedBehind(op, d.of(*op.Inputs()[0]))
		d[op] = s
	}
	return s
}

// Defines returns the slots that op itself gives a value.
func Defines(op Op) []int {
	switch o := op.(type) {
	case *NodeScan:
		return []int{o.Slot}
	case *IDSeek:
		return []int{o.Slot}
	case *IndexSeek:
		return []int{o.Slot}
	case *ValueJoin:
		return []int{o.Slot}
	case *Expand:
		if o.Into {
			return []int{o.Rel}
		}
		return []int{o.Rel, o.To}
	case *BoundExpand:
		var out []int
		if !o.FromBound {
			out = append(out, o.From)
		}
		if !o.ToBound {
			out = append(out, o.To)
		}
		return out
	case *VarExpand:
		if o.Into {
			return []int{o.Rel}
		}
		return []int{o.Rel, o.To}
	case *ShortestPath:
		return []int{o.Rel}
	case *PathBuild:
		return []int{o.Slot}
	case *Project:
		var out []int
		for _, it := range o.Items {
			out = append(out, it.Slot)
		}
		return out
	case *Aggregate:
		var out []int
		for _, it := range o.Group {
			out = append(out, it.Slot)
		}
		for _, a := range o.Aggs {
			out = append(out, a.Slot)
		}
		return out
	case *CountLookup:
		return []int{o.Slot}
	case *Optional:
		return o.New
	case *Unwind:
		return []int{o.Slot}
	case *Create:
		return Created(o.Patterns...)
	case *Merge:
		return o.New
	case *CallProc:
		var out []int
		for _, y := range o.Call.Yields {
			out = append(out, y.Slot)
		}
		return out
	case *CallSubquery:
		return o.Call.Out
	case *Remember:
		return []int{o.Call.Slot, o.Call.Created}
	case *Recall:
		var out []int
		for _, y := range o.Call.Yields {
			out = append(out, y.Slot)
		}
		return out
	}
	return nil
}

// Reads returns the slots of its input that op itself reads.
func Reads(op Op) Slots {
	switch o := op.(type) {
	case *IDSeek:
		return SlotsOf(o.ID)
	case *IndexSeek:
		return SlotsOf(o.exprs()...)
	case *ValueJoin:
		return SlotsOf(o.Probe)
	case *Expand:
		out := usedSlots(o.Unique).With(o.From)
		if o.Into {
			out = out.With(o.To)
		}
		return out
	case *BoundExpand:
		out := usedSlots(o.Unique).With(o.Rel)
		if o.FromBound {
			out = out.With(o.From)
		}
		if o.ToBound {
			out = out.With(o.To)
		}
		return out
	case *VarExpand:
		out := usedSlots(o.Unique).With(o.From).Union(propSlots(o.Props)).Union(SlotsOf(o.Within.wheres()...))
		if o.Into {
			out = out.With(o.To)
		}
		return out
	case *ShortestPath:
		return usedSlots(o.Unique).With(o.From, o.To).Union(propSlots(o.Props)).Union(SlotsOf(o.Within.wheres()...))
	case *PathBuild:
		return Slots(nil).With(patternSlots(o.Pattern)...).Without(o.Slot)
	case *Filter:
		return SlotsOf(o.Preds...)
	case *SemiJoin:
		return SlotsOf(o.Sub)
	case *Degree:
		return Slots(nil).With(o.From)
	case *Project:
		return itemSlots(o.Items)
	case *Aggregate:
		out := itemSlots(o.Group).With(o.Args...)
		for _, a := range o.Aggs {
			out = out.Union(SlotsOf(a.Args...))
		}
		return out
	case *Distinct:
		return Slots(nil).With(o.Slots...)
	case *Sort:
		return keySlots(o.Keys)
	case *TopK:
		return keySlots(o.Keys)
	case *Unwind:
		return SlotsOf(o.List)
	}
	return writeReads(op)
}

// writeReads is Reads for the operators that write or call.
func writeReads(op Op) Slots {
	switch o := op.(type) {
	case *Create:
		return patternReads(o.Patterns...)
	case *Merge:
		return patternReads(o.Pattern).Union(setSlots(o.OnCreate)).Union(setSlots(o.OnMatch)).Without(o.New...)
	case *Set:
		return setSlots(o.Items)
	case *Remove:
		var out Slots
		for _, it := range o.Items {
			out = out.Union(SlotsOf(it.Target))
		}
		return out
	case *Delete:
		return SlotsOf(o.Exprs...)
	case *Foreach:
		return SlotsOf(o.List)
	case *CallProc:
		return SlotsOf(o.Call.Args...)
	case *CallSubquery:
		return Slots(nil).With(o.Call.Outer...)
	case *Remember:
		out := SlotsOf(o.Call.Text, o.Call.Props)
		for _, l := range o.Call.Links {
			out = out.With(l.Node).Union(SlotsOf(l.Weight))
		}
		return out
	case *Recall:
		return SlotsOf(o.Call.Exprs()...).Without(o.Call.Node)
	}
	return nil
}

func usedSlots(used []Used) Slots {
	var out Slots
	for _, u := range used {
		out = out.With(u.Slot)
	}
	return out
}

func itemSlots(items []bound.Item) Slots {
	var out Slots
	for _, it := range items {
		out = out.Union(SlotsOf(it.Expr))
	}
	return out
}

func keySlots(keys []bound.Sort) Slots {
	var out Slots
	for _, k := range keys {
		out = out.Union(SlotsOf(k.Expr))
	}
	return out
}

func propSlots(props []bound.PropPat) Slots {
	var out Slots
	for _, p := range props {
		out = out.Union(SlotsOf(p.Expr))
	}
	return out
}

func setSlots(items []*bound.SetItem) Slots {
	var out Slots
	for _, it := range items {
		out = out.Union(SlotsOf(it.Target, it.Value))
	}
	return out
}

// patternSlots returns every slot of patterns: nodes, edges and paths.
func patternSlots(patterns ...*bound.Pattern) []int {
	var out Slots
	for _, p := range patterns {
		out = out.With(p.Path)
		for _, n := range p.Nodes {
			out = out.With(n.Slot)
		}
		for _, r := range p.Rels {
			out = out.With(r.Slot)
		}
	}
	return out.List()
}

// patternReads returns the slots that a pattern reads: those of its expressions
// and those that have a value already.
func patternReads(patterns ...*bound.Pattern) Slots {
	var out Slots
	for _, p := range patterns {
		eachPatternExpr(p, func(e bound.Expr) { out = out.Union(SlotsOf(e)) })
		for _, n := range p.Nodes {
			if n.Bound {
				out = out.With(n.Slot)
			}
		}
		for _, r := range p.Rels {
			if r.Bound {
				out = out.With(r.Slot)
			}
		}
	}
	return out
}

// Created returns the slots that CREATE or MERGE fills when it creates
// patterns: those without a value before, and paths.
func Created(patterns ...*bound.Pattern) []int {
	var out Slots
	for _, p := range patterns {
		out = out.With(p.Path)
		for _, n := range p.Nodes {
			if !n.Bound {
				out = out.With(n.Slot)
			}
		}
		for _, r := range p.Rels {
			if !r.Bound {
				out = out.With(r.Slot)
			}
		}
	}
	return out.List()
}
