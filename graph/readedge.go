package graph

import (
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// Expand appends the edges of a node in direction dir whose type is one of
// types (empty: any), ordered by type, neighbour and edge id.
func (tx *Tx) Expand(id value.NodeID, dir value.Direction, types []value.TypeID, buf []value.Adjacent) ([]value.Adjacent, error) {
	if err := tx.check(); err != nil {
		return buf, err
	}
	if tx.hides() {
		return tx.expandVisible(id, dir, types, buf), nil
	}
	return tx.topo.Expand(id, dir, types, buf), nil
}

// Degree returns how many edges Expand would append.
func (tx *Tx) Degree(id value.NodeID, dir value.Direction, types []value.TypeID) int64 {
	if tx.hides() {
		return int64(len(tx.expandVisible(id, dir, types, nil)))
	}
	return tx.topo.Degree(id, dir, types)
}

// EdgeEnds returns the ends and the type of an edge. Of one that this
// transaction deleted it reports false, but still says what it was.
func (tx *Tx) EdgeEnds(id value.EdgeID) (src, dst value.NodeID, t value.TypeID, ok bool) {
	src, dst, t, ok = tx.topo.EdgeEnds(id)
	if ok && (tx.isHidden(src) || tx.isHidden(dst)) {
		return 0, 0, 0, false
	}
	if ok || tx.w == nil {
		return src, dst, t, ok
	}
	if e := tx.w.edges[id]; e != nil {
		return e.rec.Src, e.rec.Dst, e.rec.Type, false
	}
	src, dst, t, _ = tx.base.topo.EdgeEnds(id) // of a hub that was deleted here
	return src, dst, t, false
}

// ScanEdges fills buf with ids greater than after, in ascending order, of edges
// of a type (0: any). A short fill means the end.
func (tx *Tx) ScanEdges(t value.TypeID, after value.EdgeID, buf []value.EdgeID) ([]value.EdgeID, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	if tx.hides() {
		return tx.scanVisible(t, after, buf), nil
	}
	return tx.topo.ScanEdges(t, after, buf), nil
}

// blockPayload reads and verifies a block of edges as the base has it; nil when
// there is none.
func (tx *Tx) blockPayload(block uint64) ([]byte, error) {
	slot := &tx.blocks[block%cacheSize]
	if slot.id == block+1 {
		return slot.payload, nil
	}
	k := blockKey(block)
	sealed, err := tx.src.Get(store.Edges, k)
	if sealed == nil || err != nil {
		return nil, wrap(err)
	}
	payload, err := tx.open(store.Edges, k, sealed)
	if err != nil {
		return nil, err
	}
	*slot = cachedRecord{id: block + 1, payload: payload}
	return payload, nil
}

// edge returns an edge's record, own writes included; nil when it is not there.
// It must not be changed.
func (tx *Tx) edge(id value.EdgeID) (*record.Edge, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	if _, _, _, ok := tx.topo.EdgeEnds(id); !ok {
		return nil, nil
	}
	if tx.w != nil {
		if e := tx.w.edges[id]; e != nil {
			return &e.rec, nil
		}
	}
	e, err := tx.storedEdge(id)
	if e == nil && err == nil {
		err = wrap(tx.db.seal.Damaged(store.Edges, blockKey(record.BlockOf(id)), "an edge is missing"))
	}
	return e, err
}

// storedEdge reads an edge as the base has it, whether or not its ends live; nil
// when there is no record.
func (tx *Tx) storedEdge(id value.EdgeID) (*record.Edge, error) {
	payload, err := tx.blockPayload(record.BlockOf(id))
	if payload == nil || err != nil {
		return nil, err
	}
	e, err := record.EdgeInBlock(id, payload)
	if err != nil {
		return nil, tx.damaged(store.Edges, blockKey(record.BlockOf(id)), err)
	}
	return e, nil
}

func (tx *Tx) edgeValue(id value.EdgeID, p record.Prop) (value.Value, error) {
	if !p.Overflow {
		return p.Value, nil
	}
	return tx.overflow(edgeOverflow(id, p.Key))
}

// EdgeProp returns a property, Null when the edge is not there or does not have
// it. For key id of an edge without a stored id it is the external id.
func (tx *Tx) EdgeProp(id value.EdgeID, k value.KeyID) (value.Value, error) {
	if attr, kept := tx.keys.edge[k]; kept && tx.err == nil {
		if v, state := tx.topo.EdgeAttr(id, attr); state != topo.SeeRecord {
			return v, nil
		}
	}
	if err := tx.check(); err != nil || k == 0 {
		return value.Null, err
	}
	if _, _, _, ok := tx.topo.EdgeEnds(id); !ok {
		return value.Null, nil
	}
	p, ok, err := tx.storedEdgeProp(id, k)
	if err != nil {
		return value.Null, err
	}
	if !ok && k == idKey {
		ms, _ := tx.topo.EdgeCreated(id)
		return value.String(tx.db.tag.Edge(id, ms)), nil
	}
	return tx.edgeValue(id, p)
}

// storedEdgeProp finds a property in the record of an edge that is there.
func (tx *Tx) storedEdgeProp(id value.EdgeID, k value.KeyID) (p record.Prop, ok bool, err error) {
	if tx.w != nil {
		if e := tx.w.edges[id]; e != nil {
			p, ok = record.GetProp(e.rec.Props, k)
			return p, ok, nil
		}
	}
	block := record.BlockOf(id)
	payload, err := tx.blockPayload(block)
	if err != nil {
		return p, false, err
	}
	there := false
	if payload != nil {
		if p, there, ok, err = record.EdgePropInBlock(id, payload, k); err != nil {
			return p, false, tx.damaged(store.Edges, blockKey(block), err)
		}
	}
	if !there {
		err = wrap(tx.db.seal.Damaged(store.Edges, blockKey(block), "an edge is missing"))
	}
	return p, ok, err
}

// EdgeKeys appends the keys of the edge's stored properties in ascending order.
func (tx *Tx) EdgeKeys(id value.EdgeID, buf []value.KeyID) ([]value.KeyID, error) {
	e, err := tx.edge(id)
	if e == nil || err != nil {
		return buf, err
	}
	for _, p := range e.Props {
		buf = append(buf, p.Key)
	}
	return buf, nil
}

// LoadEdge copies the whole edge out; nil when there is none.
func (tx *Tx) LoadEdge(id value.EdgeID) (*value.Edge, error) {
	e, err := tx.edge(id)
	if e == nil || err != nil {
		return nil, err
	}
	out := &value.Edge{ID: id, Type: tx.RelTypeName(e.Type), Src: e.Src, Dst: e.Dst}
	if out.Properties, err = tx.namedProps(e.Props, func(k value.KeyID) []byte { return edgeOverflow(id, k) }); err != nil {
		return nil, err
	}
	out.ElementID = stringID(out.Properties)
	if out.ElementID == "" {
		out.ElementID = tx.db.tag.Edge(id, e.CreatedMS)
	}
	if out.SrcElementID, err = tx.ElementID(e.Src); err != nil {
		return nil, err
	}
	out.DstElementID, err = tx.ElementID(e.Dst)
	return out, err
}
