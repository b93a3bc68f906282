package graph

import (
	"engram/graph/internal/catalog"
	"engram/graph/value"
)

// Withhold makes the nodes with a label, and the edges that lead to them, as if they
// were not there, until it is called again; empty: none. No node gets the label
// meanwhile. What the planner estimates by, as EdgeCount does, is told as it is.
func (tx *Tx) Withhold(label string) {
	tx.withheld, tx.hide = label, 0
	if label == "" {
		return
	}
	if id, ok := tx.names.Lookup(catalog.Label, label); ok && tx.topo.NodeCount(value.LabelID(id)) > 0 {
		tx.hide = value.LabelID(id)
	}
}

// isHidden reports whether a node is withheld.
func (tx *Tx) isHidden(id value.NodeID) bool { return tx.hide != 0 && tx.topo.HasLabel(id, tx.hide) }

// isGone reports whether a node is withheld, or deleted without its edges.
func (tx *Tx) isGone(id value.NodeID) bool { return tx.isDying(id) || tx.isHidden(id) }

// hiddenWith is how many nodes with a label (0: any) are withheld.
func (tx *Tx) hiddenWith(label value.LabelID) (n int64) {
	if tx.hide == 0 {
		return 0
	}
	if label == 0 || label == tx.hide {
		return tx.topo.NodeCount(tx.hide)
	}
	buf := make([]value.NodeID, gatherChunk)
	for after := value.NodeID(0); ; {
		found := tx.topo.ScanNodes(tx.hide, after, buf)
		for _, id := range found {
			if tx.topo.HasLabel(id, label) {
				n++
			}
		}
		if len(found) < len(buf) {
			return n
		}
		after = found[len(found)-1]
	}
}

// expandVisible is Expand without what leads to a node that is withheld.
func (tx *Tx) expandVisible(id value.NodeID, dir value.Direction, types []value.TypeID, buf []value.Adjacent) []value.Adjacent {
	if tx.isHidden(id) {
		return buf
	}
	n := len(buf)
	all := tx.topo.Expand(id, dir, types, buf)
	kept := all[:n]
	for _, a := range all[n:] {
		if !tx.isHidden(a.Node) {
			kept = append(kept, a)
		}
	}
	return kept
}

// scanVisible is ScanEdges without what leads to a node that is withheld.
func (tx *Tx) scanVisible(t value.TypeID, after value.EdgeID, buf []value.EdgeID) []value.EdgeID {
	kept := buf[:0]
	for len(kept) < len(buf) {
		room := len(buf) - len(kept)
		found := tx.topo.ScanEdges(t, after, buf[len(kept):])
		for _, id := range found {
			after = id
			if _, _, _, ok := tx.EdgeEnds(id); ok {
				kept = append(kept, id)
			}
		}
		if len(found) < room {
			break
		}
	}
	return kept
}

// checkLabels refuses to give a node a label that is withheld, or to take it away.
func (tx *Tx) checkLabels(labels ...value.LabelID) error {
	if tx.withheld == "" {
		return nil
	}
	for _, l := range labels {
		if tx.LabelName(l) == tx.withheld {
			return fail(Withheld, "the label %s is withheld here", tx.withheld)
		}
	}
	return nil
}

// bare shows the transaction what is withheld, for what the graph itself has to know,
// until the function that it returns is called.
func (tx *Tx) bare() func() {
	hide := tx.hide
	tx.hide = 0
	return func() { tx.hide = hide }
}
