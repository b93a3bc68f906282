package logical

import "slices"

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
