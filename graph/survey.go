package graph

import (
	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// surveyChunk is how many records are copied out of the store at a time. While they
// are looked at, nothing of the store is held.
const surveyChunk = 512

// Record is what ScanRecords hands out of a node. It is used again for the next one.
type Record struct {
	ID        value.NodeID
	CreatedMS int64 // since 1970
	Labels    []value.LabelID
	Keys      []value.KeyID   // of all its properties, in ascending order
	Props     []value.KeyProp // those asked for, and those searched as text, in ascending order of key
	Text      bool            // it has text that searches could find
}

// Prop returns a property that was asked for; Null when the node does not have it.
func (r *Record) Prop(k value.KeyID) value.Value {
	for i := range r.Props {
		if r.Props[i].Key == k {
			return r.Props[i].Value
		}
	}
	return value.Null
}

// ScanRecords reads the stored records of all nodes in ascending order of id, each
// with the properties that want asks for, until fn returns an error, which it then
// returns. It must be a reading transaction. The store is read a chunk at a time: a
// long snapshot holds nothing of it while fn runs.
func (tx *Tx) ScanRecords(want func(value.KeyID) bool, fn func(r *Record) error) error {
	if tx.w != nil {
		return fail(InvalidArgument, "records are scanned in a reading transaction")
	}
	var chunk []Record
	from := key.Node(1)
	for from != nil {
		if err := tx.check(); err != nil {
			return err
		}
		n, next, err := tx.recordChunk(from, want, &chunk)
		if err != nil {
			return err
		}
		for i := range n {
			r := &chunk[i]
			if err := tx.inline(r); err != nil {
				return err
			}
			if err := fn(r); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// recordChunk decodes records from a key on and returns where the next ones begin,
// nil at the end.
func (tx *Tx) recordChunk(from []byte, want func(value.KeyID) bool, chunk *[]Record) (n int, next []byte, err error) {
	var bad error
	var node record.Node
	scan := func(k, sealed []byte) bool {
		if n == surveyChunk {
			next = append([]byte(nil), k...)
			return false
		}
		id, ok := key.ParseUint(k)
		payload, err := tx.open(store.Nodes, k, sealed)
		if err != nil || !ok {
			bad = err
			return false
		}
		if n == len(*chunk) {
			*chunk = append(*chunk, Record{})
		}
		r := &(*chunk)[n]
		r.ID, r.Keys, r.Props = value.NodeID(id), r.Keys[:0], r.Props[:0]
		node.Labels = r.Labels
		err = record.WalkNode(payload, &node, func(p value.KeyID) bool {
			r.Keys = append(r.Keys, p)
			if _, text := tx.keys.text[p]; text {
				return true
			}
			return want(p) || len(tx.schema.texts) > 0 && tx.schema.texts.wants(r.ID, node.Labels, p)
		}, func(p record.Prop) {
			v := p.Value
			if p.Overflow {
				v = value.Null
			}
			r.Props = append(r.Props, value.KeyProp{Key: p.Key, Value: v})
		})
		if err != nil {
			bad = tx.damaged(store.Nodes, k, err)
			return false
		}
		r.CreatedMS, r.Labels = node.CreatedMS, node.Labels
		n++
		return true
	}
	if err := tx.src.Scan(store.Nodes, from, nil, scan); err != nil {
		return 0, nil, wrap(err)
	}
	return n, next, bad
}

// inline fetches the values that are out of line, as no stored value is Null, and sees
// whether there is text.
func (tx *Tx) inline(r *Record) error {
	r.Text = false
	for i := range r.Props {
		p := &r.Props[i]
		if p.Value.IsNull() {
			var err error
			if p.Value, err = tx.overflow(nodeOverflow(r.ID, p.Key)); err != nil {
				return err
			}
		}
		if _, ok := tx.keys.text[p.Key]; ok {
			r.Text = r.Text || p.Value.AsString() != ""
		} else if len(tx.schema.texts) > 0 {
			r.Text = r.Text || tx.schema.texts.wants(r.ID, r.Labels, p.Key) && textOf(p.Value) != ""
		}
	}
	return nil
}

// StoredEdge is what ScanEdgeRecords hands out of an edge.
type StoredEdge struct {
	ID       value.EdgeID
	Type     value.TypeID
	Src, Dst value.NodeID
}

// ScanEdgeRecords reads the ends and types of all stored edges, those that wait for
// the sweeper too, in ascending order of id, until fn returns an error. It must be a
// reading transaction and reads like ScanRecords.
func (tx *Tx) ScanEdgeRecords(fn func(e StoredEdge) error) error {
	if tx.w != nil {
		return fail(InvalidArgument, "records are scanned in a reading transaction")
	}
	var chunk []StoredEdge
	from := key.Uint(nil, 0)
	for from != nil {
		if err := tx.check(); err != nil {
			return err
		}
		var next []byte
		var bad error
		chunk = chunk[:0]
		err := tx.src.Scan(store.Edges, from, nil, func(k, sealed []byte) bool {
			if len(chunk) >= surveyChunk*record.BlockSize/8 {
				next = append([]byte(nil), k...)
				return false
			}
			block, _ := key.ParseUint(k)
			payload, err := tx.open(store.Edges, k, sealed)
			if err == nil {
				err = record.WalkBlock(block, payload, func(e record.Edge, _ []byte) bool {
					chunk = append(chunk, StoredEdge{e.ID, e.Type, e.Src, e.Dst})
					return true
				})
				if err != nil {
					err = tx.damaged(store.Edges, k, err)
				}
			}
			bad = err
			return err == nil
		})
		if err == nil {
			err = bad
		}
		if err != nil {
			return wrap(err)
		}
		for _, e := range chunk {
			if err := fn(e); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// RelTypesInUse returns the types that edges have, in order of name.
func (tx *Tx) RelTypesInUse() []value.TypeID {
	var out []value.TypeID
	for _, c := range counts(tx.names, catalog.RelType, func(id uint32) int64 { return tx.topo.EdgeCount(value.TypeID(id)) }) {
		id, _ := tx.RelType(c.Name)
		out = append(out, id)
	}
	return out
}

// LabelsInUse returns the labels that nodes have, in order of name.
func (tx *Tx) LabelsInUse() []value.LabelID {
	var out []value.LabelID
	for _, c := range counts(tx.names, catalog.Label, func(id uint32) int64 { return tx.topo.NodeCount(value.LabelID(id)) }) {
		id, _ := tx.Label(c.Name)
		out = append(out, id)
	}
	return out
}

// Topology is the shape of a graph by dense numbers; see Tx.Topology.
type Topology = topo.Version

// Hop is one edge seen from a node, by the dense numbers of a Topology.
type Hop = topo.Hop
