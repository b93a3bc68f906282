package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/logical"
)

// valueJoin yields, for each input row, the nodes whose property may equal a
// value of the row. It reads the property of all nodes once, at the first row.
type valueJoin struct {
	nodeList
	label, key string
	probe      eval.Fn
	table      map[uint64][]value.NodeID // by hash, each in ascending order
	taken      int64                     // bytes of table
}

func (c *compiler) valueJoin(o *logical.ValueJoin) operator {
	out := &valueJoin{label: o.Label, key: o.Key, probe: c.fn(o.Probe)}
	out.fan, out.slot = c.fan(o), o.Slot
	return out
}

func (o *valueJoin) open(f *frame) error {
	o.table, o.taken = nil, 0
	return o.nodeList.open(f)
}

func (o *valueJoin) next() (*batch.Batch, error) {
	b, err := o.list(o.find)
	if b == nil && err == nil {
		o.table = nil
		err = o.f.grow(-o.taken)
		o.taken = 0
	}
	return b, err
}

func (o *valueJoin) find() error {
	v, err := o.probe(&o.f.env, o.row)
	if err != nil || v.IsNull() {
		return err
	}
	if o.table == nil {
		if err := o.build(); err != nil {
			return err
		}
	}
	found := o.table[value.Hash(v)]
	o.got = append(o.got, found...)
	return o.f.step(1 + len(found))
}

// nodeBytes is what the table holds for a node, roughly.
const nodeBytes = 48

// build makes the table.
func (o *valueJoin) build() error {
	o.table = map[uint64][]value.NodeID{}
	key, ok := o.f.r.Key(o.key)
	if !ok {
		return nil
	}
	if err := o.scan(o.label); err != nil {
		return err
	}
	var vals [batch.Size]value.Value
	for ids := o.got; len(ids) > 0; {
		n := min(len(ids), batch.Size)
		if err := o.f.r.GatherNodeProp(ids[:n], key, vals[:n]); err != nil {
			return err
		}
		for i, v := range vals[:n] {
			if !v.IsNull() {
				h := value.Hash(v)
				o.table[h] = append(o.table[h], ids[i])
			}
		}
		if err := o.f.step(n); err != nil {
			return err
		}
		o.taken += int64(n) * nodeBytes
		if err := o.f.grow(int64(n) * nodeBytes); err != nil {
			return err
		}
		ids = ids[n:]
	}
	o.got = o.got[:0]
	return nil
}
