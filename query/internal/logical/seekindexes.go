package logical

import "slices"

// mostWithin is up to how many nodes of a large graph an index may leave of a RECALL;
// of more than a quarter of the nodes it is quicker to look at those that fit.
const mostWithin = 1000

// narrowRecalls finds by an index what WHERE of a RECALL could keep, so that what
// has the words is not read to be dropped.
func (b *builder) narrowRecalls(op *Op) {
	r, ok := (*op).(*Recall)
	if !ok || r.Call.Where == nil || b.g == nil {
		return
	}
	est, have := newEstimator(b.g, nil), Defined(r.In)
	seek, rows := est.nodeIndex(conjuncts(r.Call.Where, nil), r.Call.Node, have)
	if seek == nil || rows > max(mostWithin, est.nodes("")/4) {
		return
	}
	seek.Unary = unary(&Argument{Slots: have.List()})
	r.Within = seek
}

// seekIndexes turns a scan whose nodes are filtered by label and by properties
// that an index knows into a seek, unless fewer nodes carry another label. The
// predicates on properties stay: the index finds candidates.
func (b *builder) seekIndexes(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	scan, ok := f.In.(*NodeScan)
	if !ok || scan.Label != "" {
		return
	}
	est := newEstimator(b.g, nil)
	seek, rows := est.nodeIndex(f.Preds, scan.Slot, Defined(scan.In))
	if seek == nil {
		return
	}
	for _, p := range f.Preds {
		if label, ok := labelTest(p, scan.Slot); ok && est.nodes(label) < rows {
			return
		}
	}
	seek.Unary = scan.Unary
	f.In = seek
	preds := slices.Clone(f.Preds)
	for i, p := range preds {
		if label, ok := labelTest(p, scan.Slot); ok && label == seek.Owner {
			f.Preds = slices.Delete(preds, i, i+1)
			return
		}
	}
}
