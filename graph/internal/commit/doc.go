// Package commit makes transactions durable over the store seam: one write slot,
// a memtable of finished but not yet durable write-sets, one committer goroutine
// that makes many of them durable with one Apply, and snapshots that pair the
// store with the caller's immutable version V of what is derived from it.
//
//	slot, err := engine.AcquireSlot(ctx)        // one writer at a time executes
//	old, err := slot.Get(store.Nodes, key)      // sees everything finished before
//	ticket := slot.Finish(puts, nextV, "")      // frees the slot at once
//	seq, outcome, err := ticket.Wait(ctx)       // answer the client only now
//
// V is opaque: the graph passes its topology with schema and text state. DESIGN.md
// tells the flows and the invariants.
package commit
