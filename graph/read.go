package graph

import (
	"slices"
	"strings"

	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// Label returns the id of a label's name.
func (tx *Tx) Label(name string) (value.LabelID, bool) {
	id, ok := tx.names.Lookup(catalog.Label, name)
	return value.LabelID(id), ok
}

// LabelName returns the name of a label.
func (tx *Tx) LabelName(id value.LabelID) string { return tx.names.Name(catalog.Label, uint32(id)) }

// RelType returns the id of a relation type's name.
func (tx *Tx) RelType(name string) (value.TypeID, bool) {
	id, ok := tx.names.Lookup(catalog.RelType, name)
	return value.TypeID(id), ok
}

// RelTypeName returns the name of a relation type.
func (tx *Tx) RelTypeName(id value.TypeID) string { return tx.names.Name(catalog.RelType, uint32(id)) }

// Key returns the id of a property key's name.
func (tx *Tx) Key(name string) (value.KeyID, bool) {
	id, ok := tx.names.Lookup(catalog.Key, name)
	return value.KeyID(id), ok
}

// KeyName returns the name of a property key.
func (tx *Tx) KeyName(id value.KeyID) string { return tx.names.Name(catalog.Key, uint32(id)) }

// SchemaVersion changes whenever a name, an index or a constraint is added or
// dropped.
func (tx *Tx) SchemaVersion() uint64 { return tx.names.Version() + tx.schema.version }

// NodeCount returns how many nodes carry a label; label 0 counts all.
func (tx *Tx) NodeCount(label value.LabelID) int64 {
	n := tx.topo.NodeCount(label) - tx.hiddenWith(label)
	if tx.w != nil {
		for id := range tx.w.dying {
			if label == 0 || tx.topo.HasLabel(id, label) {
				n--
			}
		}
	}
	return n
}

// EdgeCount returns how many edges are of a type; type 0 counts all.
func (tx *Tx) EdgeCount(t value.TypeID) int64 { return tx.topo.EdgeCount(t) }

// EdgesBetween returns how many edges of type t begin at a node with label src and
// end at one with label dst; 0 stands for any. It is for estimates: edges of hubs
// that are being deleted, or got other labels, are told as before for a while. ok is
// false when there are too many combinations to tell.
func (tx *Tx) EdgesBetween(src value.LabelID, t value.TypeID, dst value.LabelID) (n int64, ok bool) {
	return tx.topo.EdgesBetween(src, t, dst)
}

// NodeExists reports whether the node is there.
func (tx *Tx) NodeExists(id value.NodeID) bool { return !tx.isGone(id) && tx.topo.NodeExists(id) }

// isDying reports whether the statement deleted the node without its edges.
func (tx *Tx) isDying(id value.NodeID) bool {
	if tx.w == nil || len(tx.w.dying) == 0 {
		return false
	}
	_, dying := tx.w.dying[id]
	return dying
}

// ScanNodes fills buf with ids greater than after, in ascending order, of nodes
// that carry label (0: any). A short fill means the end.
func (tx *Tx) ScanNodes(label value.LabelID, after value.NodeID, buf []value.NodeID) ([]value.NodeID, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	found := tx.topo.ScanNodes(label, after, buf)
	if !tx.hides() && (tx.w == nil || len(tx.w.dying) == 0) {
		return found, nil
	}
	kept := found[:0]
	for len(found) > 0 {
		last := found[len(found)-1]
		full := len(kept)+len(found) == len(buf)
		for _, id := range found {
			if !tx.isGone(id) {
				kept = append(kept, id)
			}
		}
		if !full || len(kept) == len(buf) {
			break
		}
		found = tx.topo.ScanNodes(label, last, buf[len(kept):])
	}
	return kept, nil
}

// HasLabel reports whether the node is there and carries the label.
func (tx *Tx) HasLabel(id value.NodeID, l value.LabelID) bool {
	return !tx.isGone(id) && tx.topo.HasLabel(id, l)
}

// Labels appends the node's labels in ascending order of id.
func (tx *Tx) Labels(id value.NodeID, buf []value.LabelID) []value.LabelID {
	if tx.isGone(id) {
		return buf
	}
	return tx.topo.Labels(id, buf)
}

// nodePayload reads and verifies a node's record as the base has it. It must not
// be called for nodes that the transaction made.
func (tx *Tx) nodePayload(id value.NodeID) ([]byte, error) {
	slot := &tx.nodes[uint64(id)%cacheSize]
	if slot.id == uint64(id)+1 {
		return slot.payload, nil
	}
	k := key.Node(id)
	sealed, err := tx.src.Get(store.Nodes, k)
	if err != nil {
		return nil, wrap(err)
	}
	if sealed == nil {
		return nil, wrap(tx.db.seal.Damaged(store.Nodes, k, "the record is missing"))
	}
	payload, err := tx.open(store.Nodes, k, sealed)
	if err != nil {
		return nil, err
	}
	*slot = cachedRecord{id: uint64(id) + 1, payload: payload}
	return payload, nil
}

// node returns a node's record, own writes included; nil when it is not there.
// It must not be changed.
func (tx *Tx) node(id value.NodeID) (*record.Node, error) {
	if err := tx.check(); err != nil {
		return nil, err
	}
	if !tx.NodeExists(id) {
		return nil, nil
	}
	if tx.w != nil {
		if e := tx.w.nodes[id]; e != nil {
			return e.rec, nil
		}
	}
	payload, err := tx.nodePayload(id)
	if err != nil {
		return nil, err
	}
	n, err := record.DecodeNode(payload)
	if err != nil {
		return nil, tx.damaged(store.Nodes, key.Node(id), err)
	}
	return n, nil
}

// nodeValue returns the value of a stored property, fetched when out of line.
func (tx *Tx) nodeValue(id value.NodeID, p record.Prop) (value.Value, error) {
	if !p.Overflow {
		return p.Value, nil
	}
	return tx.overflow(nodeOverflow(id, p.Key))
}

// storedNodeProp finds a property of a living node; ok is false when it has
// none of that key.
func (tx *Tx) storedNodeProp(id value.NodeID, k value.KeyID) (v value.Value, ok bool, err error) {
	if tx.w != nil {
		if e := tx.w.nodes[id]; e != nil {
			p, ok := record.GetProp(e.rec.Props, k)
			if ok {
				v, err = tx.nodeValue(id, p)
			}
			return v, ok, err
		}
	}
	if col, hot := tx.keys.hot[k]; hot {
		if v, state := tx.topo.Hot(id, col); state != topo.SeeRecord {
			return v, state == topo.Exact, nil
		}
	}
	payload, err := tx.nodePayload(id)
	if err != nil {
		return value.Null, false, err
	}
	return tx.propOf(id, payload, k)
}

func (tx *Tx) propOf(id value.NodeID, payload []byte, k value.KeyID) (v value.Value, ok bool, err error) {
	p, ok, err := record.NodeProp(payload, k)
	if err != nil {
		return value.Null, false, tx.damaged(store.Nodes, key.Node(id), err)
	}
	if ok {
		v, err = tx.nodeValue(id, p)
	}
	return v, ok, err
}

// NodeProp returns a property, Null when the node is not there or does not have
// it. For key id of a node without a stored id it is the external id.
func (tx *Tx) NodeProp(id value.NodeID, k value.KeyID) (value.Value, error) {
	if err := tx.check(); err != nil {
		return value.Null, err
	}
	if k == 0 || !tx.NodeExists(id) {
		return value.Null, nil
	}
	v, ok, err := tx.storedNodeProp(id, k)
	if err == nil && !ok && k == idKey {
		return value.String(tx.derivedNodeID(id)), nil
	}
	return v, err
}

// gatherChunk is how many records are read from the store at a time.
const gatherChunk = 256

// GatherNodeProp is NodeProp for many: out[i] belongs to ids[i].
func (tx *Tx) GatherNodeProp(ids []value.NodeID, k value.KeyID, out []value.Value) error {
	if err := tx.check(); err != nil {
		return err
	}
	if k == 0 {
		clear(out[:len(ids)])
		return nil
	}
	missing, err := tx.gatherHot(ids, k, out)
	if err != nil {
		return err
	}
	slices.SortFunc(missing, func(a, b int) int { return compareIDs(ids[a], ids[b]) })
	for len(missing) > 0 {
		n := min(gatherChunk, len(missing))
		if err := tx.gather(ids, missing[:n], k, out); err != nil {
			return err
		}
		missing = missing[n:]
	}
	return nil
}

func compareIDs[T ~uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// gather reads the records of ids[i] for i in at, which is sorted by id.
func (tx *Tx) gather(ids []value.NodeID, at []int, k value.KeyID, out []value.Value) error {
	keys := make([][]byte, len(at))
	backing := make([]byte, 0, 8*len(at))
	for j, i := range at {
		backing = key.Uint(backing, uint64(ids[i]))
		keys[j] = backing[8*j : 8*j+8 : 8*j+8]
	}
	records, err := tx.src.GetMany(store.Nodes, keys, make([][]byte, 0, len(keys)))
	if err != nil {
		return wrap(err)
	}
	for j, i := range at {
		if records[j] == nil {
			return wrap(tx.db.seal.Damaged(store.Nodes, keys[j], "the record is missing"))
		}
		payload, err := tx.open(store.Nodes, keys[j], records[j])
		if err != nil {
			return err
		}
		v, ok, err := tx.propOf(ids[i], payload, k)
		if err != nil {
			return err
		}
		if !ok && k == idKey {
			v = value.String(tx.derivedNodeID(ids[i]))
		}
		out[i] = v
	}
	return nil
}

// NodeKeys appends the keys of the node's stored properties in ascending order.
func (tx *Tx) NodeKeys(id value.NodeID, buf []value.KeyID) ([]value.KeyID, error) {
	n, err := tx.node(id)
	if n == nil || err != nil {
		return buf, err
	}
	for _, p := range n.Props {
		buf = append(buf, p.Key)
	}
	return buf, nil
}

// LoadNode copies the whole node out; nil when there is none.
func (tx *Tx) LoadNode(id value.NodeID) (*value.Node, error) {
	n, err := tx.node(id)
	if n == nil || err != nil {
		return nil, err
	}
	out := &value.Node{ID: id}
	if len(n.Labels) > 0 {
		out.Labels = make([]string, len(n.Labels))
		for i, l := range n.Labels {
			out.Labels[i] = tx.LabelName(l)
		}
		slices.Sort(out.Labels)
	}
	if out.Properties, err = tx.namedProps(n.Props, func(k value.KeyID) []byte { return nodeOverflow(id, k) }); err != nil {
		return nil, err
	}
	out.ElementID = stringID(out.Properties)
	if out.ElementID == "" {
		out.ElementID = tx.db.tag.Node(id, n.CreatedMS)
	}
	return out, nil
}

// namedProps resolves stored properties for a person to read.
func (tx *Tx) namedProps(props []record.Prop, overflow func(value.KeyID) []byte) ([]value.Prop, error) {
	if len(props) == 0 {
		return nil, nil
	}
	out := make([]value.Prop, len(props))
	for i, p := range props {
		out[i] = value.Prop{Key: tx.KeyName(p.Key), Value: p.Value}
		if p.Overflow {
			v, err := tx.overflow(overflow(p.Key))
			if err != nil {
				return nil, err
			}
			out[i].Value = v
		}
	}
	slices.SortFunc(out, func(a, b value.Prop) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}
