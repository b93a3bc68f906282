package physical

import (
	"slices"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/logical"
)

// nodeList is the base of operators that find a list of nodes, or edges, for
// each input row.
type nodeList struct {
	fan
	slot int
	edge bool           // the ids are those of edges
	ids  []value.NodeID // of the batch at hand
	got  []value.NodeID // of the current input row
	pos  int
	held int64 // bytes of got
}

const idBytes = 8

// hold takes the memory of the list from the budget, in place of what it had.
func (o *nodeList) hold(bytes int64) error {
	more := bytes - o.held
	o.held = bytes
	return o.f.grow(more)
}

func (o *nodeList) open(f *frame) error {
	o.got, o.pos, o.held = o.got[:0], 0, 0
	return o.fan.open(f)
}

// list yields the nodes that find puts into got.
func (o *nodeList) list(find func() error) (*batch.Batch, error) {
	o.start()
	o.ids = o.ids[:0]
	for !o.full() {
		if o.pos == len(o.got) {
			ok, err := o.advance()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			o.got, o.pos = o.got[:0], 0
			if err := find(); err != nil {
				return nil, err
			}
			if err := o.hold(int64(len(o.got)) * idBytes); err != nil {
				return nil, err
			}
			continue
		}
		n := min(len(o.got)-o.pos, o.most-len(o.src))
		for range n {
			o.src = append(o.src, o.row)
		}
		o.ids = append(o.ids, o.got[o.pos:o.pos+n]...)
		o.pos += n
	}
	if len(o.src) == 0 {
		return nil, o.hold(0)
	}
	return o.fill(), nil
}

// fill completes a batch with the elements ids.
func (o *nodeList) fill() *batch.Batch {
	found := o.col(o.slot, len(o.ids))
	for i, id := range o.ids {
		if o.edge {
			found[i] = value.EdgeRef(value.EdgeID(id))
		} else {
			found[i] = value.NodeRef(id)
		}
	}
	return o.finish()
}

// scan puts all nodes of a label ("": all nodes) into got.
func (o *nodeList) scan(label string) error {
	var id value.LabelID
	if label != "" {
		var ok bool
		if id, ok = o.f.r.Label(label); !ok {
			return nil
		}
	}
	after := value.NodeID(0)
	for {
		o.got = slices.Grow(o.got, batch.Size)
		n := len(o.got)
		page, err := o.f.r.ScanNodes(id, after, o.got[n:n+batch.Size])
		if err != nil {
			return err
		}
		o.got = o.got[:n+len(page)]
		if err := o.f.step(len(page) + 1); err != nil {
			return err
		}
		if len(page) < batch.Size {
			return nil
		}
		after = page[len(page)-1]
	}
}

// scanEdges is scan for the edges of a type.
func (o *nodeList) scanEdges(name string) error {
	t, ok := o.f.r.RelType(name)
	if !ok {
		return nil
	}
	buf := make([]value.EdgeID, batch.Size)
	for after := value.EdgeID(0); ; {
		page, err := o.f.r.ScanEdges(t, after, buf)
		if err != nil {
			return err
		}
		for _, id := range page {
			o.got = append(o.got, value.NodeID(id))
		}
		if err := o.f.step(len(page) + 1); err != nil {
			return err
		}
		if len(page) < batch.Size {
			return nil
		}
		after = page[len(page)-1]
	}
}

// indexSeek yields the elements that an index finds, in ascending order for each
// input row: as a scan does, so that a plan with the index has the same order.
type indexSeek struct {
	nodeList
	def            *logical.IndexSeek
	eq             []eval.Fn
	lo, hi, prefix eval.Fn // or nil
	from           access.Indexes
	index          *schema.Def // nil when it is not there any more
	vals           []value.Value
	walk           orderedWalk
}

func (c *compiler) indexSeek(o *logical.IndexSeek) operator {
	out := &indexSeek{def: o, lo: c.fn(o.Lo), hi: c.fn(o.Hi), prefix: c.fn(o.Prefix)}
	out.fan, out.slot, out.edge = c.fan(o), o.Slot, o.Edge
	for _, e := range o.Eq {
		out.eq = append(out.eq, c.fn(e))
	}
	if o.Order != logical.ByID {
		c.ordered = out
	}
	return out
}

// open looks the index up again: the plan may be older than the transaction.
func (o *indexSeek) open(f *frame) error {
	o.index = nil
	if ix, ok := f.r.(access.Indexes); ok {
		o.from, o.index = ix, ix.Schema().Index(o.def.Edge, o.def.Owner, o.def.Keys...)
	}
	if err := o.openOrder(f); err != nil {
		return err
	}
	return o.nodeList.open(f)
}

func (o *indexSeek) next() (*batch.Batch, error) {
	if o.inOrder() {
		return o.nextInOrder()
	}
	return o.list(o.seek)
}

// seek finds the nodes for the current row.
func (o *indexSeek) seek() error {
	if o.index == nil || o.def.All {
		if o.def.Edge {
			return o.scanEdges(o.def.Owner)
		}
		return o.scan(o.def.Owner)
	}
	s, list, some, err := o.wanted()
	if err != nil || !some {
		return err
	}
	if err := o.find(s, list); err != nil {
		return err
	}
	slices.Sort(o.got)
	o.got = slices.Compact(o.got)
	return nil
}

// wanted computes what is sought for the current row: any element of list, if the
// seek is for one. some is false when there can be no such.
func (o *indexSeek) wanted() (s schema.Seek, list []value.Value, some bool, err error) {
	s.Index = o.index.ID
	o.vals = o.vals[:0]
	for i, e := range o.eq {
		v, err := e(&o.f.env, o.row)
		if err != nil || v.IsNull() {
			return s, nil, false, err
		}
		if o.def.Any && i == len(o.eq)-1 {
			if v.Kind() != value.KindList {
				return s, nil, false, typeError("IN needs a list on its right, but got %s", v.Kind().Named())
			}
			list = v.AsList()
			break
		}
		o.vals = append(o.vals, v)
	}
	s.Eq = o.vals
	some, err = o.bounds(&s)
	return s, list, some, err
}

// find asks the index, once for each element of the list when the seek is for
// any of them.
func (o *indexSeek) find(s schema.Seek, list []value.Value) error {
	if !o.def.Any {
		return o.ask(s)
	}
	n := len(s.Eq)
	for _, v := range list {
		if v.IsNull() {
			continue
		}
		s.Eq = append(s.Eq[:n:n], v)
		if err := o.ask(s); err != nil {
			return err
		}
	}
	return nil
}

// bounds computes what the seek is bounded by; false when nothing can match.
func (o *indexSeek) bounds(s *schema.Seek) (ok bool, err error) {
	for _, b := range []struct {
		fn eval.Fn
		to *value.Value
	}{{o.lo, &s.Lo}, {o.hi, &s.Hi}} {
		if b.fn == nil {
			continue
		}
		if *b.to, err = b.fn(&o.f.env, o.row); err != nil || b.to.IsNull() {
			return false, err
		}
	}
	if o.prefix == nil {
		return true, nil
	}
	v, err := o.prefix(&o.f.env, o.row)
	if err != nil || v.Kind() != value.KindString {
		return false, err
	}
	s.Prefix, s.HasPrefix = v.AsString(), true
	return true, nil
}

func (o *indexSeek) ask(s schema.Seek) error {
	if err := o.f.step(1); err != nil {
		return err
	}
	var bad error
	n := 0
	err := o.from.SeekIndex(s, func(id uint64) bool {
		o.got = append(o.got, value.NodeID(id))
		if n++; n%batch.Size == 0 {
			bad = o.f.step(batch.Size)
		}
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	return err
}
