package physical

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
)

// boundExpand yields the ends of an edge, or of a list of edges, that has a
// value already, where they fit the pattern.
type boundExpand struct {
	fan
	from, rel, to      int
	types              edgeTypes
	dir                access.Direction
	fromBound, toBound bool
	list               bool
	min, max           int64
	unique             []logical.Used

	found []ends // of the current row, not yet handed on
	pos   int
	lefts []value.NodeID
	right []value.NodeID
}

// ends are the left and the right node of an edge or walk.
type ends struct{ left, right value.NodeID }

func (o *boundExpand) open(f *frame) error {
	o.found, o.pos = o.found[:0], 0
	o.types.resolve(f)
	return o.fan.open(f)
}

func (o *boundExpand) next() (*batch.Batch, error) {
	o.lefts, o.right = o.lefts[:0], o.right[:0]
	if ok, err := o.fill(o); err != nil || !ok {
		return nil, err
	}
	if !o.fromBound {
		nodeColumn(o.col(o.from, len(o.src)), o.lefts)
	}
	if !o.toBound {
		nodeColumn(o.col(o.to, len(o.src)), o.right)
	}
	return o.finish(), nil
}

func nodeColumn(col []value.Value, ids []value.NodeID) {
	for i, id := range ids {
		col[i] = value.NodeRef(id)
	}
}

func (o *boundExpand) pending() int { return len(o.found) - o.pos }

func (o *boundExpand) take(n int) {
	for _, e := range o.found[o.pos : o.pos+n] {
		o.lefts, o.right = append(o.lefts, e.left), append(o.right, e.right)
	}
	o.pos += n
}

// find fills found for the current row.
func (o *boundExpand) find() error {
	o.found, o.pos = o.found[:0], 0
	if err := o.match(); err != nil {
		return err
	}
	return o.f.step(1 + len(o.found))
}

// match adds the ends that fit to found.
func (o *boundExpand) match() error {
	o.types.renew(o.f)
	v := o.cur.Cols[o.rel][o.row]
	switch {
	case !o.list && v.Kind() == value.KindEdge:
		e := v.EdgeID()
		if len(o.unique) > 0 && repeats(o.cur, o.row, o.unique, e) {
			return nil
		}
		src, dst, t, ok := o.f.r.EdgeEnds(e)
		if !ok || !o.types.allow(t) {
			return nil
		}
		if o.dir != access.In {
			o.keep(src, dst)
		}
		if o.dir == access.In || o.dir == access.Both && src != dst {
			o.keep(dst, src)
		}
	case o.list && v.Kind() == value.KindList:
		return o.findWalks(v.AsList())
	}
	return nil
}

func (t *edgeTypes) allow(id value.TypeID) bool {
	return len(t.names) == 0 || slices.Contains(t.ids, id)
}

// keep adds a pair of ends unless the row has other nodes in their slots.
func (o *boundExpand) keep(left, right value.NodeID) {
	if o.fromBound && o.nodeAt(o.from) != left || o.toBound && o.nodeAt(o.to) != right {
		return
	}
	if !o.fromBound && !o.toBound && o.from == o.to && left != right {
		return
	}
	o.found = append(o.found, ends{left, right})
}

// findWalks tries the list as a walk from each node it could start at.
func (o *boundExpand) findWalks(list []value.Value) error {
	if n := int64(len(list)); n < o.min || o.max >= 0 && n > o.max {
		return nil
	}
	starts, err := o.starts(list)
	if err != nil {
		return err
	}
	for _, s := range starts {
		if end, ok := o.walk(s, list); ok && s != 0 {
			o.keep(s, end)
		}
	}
	return nil
}

// starts lists the nodes that a walk along list could start at. The empty walk
// starts anywhere.
func (o *boundExpand) starts(list []value.Value) ([]value.NodeID, error) {
	switch {
	case o.fromBound:
		return []value.NodeID{o.nodeAt(o.from)}, nil
	case len(list) > 0:
		src, dst, _, ok := o.f.r.EdgeEnds(list[0].EdgeID())
		if !ok {
			return nil, nil
		}
		var starts []value.NodeID
		if o.dir != access.In {
			starts = append(starts, src)
		}
		if o.dir != access.Out {
			starts = appendNew(starts, dst)
		}
		return starts, nil
	case o.toBound:
		return []value.NodeID{o.nodeAt(o.to)}, nil
	}
	var all []value.NodeID
	page := make([]value.NodeID, batch.Size)
	for after := value.NodeID(0); ; {
		got, err := o.f.r.ScanNodes(0, after, page)
		if err != nil {
			return nil, err
		}
		all = append(all, got...)
		if len(got) < len(page) {
			return all, o.f.step(len(all))
		}
		after = got[len(got)-1]
	}
}

// walk follows the edges of list from a node and returns where it ends.
func (o *boundExpand) walk(at value.NodeID, list []value.Value) (value.NodeID, bool) {
	for i, v := range list {
		e := v.EdgeID()
		src, dst, t, ok := o.f.r.EdgeEnds(e)
		if !ok || !o.types.allow(t) || len(o.unique) > 0 && repeats(o.cur, o.row, o.unique, e) {
			return 0, false
		}
		for _, earlier := range list[:i] {
			if earlier.EdgeID() == e {
				return 0, false
			}
		}
		switch {
		case o.dir != access.In && src == at:
			at = dst
		case o.dir != access.Out && dst == at:
			at = src
		default:
			return 0, false
		}
	}
	return at, true
}
