package logical

import "engram/query/internal/syntax"

// reachEnds lets an expansion of variable length find each end once, instead of
// every walk to it, where only the set of rows matters: below DISTINCT, below
// aggregates that don't care how often a value comes, and in EXISTS.
//
// Walks that use no edge twice reach the same ends as a breadth-first search
// does: a shortest walk repeats no edge. That holds from at most one edge on and
// for directed edges; without a direction the way back over the same edge would
// make a start its own end, so there only walks from length zero qualify, which
// start at an end of theirs anyway.
//
// It needs to know that nobody reads the list of edges, so it comes after
// pruneColumns.
func (b *builder) reachEnds(op Op, set bool) {
	if v, ok := op.(*VarExpand); ok {
		v.Reach = set && !v.Into && !v.Live.Has(v.Rel) && (v.Min == 0 || v.Min == 1 && v.Dir != syntax.Undirected)
	}
	inputs := op.Inputs()
	if len(inputs) == 0 {
		return
	}
	below := false
	switch o := op.(type) {
	case *Distinct:
		below = true
	case *Aggregate:
		below = ignoresRepeats(o)
	case *NodeScan, *IDSeek, *IndexSeek, *ValueJoin, *Expand, *BoundExpand, *VarExpand, *ShortestPath, *PathBuild, *Filter, *SemiJoin, *Project, *Unwind,
		*Sort, *Optional:
		below = set
	}
	b.reachEnds(*inputs[0], below)
	for _, inner := range inputs[1:] {
		_, optional := op.(*Optional)
		b.reachEnds(*inner, below && optional)
	}
}

// ignoresRepeats reports whether every aggregate is the same however often a
// value comes. The order of collect(DISTINCT) would change, so it doesn't count.
func ignoresRepeats(o *Aggregate) bool {
	for _, a := range o.Aggs {
		switch {
		case a.Name == "min", a.Name == "max":
		case a.Distinct && a.Name == "count":
		default:
			return false
		}
	}
	return true
}
