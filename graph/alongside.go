package graph

// OnlyReads reports whether the graph is open for reading only: then searches fill
// indexes of their own in memory, and those on disk are not opened.
func (tx *Tx) OnlyReads() bool { return tx.db.readOnly }

// Alongside begins a reading transaction for a look at the whole graph from within a
// writing one, which keeps the write slot meanwhile. It shows what is durable; that is
// refused when the writing transaction has changed something, which would be missing
// from it. It must be ended by Rollback.
func (tx *Tx) Alongside() (*Tx, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	if tx.w != nil && !tx.w.empty() {
		return nil, fail(InvalidArgument, "the transaction has changed the graph already, which this would not see; do it first, or in a statement of its own")
	}
	return tx.db.LongSnapshot()
}
