package graph

import (
	"slices"

	"engram/graph/value"
)

// gatherHot fills out with what needs no record, and returns the positions that
// do.
func (tx *Tx) gatherHot(ids []value.NodeID, k value.KeyID, out []value.Value) ([]int, error) {
	at := slices.Grow(tx.see[:0], len(ids))
	dying := tx.hides() || tx.w != nil && len(tx.w.dying) > 0
	col, hot := tx.keys.hot[k]
	if hot && !dying {
		at = tx.topo.GatherHot(ids, col, out, at)
	} else {
		for i, id := range ids {
			if !tx.NodeExists(id) {
				out[i] = value.Null
				continue
			}
			at = append(at, i)
		}
	}
	tx.see = at
	if tx.w == nil && len(ids) > 1 {
		return at, nil
	}
	missing := at[:0]
	for _, i := range at {
		if len(ids) > 1 && tx.w.nodes[ids[i]] == nil {
			missing = append(missing, i)
			continue
		}
		var err error
		if out[i], err = tx.NodeProp(ids[i], k); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// ScanNodesWithin is ScanNodes for the nodes whose property is a number within
// bounds. ok is false when it knows no quicker way than to look at every node. The
// scan goes on after the id that it returns, unless done.
func (tx *Tx) ScanNodesWithin(
	label value.LabelID, after value.NodeID, k value.KeyID, in value.Bounds, buf []value.NodeID,
) (found []value.NodeID, last value.NodeID, done, ok bool, err error) {
	if err := tx.check(); err != nil {
		return nil, 0, false, false, err
	}
	col, hot := tx.keys.hot[k]
	if !hot || tx.hides() || tx.w != nil && len(tx.w.dying) > 0 {
		return nil, 0, false, false, nil
	}
	var bad error
	see := func(id value.NodeID) bool {
		v, err := tx.NodeProp(id, k)
		if err != nil && bad == nil {
			bad = err
		}
		return err == nil && in.Contains(v)
	}
	found, last, done = tx.topo.ScanHot(label, after, col, in, see, buf)
	return found, last, done, true, bad
}

// FirstLabels fills out with the first of each node's labels; 0 for a node
// without one and for one that is not there.
func (tx *Tx) FirstLabels(ids []value.NodeID, out []value.LabelID) {
	tx.topo.FirstLabels(ids, out)
	if !tx.hides() && (tx.w == nil || len(tx.w.dying) == 0) {
		return
	}
	for i, id := range ids {
		if tx.isGone(id) {
			out[i] = 0
		}
	}
}
