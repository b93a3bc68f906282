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

// Record is what ScanRecords hands out of a node. It is used again for the next one, and
// strings of text fields are valid during the call only: clone what is kept.
type Record struct {
	ID        value.NodeID
	CreatedMS int64 // since 1970
	Labels    []value.LabelID
	Keys      []value.KeyID   // of all its properties, in ascending order
	Props     []value.KeyProp // those asked for, in ascending order of key
	Text      bool            // it has text that searches could find

	outOfLine bool
	payload   []byte
	chunk     *recordChunk
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
	c := recordChunk{tx: tx, want: want}
	defer c.wipe()
	for from := key.Node(1); from != nil; {
		if err := tx.check(); err != nil {
			return err
		}
		next, err := c.read(from)
		if err != nil {
			return err
		}
		for i := range c.n {
			r := &c.records[i]
			if r.outOfLine {
				if err := tx.inline(r); err != nil {
					return err
				}
			}
			if err := fn(r); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// recordChunk is the records that were copied out of the store together.
type recordChunk struct {
	tx      *Tx
	want    func(value.KeyID) bool
	records []Record
	n       int
	arena   []byte   // their payloads
	full    [][]byte // arenas that were too small for all of them
	node    record.Node
	scratch record.Node // of MayMean
	bad     error
}

// read decodes records from a key on and returns where the next ones begin, nil at the
// end.
func (c *recordChunk) read(from []byte) (next []byte, err error) {
	c.wipe()
	c.n = 0
	err = c.tx.src.Scan(store.Nodes, from, nil, func(k, sealed []byte) bool {
		if c.n == surveyChunk {
			next = append([]byte(nil), k...)
			return false
		}
		c.bad = c.add(k, sealed)
		return c.bad == nil
	})
	if err != nil {
		return nil, wrap(err)
	}
	return next, c.bad
}

func (c *recordChunk) add(k, sealed []byte) error {
	id, ok := key.ParseUint(k)
	payload, err := c.tx.open(store.Nodes, k, sealed)
	if err != nil {
		return err
	}
	if !ok {
		return wrap(c.tx.db.seal.Damaged(store.Nodes, k, "its key is no id"))
	}
	if c.n == len(c.records) {
		c.records = append(c.records, Record{})
	}
	r := &c.records[c.n]
	c.n++
	*r = Record{ID: value.NodeID(id), Labels: r.Labels, Keys: r.Keys[:0], Props: r.Props[:0]}
	r.payload, r.chunk = c.keep(payload), c
	c.node.Labels = r.Labels
	err = record.WalkNode(r.payload, &c.node,
		func(p value.KeyID) record.Want { return c.wants(r, p) }, func(p record.Prop, w record.Want) { c.take(r, p, w) })
	if err != nil {
		return c.tx.damaged(store.Nodes, k, err)
	}
	r.CreatedMS, r.Labels = c.node.CreatedMS, c.node.Labels
	return nil
}

// keep copies a payload, which stays where it is until the next chunk.
func (c *recordChunk) keep(payload []byte) []byte {
	if len(c.arena)+len(payload) > cap(c.arena) {
		c.full = append(c.full, c.arena)
		c.arena = make([]byte, 0, max(2*cap(c.arena), len(payload), 64<<10))
	}
	start := len(c.arena)
	c.arena = append(c.arena, payload...)
	return c.arena[start:]
}

// wipe empties the arenas: who kept a string sees it at once.
func (c *recordChunk) wipe() {
	for _, a := range append(c.full, c.arena) {
		clear(a)
	}
	c.full, c.arena = c.full[:0], c.arena[:0]
}

// wants says what is made of a property of a record.
func (c *recordChunk) wants(r *Record, k value.KeyID) record.Want {
	r.Keys = append(r.Keys, k)
	wanted := c.want(k)
	_, text := c.tx.keys.text[k]
	switch {
	case wanted && text:
		return record.Share
	case wanted:
		return record.Copy
	case text:
		return record.Peek
	case c.tx.schema.texts.wants(r.ID, c.node.Labels, k):
		return record.Copy
	}
	return record.Skip
}

func (c *recordChunk) take(r *Record, p record.Prop, w record.Want) {
	switch {
	case p.Overflow:
		r.outOfLine = true
		r.Props = append(r.Props, value.KeyProp{Key: p.Key}) // no stored value is Null
	case w == record.Peek:
		r.Text = true
	default:
		r.Props = append(r.Props, value.KeyProp{Key: p.Key, Value: p.Value})
		r.Text = r.Text || c.tx.saysText(r.ID, c.node.Labels, p.Key, p.Value)
	}
}

// saysText reports whether a stored value is text that searches could find.
func (tx *Tx) saysText(id value.NodeID, labels []value.LabelID, k value.KeyID, v value.Value) bool {
	if _, standard := tx.keys.text[k]; standard {
		return v.AsString() != ""
	}
	return tx.schema.texts.wants(id, labels, k) && textOf(v) != ""
}

// inline fetches the values that are out of line.
func (tx *Tx) inline(r *Record) error {
	for i := range r.Props {
		p := &r.Props[i]
		if !p.Value.IsNull() {
			continue
		}
		var err error
		if p.Value, err = tx.overflow(nodeOverflow(r.ID, p.Key)); err != nil {
			return err
		}
		r.Text = r.Text || tx.saysText(r.ID, r.Labels, p.Key, p.Value)
	}
	return nil
}

// CheckWhole tells that the transaction's snapshot is of a graph that a bulk load is
// filling: its records are there, and nothing else is yet. Nil when it is whole.
func (tx *Tx) CheckWhole() error {
	if tx.base.partial {
		return fail(Busy, "a bulk load into the graph is under way; look at it as a whole when that is finished")
	}
	return tx.check()
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

// EdgeRow is an edge as the columns of a Topology have it.
type EdgeRow = topo.EdgeRow
