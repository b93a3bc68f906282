package graph

import "engram/graph/value"

// HasText reports whether a node has text that SearchText could find: a text
// field that is not empty.
func (tx *Tx) HasText(id value.NodeID) (bool, error) {
	for _, field := range tx.db.opts.TextFields {
		k, ok := tx.Key(field)
		if !ok {
			continue
		}
		v, err := tx.NodeProp(id, k)
		if err != nil {
			return false, err
		}
		if v.AsString() != "" {
			return true, nil
		}
	}
	return false, nil
}
