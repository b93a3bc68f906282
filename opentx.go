package engram

import "sync"

// openTxs are the transactions of a database that have not ended.
type openTxs struct {
	mu      sync.Mutex
	all     map[*Tx]struct{}
	closing bool
}

// add notes a transaction; it refuses one that comes too late.
func (o *openTxs) add(tx *Tx) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing {
		return false
	}
	if o.all == nil {
		o.all = map[*Tx]struct{}{}
	}
	o.all[tx] = struct{}{}
	return true
}

func (o *openTxs) remove(tx *Tx) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, tx)
}

func (o *openTxs) isClosing() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closing
}

// endReading ends reading transactions, which might stay open for ever: those that
// run a statement at its end, the others now.
func (o *openTxs) endReading() {
	o.mu.Lock()
	o.closing = true
	var reading []*Tx
	for tx := range o.all {
		if !tx.write {
			reading = append(reading, tx)
		}
	}
	o.mu.Unlock()
	for _, tx := range reading {
		if tx.mu.TryLock() {
			tx.endLocked(errClosing())
			tx.mu.Unlock()
		}
	}
}

func errClosing() error {
	return newError(CodeClosed, "the transaction has ended: the database was closed meanwhile")
}
