package graph

import (
	"slices"

	"engram/graph/internal/record"
	"engram/graph/value"
)

// DeleteNode removes a node and with detach its edges too; it reports how many
// edges went. Without detach the node may still have edges: EndStatement, and
// so the commit, fails unless they are deleted as well.
//
// The edges of a hub are hidden at once, while their records are left to the
// sweeper: removing a million records in one transaction would double the file
// and slow every later commit.
func (tx *Tx) DeleteNode(id value.NodeID, detach bool) (edges int64, err error) {
	if err := tx.checkWrite(); err != nil {
		return 0, err
	}
	if !tx.NodeExists(id) {
		return 0, nil
	}
	if edges = tx.topo.Degree(id, value.Both, nil); edges > 0 && !detach {
		tx.w.dying[id] = struct{}{}
		return 0, nil
	}
	e := tx.w.nodes[id]
	if edges > 0 && (edges <= tx.db.opts.HubEdges || e != nil && e.added) {
		for _, adj := range tx.topo.Expand(id, value.Both, nil, nil) {
			if _, err := tx.DeleteEdge(adj.Edge); err != nil {
				return 0, err
			}
		}
	}
	return edges, tx.dropNode(id)
}

// dropNode removes the node's own records; edges that are left are hidden.
func (tx *Tx) dropNode(id value.NodeID) error {
	e, err := tx.editNode(id)
	if err != nil {
		return err
	}
	if err := tx.declareAll(nodeElement(id, e.rec), false); err != nil {
		return err
	}
	if p, ok := record.GetProp(e.rec.Props, idKey); ok {
		v, err := tx.nodeValue(id, p)
		if err != nil {
			return err
		}
		tx.indexNode(id, v, value.Null)
	}
	for _, p := range e.rec.Props {
		if p.Overflow {
			e.freed = append(e.freed, p.Key)
		}
		e.text = e.text || tx.isText(p.Key)
	}
	e.deleted = true
	tx.w.ed.DeleteNode(id)
	// Edge records are left when the node is a hub, and when the other end of an
	// edge is a hub that is not swept yet.
	if len(tx.topo.DoomedEdges(id, 1, nil)) > 0 {
		tx.w.graves[id] = true
	}
	return nil
}

// EndStatement checks what must hold at the end of each statement: nodes that
// were deleted without their edges have none left, and the constraints are kept.
// An error dooms the transaction.
func (tx *Tx) EndStatement() error {
	if tx.w == nil || tx.err != nil {
		return tx.check()
	}
	if len(tx.w.dying) > 0 {
		if err := tx.endDying(); err != nil {
			return err
		}
	}
	if c := &tx.w.declared; len(c.unique) > 0 || len(c.needed) > 0 {
		if err := tx.checkConstraints(); err != nil {
			return tx.doom(err)
		}
	}
	return nil
}

// endDying drops the nodes that were deleted without their edges.
func (tx *Tx) endDying() error {
	dying := make([]value.NodeID, 0, len(tx.w.dying))
	for id := range tx.w.dying {
		dying = append(dying, id)
	}
	slices.Sort(dying)
	for _, id := range dying {
		if n := tx.topo.Degree(id, value.Both, nil); n > 0 {
			return tx.doom(errConnected(id, n))
		}
	}
	for _, id := range dying {
		delete(tx.w.dying, id)
		if err := tx.dropNode(id); err != nil {
			return tx.doom(err)
		}
	}
	return nil
}
