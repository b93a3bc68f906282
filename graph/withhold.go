package graph

import (
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/value"
)

// Withhold makes the nodes with any of some labels, and the edges that lead to them, as
// if they were not there, until it is called again; without labels: none. No node gets
// one of the labels meanwhile. What the planner estimates by, as EdgeCount does, is told
// as it is.
func (tx *Tx) Withhold(labels ...string) {
	tx.withheld, tx.hide = labels, nil
	for _, label := range labels {
		if id, ok := tx.names.Lookup(catalog.Label, label); ok && tx.topo.NodeCount(value.LabelID(id)) > 0 {
			tx.hide = append(tx.hide, value.LabelID(id))
		}
	}
}

// hides reports whether any node is withheld.
func (tx *Tx) hides() bool { return len(tx.hide) != 0 }

// isHidden reports whether a node is withheld.
func (tx *Tx) isHidden(id value.NodeID) bool { return tx.hasAny(id, tx.hide) }

func (tx *Tx) hasAny(id value.NodeID, labels []value.LabelID) bool {
	for _, l := range labels {
		if tx.topo.HasLabel(id, l) {
			return true
		}
	}
	return false
}

// isGone reports whether a node is withheld, or deleted without its edges.
func (tx *Tx) isGone(id value.NodeID) bool { return tx.isDying(id) || tx.isHidden(id) }

// hiddenWith is how many nodes with a label (0: any) are withheld.
func (tx *Tx) hiddenWith(label value.LabelID) (n int64) {
	if slices.Contains(tx.hide, label) {
		return tx.topo.NodeCount(label)
	}
	for i, hidden := range tx.hide {
		if i == 0 && label == 0 {
			n = tx.topo.NodeCount(hidden)
			continue
		}
		buf := make([]value.NodeID, gatherChunk)
		for after, more := value.NodeID(0), true; more; {
			found := tx.topo.ScanNodes(hidden, after, buf)
			for _, id := range found {
				if (label == 0 || tx.topo.HasLabel(id, label)) && !tx.hasAny(id, tx.hide[:i]) { // each counts once
					n++
				}
				after = id
			}
			more = len(found) == len(buf)
		}
	}
	return n
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

// CountEdges returns how many edges of a type (0: any) ScanEdges tells of.
func (tx *Tx) CountEdges(t value.TypeID) (n int64, err error) {
	if !tx.hides() {
		return tx.EdgeCount(t), tx.check()
	}
	buf := make([]value.EdgeID, gatherChunk)
	for after := value.EdgeID(0); ; {
		found, err := tx.ScanEdges(t, after, buf)
		n += int64(len(found))
		if err != nil || len(found) < len(buf) {
			return n, err
		}
		after = found[len(found)-1]
	}
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
	if len(tx.withheld) == 0 {
		return nil
	}
	for _, l := range labels {
		if name := tx.LabelName(l); slices.Contains(tx.withheld, name) {
			return fail(Withheld, "the label %s is withheld here", name)
		}
	}
	return nil
}

// bare shows the transaction what is withheld, for what the graph itself has to know,
// until the function that it returns is called.
func (tx *Tx) bare() func() {
	hide := tx.hide
	tx.hide = nil
	return func() { tx.hide = hide }
}
