package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// lookUpCounts reads a count of all nodes, the nodes of a label, all edges or
// the edges of some types from the statistics, which are exact, instead of
// counting.
func lookUpCounts(op *Op) {
	a, ok := (*op).(*Aggregate)
	if !ok || len(a.Group) > 0 || len(a.Aggs) != 1 || a.Aggs[0].Name != "count" || a.Aggs[0].Distinct {
		return
	}
	arg, ok := countedSlot(a.Aggs[0])
	if !ok {
		return
	}
	c := &CountLookup{Slot: a.Aggs[0].Slot}
	scan, isScan := a.In.(*NodeScan)
	if e, ok := a.In.(*Expand); ok {
		scan, isScan = e.In.(*NodeScan)
		if !isScan || scan.Label != "" || e.From != scan.Slot || e.Into || len(e.Unique) > 0 || e.Dir == syntax.Undirected {
			return
		}
		if arg >= 0 && arg != e.Rel && arg != e.To && arg != e.From {
			return
		}
		c.Edges, c.Types = true, e.Types
	} else if !isScan || arg >= 0 && arg != scan.Slot {
		return
	}
	if _, ok := scan.In.(*Argument); !ok {
		return
	}
	c.Label, c.In = scan.Label, scan.In
	c.Args = a.Args
	*op = c
}

// countedSlot returns the slot that count counts, or -1 for count(*). It is
// false for anything else.
func countedSlot(a bound.Agg) (int, bool) {
	switch len(a.Args) {
	case 0:
		return -1, true
	case 1:
		s, ok := a.Args[0].(*bound.Slot)
		if !ok {
			return 0, false
		}
		return s.Index, true
	}
	return 0, false
}
