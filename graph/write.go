package graph

import (
	"encoding/binary"
	"slices"

	"engram/graph/internal/extid"
	"engram/graph/internal/key"
	"engram/graph/internal/logentry"
	"engram/graph/internal/record"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// nowMS is the creation time of new elements.
func (db *DB) nowMS() int64 { return extid.ClampMS(db.opts.Now().UnixMilli()) }

// storedProps sorts properties by key, leaves Nulls out and lets the last of a
// key win.
func storedProps(props []value.KeyProp) ([]record.Prop, int, error) {
	out := make([]record.Prop, 0, len(props))
	bytes := 0
	for _, p := range props {
		if !p.Value.IsNull() {
			if err := checkStorable(p.Value); err != nil {
				return nil, 0, err
			}
			bytes += sizeOf(p.Value)
		}
		out = record.SetProp(out, p.Key, p.Value)
	}
	return out, bytes, nil
}

func checkStorable(v value.Value) error {
	if err := value.CheckStorable(v); err != nil {
		return &Error{Code: InvalidArgument, Detail: "InvalidPropertyType", Message: err.Error(), Err: err}
	}
	return nil
}

// CreateNode stores a node. Null property values are left out. A string id that
// is taken already is an error.
func (tx *Tx) CreateNode(labels []value.LabelID, props []value.KeyProp) (value.NodeID, error) {
	if err := tx.checkWrite(); err != nil {
		return 0, err
	}
	if err := tx.checkLabels(labels...); err != nil {
		return 0, err
	}
	stored, bytes, err := storedProps(props)
	if err != nil {
		return 0, err
	}
	idProp, hasID := record.GetProp(stored, idKey)
	if hasID {
		if err := tx.checkNodeID(0, idProp.Value); err != nil {
			return 0, err
		}
	}
	n, err := tx.newID(&tx.db.ids.node)
	if err != nil {
		return 0, err
	}
	id := value.NodeID(n)
	rec := &record.Node{CreatedMS: tx.db.nowMS(), Labels: sortedLabels(labels), Props: stored}
	e := &nodeEdit{rec: rec, added: true}
	var hot []topo.HotValue
	for _, p := range stored {
		if col, ok := tx.keys.hot[p.Key]; ok {
			hot = append(hot, topo.HotValue{Column: col, Value: p.Value})
			tx.w.hot = append(tx.w.hot, logentry.HotSet{ID: id, Key: p.Key, Value: p.Value})
		}
		e.text = e.text || tx.isText(p.Key)
	}
	if err := tx.w.ed.AddNode(id, rec.Labels, hot, rec.CreatedMS); err != nil {
		return 0, tx.doom(wrap(err))
	}
	tx.w.nodes[id] = e
	if hasID {
		tx.indexNode(id, value.Null, idProp.Value)
	}
	if err := tx.declareAll(nodeElement(id, rec), true); err != nil {
		return 0, tx.doom(err)
	}
	return id, tx.charge(bytes + 32 + 4*len(labels))
}

func sortedLabels(labels []value.LabelID) []value.LabelID {
	if len(labels) == 0 {
		return nil
	}
	out := slices.Clone(labels)
	slices.Sort(out)
	return slices.Compact(out)
}

func (tx *Tx) isText(k value.KeyID) bool {
	_, ok := tx.keys.text[k]
	return ok || tx.schema.texts.key(k)
}

// checkNodeID refuses a string id that another node has, or that would be
// mistaken for a derived one.
func (tx *Tx) checkNodeID(self value.NodeID, v value.Value) error {
	if v.Kind() != value.KindString {
		return nil
	}
	s := v.AsString()
	defer tx.bare()()
	other, err := tx.nodeByString(s)
	if err != nil {
		return err
	}
	if other != 0 && other != self {
		return errTaken("node", s)
	}
	if id, _, derived := tx.db.tag.ParseNode(s); derived && id != self {
		return errReservedID("node", s)
	}
	return nil
}

// indexNode moves the index entry of a node's id from one value to another.
func (tx *Tx) indexNode(id value.NodeID, old, new value.Value) {
	tx.reindex(false, uint64(id), old, new)
}

func (tx *Tx) reindex(edge bool, id uint64, old, new value.Value) {
	if k, unique, ok := indexKey(edge, old); ok {
		if !unique {
			k = key.Uint(k, id)
		}
		tx.w.setIndex(k, nil)
	}
	if k, unique, ok := indexKey(edge, new); ok {
		payload := []byte{}
		if unique {
			payload = binary.AppendUvarint(nil, id)
		} else {
			k = key.Uint(k, id)
		}
		tx.w.setIndex(k, payload)
	}
}

// editNode returns the transaction's own copy of a living node.
func (tx *Tx) editNode(id value.NodeID) (*nodeEdit, error) {
	if err := tx.checkWrite(); err != nil {
		return nil, err
	}
	rec, err := tx.node(id)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, errNoNode(id)
	}
	if e := tx.w.nodes[id]; e != nil {
		return e, nil
	}
	e := &nodeEdit{rec: rec}
	tx.w.nodes[id] = e
	bytes := 32
	for _, p := range rec.Props {
		bytes += sizeOf(p.Value)
	}
	return e, tx.charge(bytes)
}

// SetNodeProp sets one property; Null removes it. It reports what was there.
func (tx *Tx) SetNodeProp(id value.NodeID, k value.KeyID, v value.Value) (value.Value, error) {
	if !v.IsNull() {
		if err := checkStorable(v); err != nil {
			return value.Null, err
		}
	}
	e, err := tx.editNode(id)
	if err != nil {
		return value.Null, err
	}
	p, had := record.GetProp(e.rec.Props, k)
	if !had && v.IsNull() {
		return value.Null, nil
	}
	old, err := tx.nodeValue(id, p)
	if err != nil {
		return value.Null, err
	}
	if k == idKey {
		if err := tx.checkNodeID(id, v); err != nil {
			return value.Null, err
		}
		tx.indexNode(id, old, v)
	}
	if err := tx.declareProp(nodeElement(id, e.rec), k, false); err != nil {
		return value.Null, err
	}
	if p.Overflow {
		e.freed = append(e.freed, k)
	}
	e.rec.Props = record.SetProp(e.rec.Props, k, v)
	if err := tx.declareProp(nodeElement(id, e.rec), k, true); err != nil {
		return value.Null, tx.doom(err)
	}
	e.text = e.text || tx.isText(k)
	if col, hot := tx.keys.hot[k]; hot {
		if err := tx.w.ed.SetHot(id, col, v); err != nil {
			return value.Null, tx.doom(wrap(err))
		}
		tx.w.hot = append(tx.w.hot, logentry.HotSet{ID: id, Key: k, Value: v})
	}
	return old, tx.charge(sizeOf(v))
}

// AddLabel adds a label to a node.
func (tx *Tx) AddLabel(id value.NodeID, l value.LabelID) (added bool, err error) {
	return tx.setLabel(id, l, true)
}

// RemoveLabel takes a label from a node.
func (tx *Tx) RemoveLabel(id value.NodeID, l value.LabelID) (removed bool, err error) {
	return tx.setLabel(id, l, false)
}

func (tx *Tx) setLabel(id value.NodeID, l value.LabelID, want bool) (bool, error) {
	if err := tx.checkWrite(); err != nil {
		return false, err
	}
	if !tx.NodeExists(id) {
		return false, errNoNode(id)
	}
	if err := tx.checkLabels(l); err != nil {
		return false, err
	}
	if tx.topo.HasLabel(id, l) == want {
		return false, nil
	}
	e, err := tx.editNode(id)
	if err != nil {
		return false, err
	}
	if err := tx.declareLabel(nodeElement(id, e.rec), l, want); err != nil {
		return false, tx.doom(err)
	}
	i, there := slices.BinarySearch(e.rec.Labels, l)
	switch {
	case want && !there:
		e.rec.Labels = slices.Insert(slices.Clone(e.rec.Labels), i, l)
	case !want && there:
		e.rec.Labels = slices.Delete(slices.Clone(e.rec.Labels), i, i+1)
	}
	e.labels = true
	e.text = e.text || tx.schema.texts.label(l)
	if err := tx.w.ed.SetLabels(id, e.rec.Labels); err != nil {
		return false, tx.doom(wrap(err))
	}
	return true, tx.charge(4)
}
