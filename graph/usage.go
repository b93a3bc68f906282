package graph

// StatementUsage returns what the last KeepStatementUsage kept beside the graph; nil
// when there is nothing, as for a graph in memory.
func (db *DB) StatementUsage() ([]byte, error) {
	if db.place.usage == nil {
		return nil, nil
	}
	b, err := db.place.usage()
	return b, wrap(err)
}

// KeepStatementUsage keeps what was counted of statements beside the graph, in place of
// what was kept before. It is no part of the graph: no transaction, no log, and a backup
// leaves it out. A graph in memory, or open for reading, keeps nothing.
func (db *DB) KeepStatementUsage(b []byte) error {
	if db.place.keepUsage == nil || db.readOnly {
		return nil
	}
	return wrap(db.place.keepUsage(b))
}
