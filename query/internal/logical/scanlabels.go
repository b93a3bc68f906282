package logical

import "slices"

// scanLabels turns a scan whose nodes are filtered by label into a scan of the
// rarest of the labels.
func (b *builder) scanLabels(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	scan, ok := f.In.(*NodeScan)
	if !ok || scan.Label != "" {
		return
	}
	est := newEstimator(b.g, nil)
	best, bestCount := -1, 0.0
	for i, p := range f.Preds {
		label, ok := labelTest(p, scan.Slot)
		if !ok {
			continue
		}
		if n := est.nodes(label); best < 0 || n < bestCount {
			best, bestCount = i, n
		}
	}
	if best < 0 {
		return
	}
	scan.Label, _ = labelTest(f.Preds[best], scan.Slot)
	f.Preds = slices.Delete(slices.Clone(f.Preds), best, best+1)
	if len(f.Preds) == 0 {
		*op = scan
	}
}
