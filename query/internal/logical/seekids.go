package logical

import "slices"

// seekIDs turns a scan whose nodes are filtered by id = e or id IN e into a
// seek.
func seekIDs(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	scan, ok := f.In.(*NodeScan)
	if !ok {
		return
	}
	have := Defined(scan.In)
	for i, p := range f.Preds {
		id, any, ok := idTest(p, scan.Slot, have)
		if !ok {
			continue
		}
		f.In = &IDSeek{Unary: scan.Unary, Slot: scan.Slot, ID: id, Any: any}
		f.Preds = slices.Delete(slices.Clone(f.Preds), i, i+1)
		if len(f.Preds) == 0 {
			*op = f.In
		}
		return
	}
}
