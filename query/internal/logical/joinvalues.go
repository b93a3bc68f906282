package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// joinValues turns a scan for every input row, of which those nodes are kept
// whose property equals something of the input, into one scan and a look-up a
// row. The predicate stays: the look-up goes by hash.
func joinValues(op *Op) {
	f, ok := (*op).(*Filter)
	if !ok {
		return
	}
	scan, ok := f.In.(*NodeScan)
	if !ok {
		return
	}
	if oneRow(scan.In) {
		return
	}
	have := Defined(scan.In)
	for _, p := range f.Preds {
		eq, ok := p.(*bound.Binary)
		if !ok || eq.Op != syntax.OpEq {
			continue
		}
		key, probe := eq.L, eq.R
		if _, ok := propOf(key, scan.Slot); !ok {
			key, probe = probe, key
		}
		name, ok := propOf(key, scan.Slot)
		if !ok || !seekable(probe, scan.Slot, have) || len(SlotsOf(probe).List()) == 0 {
			continue
		}
		f.In = &ValueJoin{Unary: scan.Unary, Slot: scan.Slot, Label: scan.Label, Key: name, Probe: probe}
		return
	}
}

// oneRow reports whether op yields at most one row: then a table is not worth
// its making.
func oneRow(op Op) bool {
	switch o := op.(type) {
	case *Argument, *CountLookup:
		return true
	case *IDSeek:
		return !o.Any && oneRow(o.In)
	case *Filter:
		return oneRow(o.In)
	case *Project:
		return oneRow(o.In)
	case *Aggregate:
		return len(o.Group) == 0
	}
	return false
}
