package graph

import (
	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// CreateEdge stores an edge between living nodes. Null property values are left
// out. A string id that another edge has is an error.
func (tx *Tx) CreateEdge(src, dst value.NodeID, t value.TypeID, props []value.KeyProp) (value.EdgeID, error) {
	if err := tx.checkWrite(); err != nil {
		return 0, err
	}
	for _, end := range []value.NodeID{src, dst} {
		if !tx.NodeExists(end) {
			return 0, errNoNode(end)
		}
	}
	if err := tx.checkRelation(t, src, dst); err != nil {
		return 0, err
	}
	stored, bytes, err := storedProps(props)
	if err != nil {
		return 0, err
	}
	idProp, hasID := record.GetProp(stored, idKey)
	if hasID {
		if err := tx.checkEdgeID(0, idProp.Value); err != nil {
			return 0, err
		}
	}
	n, err := tx.newID(&tx.db.ids.edge)
	if err != nil {
		return 0, err
	}
	id := value.EdgeID(n)
	rec := record.Edge{ID: id, Type: t, Src: src, Dst: dst, CreatedMS: tx.db.nowMS(), Props: stored}
	init := topo.EdgeInit{CreatedMs: rec.CreatedMS}
	for _, p := range stored {
		if a, ok := tx.keys.edge[p.Key]; ok {
			setInit(&init, a, p.Value)
			tx.w.attrs = append(tx.w.attrs, logentry.AttrSet{ID: id, Key: p.Key, Value: p.Value})
		}
	}
	if err := tx.w.ed.AddEdge(id, src, dst, t, init); err != nil {
		return 0, tx.doom(wrap(err))
	}
	tx.w.edges[id] = &edgeEdit{rec: rec, added: true}
	tx.w.blocks[record.BlockOf(id)] = struct{}{}
	if hasID {
		tx.reindex(true, n, value.Null, idProp.Value)
	}
	if err := tx.declareAll(edgeElement(&rec), true); err != nil {
		return 0, tx.doom(err)
	}
	return id, tx.charge(bytes + 24)
}

func setInit(init *topo.EdgeInit, a topo.EdgeAttr, v value.Value) {
	switch a {
	case topo.Weight:
		init.Weight = v
	case topo.Layer:
		init.Layer = v
	case topo.Inhibitory:
		init.Inhibitory = v
	}
}

// checkEdgeID refuses a string id that another edge has, or that would be
// mistaken for a derived one.
func (tx *Tx) checkEdgeID(self value.EdgeID, v value.Value) error {
	if v.Kind() != value.KindString {
		return nil
	}
	s := v.AsString()
	if id, _, derived := tx.db.tag.ParseEdge(s); derived && id != self {
		return errReservedID("relationship", s)
	}
	k, _, _ := indexKey(true, v)
	n, err := tx.indexed(k)
	if err != nil || n == 0 || value.EdgeID(n) == self {
		return err
	}
	other, err := tx.edge(value.EdgeID(n)) // nil: an edge of a deleted hub
	if other == nil || err != nil {
		return err
	}
	if len(s) > key.StringMax {
		p, _ := record.GetProp(other.Props, idKey)
		if v, err := tx.edgeValue(other.ID, p); err != nil || v.AsString() != s {
			return err
		}
	}
	return errTaken("relationship", s)
}

// editEdge returns the transaction's own copy of a living edge.
func (tx *Tx) editEdge(id value.EdgeID) (*edgeEdit, error) {
	if err := tx.checkWrite(); err != nil {
		return nil, err
	}
	rec, err := tx.edge(id)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, errNoEdge(id)
	}
	if e := tx.w.edges[id]; e != nil {
		return e, nil
	}
	e := &edgeEdit{rec: *rec}
	tx.w.edges[id] = e
	tx.w.blocks[record.BlockOf(id)] = struct{}{}
	return e, tx.charge(24)
}

// SetEdgeProp sets one property; Null removes it. It reports what was there.
func (tx *Tx) SetEdgeProp(id value.EdgeID, k value.KeyID, v value.Value) (value.Value, error) {
	if !v.IsNull() {
		if err := checkStorable(v); err != nil {
			return value.Null, err
		}
	}
	e, err := tx.editEdge(id)
	if err != nil {
		return value.Null, err
	}
	p, had := record.GetProp(e.rec.Props, k)
	if !had && v.IsNull() {
		return value.Null, nil
	}
	old, err := tx.edgeValue(id, p)
	if err != nil {
		return value.Null, err
	}
	if k == idKey {
		if err := tx.checkEdgeID(id, v); err != nil {
			return value.Null, err
		}
		tx.reindex(true, uint64(id), old, v)
	}
	if err := tx.declareProp(edgeElement(&e.rec), k, false); err != nil {
		return value.Null, err
	}
	if p.Overflow {
		e.freed = append(e.freed, k)
	}
	e.rec.Props = record.SetProp(e.rec.Props, k, v)
	if err := tx.declareProp(edgeElement(&e.rec), k, true); err != nil {
		return value.Null, tx.doom(err)
	}
	if a, ok := tx.keys.edge[k]; ok {
		if err := tx.w.ed.SetEdgeAttr(id, a, v); err != nil {
			return value.Null, tx.doom(wrap(err))
		}
		tx.w.attrs = append(tx.w.attrs, logentry.AttrSet{ID: id, Key: k, Value: v})
	}
	return old, tx.charge(sizeOf(v))
}

// DeleteEdge removes an edge.
func (tx *Tx) DeleteEdge(id value.EdgeID) (deleted bool, err error) {
	if err := tx.checkWrite(); err != nil {
		return false, err
	}
	if _, _, _, ok := tx.topo.EdgeEnds(id); !ok {
		return false, nil
	}
	e, err := tx.editEdge(id)
	if err != nil {
		return false, err
	}
	if err := tx.dropEdgeExtras(id, e); err != nil {
		return false, err
	}
	e.deleted = true
	tx.w.ed.DeleteEdge(id)
	return true, nil
}

// dropEdgeExtras removes what an edge has outside of its block.
func (tx *Tx) dropEdgeExtras(id value.EdgeID, e *edgeEdit) error {
	if err := tx.declareAll(edgeElement(&e.rec), false); err != nil {
		return err
	}
	if p, ok := record.GetProp(e.rec.Props, idKey); ok {
		v, err := tx.edgeValue(id, p)
		if err != nil {
			return err
		}
		// A swept edge's string id may belong to a newer edge by now.
		k, unique, _ := indexKey(true, v)
		if !unique {
			tx.reindex(true, uint64(id), v, value.Null)
		} else if n, err := tx.indexed(k); err != nil {
			return err
		} else if n == uint64(id) {
			tx.w.setIndex(k, nil)
		}
	}
	for _, p := range e.rec.Props {
		if p.Overflow {
			e.freed = append(e.freed, p.Key)
		}
	}
	return nil
}
