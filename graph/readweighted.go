package graph

import "engram/graph/value"

// ExpandWeighted appends the edges of a node in both directions whose type is one
// of types (empty: any), with the weight they assert, in no order that means
// anything. No record is read.
func (tx *Tx) ExpandWeighted(id value.NodeID, types []value.TypeID, buf []value.Weighted) ([]value.Weighted, error) {
	if err := tx.check(); err != nil {
		return buf, err
	}
	slot, ok := tx.topo.NodeSlot(id)
	if !ok {
		return buf, nil
	}
	for _, dir := range [...]value.Direction{value.Out, value.In} {
		tx.hops = tx.topo.ExpandSlots(slot, dir, types, tx.hops[:0])
		for _, h := range tx.hops {
			w, has := tx.topo.WeightSlot(h.Edge)
			learned, _ := tx.topo.LearnedSlot(h.Edge)
			buf = append(buf, value.Weighted{
				Adjacent: value.Adjacent{Edge: tx.topo.EdgeID(h.Edge), Node: tx.topo.NodeID(h.Node), Type: h.Type, Out: h.Out},
				Weight:   w, Has: has, Learned: learned,
			})
		}
	}
	return buf, nil
}
