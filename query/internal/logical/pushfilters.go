package logical

import "engram/query/internal/bound"

// pushFilters moves the predicates of a filter down through the operators of a
// pattern to where all that they read has just become known. Predicates that
// read no slot stay: they may be random.
func pushFilters(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	kept := f.Preds[:0:0]
	for _, p := range f.Preds {
		if len(SlotsOf(p).List()) == 0 || !sink(&f.In, p) {
			kept = append(kept, p)
		}
	}
	f.Preds = kept
	if len(kept) == 0 {
		*op = f.In
	}
}

// sink puts a predicate below the operator at op, as deep as it goes, and
// reports whether that was possible.
func sink(op *Op, pred bound.Expr) bool {
	switch (*op).(type) {
	case *NodeScan, *IDSeek, *IndexSeek, *ValueJoin, *Expand, *BoundExpand, *VarExpand, *ShortestPath, *PathBuild, *Filter:
	default:
		return false
	}
	in := (*op).Inputs()[0]
	if !Defined(*in).Covers(SlotsOf(pred)) {
		return false
	}
	if sink(in, pred) {
		return true
	}
	if f, ok := (*in).(*Filter); ok {
		f.Preds = append(f.Preds, pred)
		return true
	}
	if f, ok := (*op).(*Filter); ok {
		f.Preds = append(f.Preds, pred)
		return true
	}
	*in = &Filter{Unary: unary(*in), Preds: []bound.Expr{pred}}
	return true
}
