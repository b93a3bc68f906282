package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
)

// nodeScan yields all nodes, or those of a label, for each input row.
type nodeScan struct {
	fan
	slot    int
	label   string
	id      value.LabelID
	unknown bool // nothing can have the label
	buf     []value.NodeID
	got     []value.NodeID
	ids     []value.NodeID
	from    eval.Fn // nil: from the first
	after   value.NodeID
	active  bool // the current row's scan is under way
	within  within
}

func (o *nodeScan) open(f *frame) error {
	o.active, o.got, o.id, o.unknown = false, nil, 0, false
	if o.label != "" {
		id, ok := f.r.Label(o.label)
		o.id, o.unknown = id, !ok
	}
	if o.buf == nil {
		o.buf = make([]value.NodeID, batch.Size)
	}
	o.within.open(f)
	return o.fan.open(f)
}

func (o *nodeScan) next() (*batch.Batch, error) {
	o.start()
	o.ids = o.ids[:0]
	for !o.full() {
		if len(o.got) == 0 {
			if err := o.fill(); err != nil {
				return nil, err
			}
			if len(o.got) == 0 {
				break
			}
		}
		n := min(len(o.got), o.most-len(o.src))
		for range n {
			o.src = append(o.src, o.row)
		}
		o.ids = append(o.ids, o.got[:n]...)
		o.got = o.got[n:]
	}
	if len(o.src) == 0 {
		return nil, nil
	}
	nodes := o.col(o.slot, len(o.ids))
	for i, id := range o.ids {
		nodes[i] = value.NodeRef(id)
	}
	return o.finish(), nil
}

// fill fetches more nodes: of the current row's scan, else of the next row's.
func (o *nodeScan) fill() error {
	for {
		if !o.active {
			ok, err := o.advance()
			if err != nil || !ok {
				return err
			}
			if o.unknown { // unless an operator below has just made the name
				id, known := o.f.r.Label(o.label)
				o.id, o.unknown = id, !known
			}
			o.active, o.after = !o.unknown, o.first()
			continue
		}
		if o.within.scan != nil {
			if ok, err := o.within.fill(o); err != nil {
				return err
			} else if ok {
				if len(o.got) > 0 {
					return nil
				}
				continue
			}
		}
		got, err := o.f.r.ScanNodes(o.id, o.after, o.buf)
		if err != nil {
			return err
		}
		if err := o.f.step(len(got) + 1); err != nil {
			return err
		}
		o.active = len(got) == len(o.buf)
		if len(got) > 0 {
			o.got, o.after = got, got[len(got)-1]
			return nil
		}
	}
}

// first is the number behind which the scan begins. An error is told by the filter
// above, which computes it again.
func (o *nodeScan) first() value.NodeID {
	if o.from == nil {
		return 0
	}
	v, err := o.from(&o.f.env, o.row)
	if err != nil || v.Kind() != value.KindInt || v.AsInt() < 0 {
		return 0
	}
	return value.NodeID(v.AsInt())
}

// idSeek yields the nodes with a given id.
type idSeek struct {
	fan
	slot int
	id   eval.Fn
	any  bool
	ids  []value.NodeID
	got  []value.NodeID
	pos  int
}

func (o *idSeek) open(f *frame) error {
	o.got, o.pos = o.got[:0], 0
	return o.fan.open(f)
}

func (o *idSeek) next() (*batch.Batch, error) {
	o.ids = o.ids[:0]
	if ok, err := o.fill(o); err != nil || !ok {
		return nil, err
	}
	nodes := o.col(o.slot, len(o.ids))
	for i, id := range o.ids {
		nodes[i] = value.NodeRef(id)
	}
	return o.finish(), nil
}

func (o *idSeek) pending() int { return len(o.got) - o.pos }

func (o *idSeek) take(n int) {
	o.ids = append(o.ids, o.got[o.pos:o.pos+n]...)
	o.pos += n
}

// find finds the nodes for the current row.
func (o *idSeek) find() error {
	o.got, o.pos = o.got[:0], 0
	v, err := o.id(&o.f.env, o.row)
	if err != nil || v.IsNull() {
		return err
	}
	if err := o.f.step(1); err != nil {
		return err
	}
	if !o.any {
		o.got, err = o.f.r.NodesByID(v, o.got)
		return err
	}
	if v.Kind() != value.KindList {
		return typeError("IN needs a list on its right, but got %s", v.Kind().Named())
	}
	return o.seekAny(v.AsList())
}

func (o *idSeek) seekAny(list []value.Value) error {
	seen := map[value.NodeID]bool{}
	for _, v := range list {
		if v.IsNull() {
			continue
		}
		if err := o.f.step(1); err != nil {
			return err
		}
		from := len(o.got)
		var err error
		if o.got, err = o.f.r.NodesByID(v, o.got); err != nil {
			return err
		}
		kept := o.got[:from]
		for _, id := range o.got[from:] {
			if !seen[id] {
				seen[id] = true
				kept = append(kept, id)
			}
		}
		o.got = kept
	}
	return nil
}
