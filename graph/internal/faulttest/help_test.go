package faulttest

import (
	"engram/graph"
	"engram/graph/value"
)

// createLabelled makes a node with a label and properties.
func createLabelled(tx *graph.Tx, label string, props ...value.Prop) error {
	l, err := tx.InternLabel(label)
	if err != nil {
		return err
	}
	keyed, err := keys(tx, props)
	if err != nil {
		return err
	}
	_, err = tx.CreateNode([]value.LabelID{l}, keyed)
	return err
}

// keys interns the keys of properties.
func keys(tx *graph.Tx, props []value.Prop) ([]value.KeyProp, error) {
	var out []value.KeyProp
	for _, p := range props {
		k, err := tx.InternKey(p.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, value.KeyProp{Key: k, Value: p.Value})
	}
	return out, nil
}
