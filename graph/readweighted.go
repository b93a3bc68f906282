package graph

import (
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// firstHops is for how many edges there is room at first: most nodes have fewer, and
// growing from nothing costs more than spreading does.
const firstHops = 256

// ExpandWeighted appends the edges of a node in both directions whose type is one
// of types (empty: any), with the weight they assert, in no order that means
// anything. No record is read.
func (tx *Tx) ExpandWeighted(id value.NodeID, types []value.TypeID, buf []value.Weighted) ([]value.Weighted, error) {
	if err := tx.check(); err != nil {
		return buf, err
	}
	slot, ok := tx.topo.NodeSlot(id)
	if !ok || tx.isHidden(id) {
		return buf, nil
	}
	if tx.hops == nil {
		tx.hops, tx.weights = make([]topo.Hop, 0, firstHops), make([]topo.EdgeWeight, 0, firstHops)
	}
	for _, dir := range [...]value.Direction{value.Out, value.In} {
		tx.hops = tx.topo.ExpandSlots(slot, dir, types, tx.hops[:0])
		tx.weights = tx.topo.Weights(tx.hops, tx.weights[:0])
		for i, h := range tx.hops {
			w := &tx.weights[i]
			if tx.hides() && tx.isHidden(tx.topo.NodeID(h.Node)) {
				continue
			}
			buf = append(buf, value.Weighted{
				Adjacent: value.Adjacent{Edge: tx.topo.EdgeID(h.Edge), Node: tx.topo.NodeID(h.Node), Type: h.Type, Out: h.Out},
				Weight:   w.Weight, Has: w.Has, Learned: w.Learned,
			})
		}
	}
	return buf, nil
}
