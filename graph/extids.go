package graph

import (
	"bytes"
	"encoding/binary"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// stringID finds the string property id in named properties; it is empty when
// there is none. An empty string is no external id.
func stringID(props []value.Prop) string {
	for _, p := range props {
		if p.Key == "id" {
			return p.Value.AsString()
		}
	}
	return ""
}

func (tx *Tx) derivedNodeID(id value.NodeID) string {
	ms, _ := tx.topo.NodeCreated(id)
	return tx.db.tag.Node(id, ms)
}

// ElementID returns the external id of a node: its string property id, else a
// ULID derived from its internal id.
func (tx *Tx) ElementID(id value.NodeID) (string, error) {
	if err := tx.check(); err != nil {
		return "", err
	}
	if !tx.topo.NodeExists(id) {
		return "", errNoNode(id)
	}
	v, _, err := tx.storedNodeProp(id, idKey)
	if err != nil {
		return "", err
	}
	if s := v.AsString(); s != "" {
		return s, nil
	}
	return tx.derivedNodeID(id), nil
}

// NodeByElementID finds the node that an external id names; 0 when there is
// none.
func (tx *Tx) NodeByElementID(s string) (value.NodeID, error) {
	if err := tx.check(); err != nil {
		return 0, err
	}
	id, err := tx.nodeByString(s)
	if id != 0 || err != nil {
		return id, err
	}
	id, ok := tx.parseNodeID(s)
	if !ok {
		return 0, nil
	}
	if v, _, err := tx.storedNodeProp(id, idKey); err != nil || v.AsString() != "" {
		return 0, err
	}
	return id, nil
}

// parseNodeID decodes a derived external id of a node that lives.
func (tx *Tx) parseNodeID(s string) (value.NodeID, bool) {
	id, ms, ok := tx.db.tag.ParseNode(s)
	if !ok || !tx.NodeExists(id) {
		return 0, false
	}
	created, _ := tx.topo.NodeCreated(id)
	return id, created == ms
}

// index reads one entry of the index, own writes included; nil when there is
// none.
func (tx *Tx) index(k []byte) ([]byte, error) {
	if tx.w != nil {
		if payload, ok := tx.w.index[string(k)]; ok {
			return payload, nil
		}
	}
	sealed, err := tx.src.Get(store.Index, k)
	if sealed == nil || err != nil {
		return nil, wrap(err)
	}
	return tx.open(store.Index, k, sealed)
}

// indexed returns the element that a unique entry names, 0 when there is none.
func (tx *Tx) indexed(k []byte) (uint64, error) {
	payload, err := tx.index(k)
	if payload == nil || err != nil {
		return 0, err
	}
	id, n := binary.Uvarint(payload)
	if n != len(payload) || id == 0 {
		return 0, wrap(tx.db.seal.Damaged(store.Index, k, "it names no element"))
	}
	return id, nil
}

// nodeByString finds the node whose stored id is s, 0 when there is none.
func (tx *Tx) nodeByString(s string) (value.NodeID, error) {
	k, _, _ := indexKey(false, value.String(s))
	n, err := tx.indexed(k)
	id := value.NodeID(n)
	if id == 0 || err != nil || !tx.NodeExists(id) {
		return 0, err
	}
	if len(s) <= key.StringMax {
		return id, nil
	}
	// The key of a long string holds a hash: look at the record.
	v, _, err := tx.storedNodeProp(id, idKey)
	if err != nil || v.AsString() != s {
		return 0, err
	}
	return id, nil
}

// NodesByID appends the nodes whose property id equals v, in ascending order. A
// string names at most one; other kinds may name several.
func (tx *Tx) NodesByID(v value.Value, buf []value.NodeID) ([]value.NodeID, error) {
	if err := tx.check(); err != nil {
		return buf, err
	}
	if v.Kind() != value.KindString {
		return tx.nodesByOther(v, buf)
	}
	id, err := tx.nodeByString(v.AsString())
	if err != nil {
		return buf, err
	}
	if id != 0 {
		return append(buf, id), nil
	}
	if id, ok := tx.parseNodeID(v.AsString()); ok {
		_, stored, err := tx.storedNodeProp(id, idKey)
		if err != nil {
			return buf, err
		}
		if !stored {
			buf = append(buf, id)
		}
	}
	return buf, nil
}

func (tx *Tx) nodesByOther(v value.Value, buf []value.NodeID) ([]value.NodeID, error) {
	prefix, _, ok := indexKey(false, v)
	if !ok {
		return buf, nil
	}
	var found []value.NodeID
	var bad error
	add := func(k []byte) {
		if n, ok := key.ParseUint(k[len(prefix):]); ok {
			found = append(found, value.NodeID(n))
		}
	}
	err := tx.src.Scan(store.Index, prefix, key.After(prefix), func(k, sealed []byte) bool {
		if tx.w != nil {
			if _, own := tx.w.index[string(k)]; own {
				return true
			}
		}
		if _, bad = tx.open(store.Index, k, sealed); bad == nil {
			add(k)
		}
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return buf, wrap(err)
	}
	if tx.w != nil {
		for k, payload := range tx.w.index { // sorted below
			if payload != nil && bytes.HasPrefix([]byte(k), prefix) {
				add([]byte(k))
			}
		}
	}
	slices.Sort(found)
	for _, id := range found {
		if !tx.NodeExists(id) {
			continue
		}
		stored, _, err := tx.storedNodeProp(id, idKey)
		if err != nil {
			return buf, err
		}
		if value.Equal(stored, v) == value.True {
			buf = append(buf, id)
		}
	}
	return buf, nil
}
