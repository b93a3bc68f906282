package graph

import "engram/graph/value"

// HasText reports whether a node has text that SearchText could find: a text
// field, or a property of a full-text index, that is not empty.
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
	if len(tx.schema.texts) == 0 {
		return false, nil
	}
	labels := tx.Labels(id, nil)
	for _, d := range tx.schema.texts {
		for _, k := range d.keys {
			if !tx.schema.texts.wants(id, labels, k) {
				continue
			}
			if v, err := tx.NodeProp(id, k); err != nil || textOf(v) != "" {
				return err == nil, err
			}
		}
	}
	return false, nil
}
