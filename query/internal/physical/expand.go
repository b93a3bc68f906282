package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
	"engram/query/internal/syntax"
)

// edgeTypes are the types an expansion follows, resolved once per execution; those
// that nothing had a name for then are looked up again when there are new names: an
// operator below may have made them.
type edgeTypes struct {
	names   []string
	ids     []value.TypeID
	none    bool // types were named but no edge can have one
	missing bool // some of them are unknown
	version uint64
}

func (t *edgeTypes) resolve(f *frame) {
	t.ids, t.none, t.missing = t.ids[:0], false, false
	for _, n := range t.names {
		if id, ok := f.r.RelType(n); ok {
			t.ids = append(t.ids, id)
		} else {
			t.missing = true
		}
	}
	t.none = len(t.names) > 0 && len(t.ids) == 0
	if t.missing {
		t.version = f.r.SchemaVersion()
	}
}

// renew is called for each input row, once it is there.
func (t *edgeTypes) renew(f *frame) {
	if t.missing && f.r.SchemaVersion() != t.version {
		t.resolve(f)
	}
}

func direction(d syntax.RelDir) access.Direction {
	switch d {
	case syntax.RelOut:
		return access.Out
	case syntax.RelIn:
		return access.In
	}
	return access.Both
}

func opposite(d access.Direction) access.Direction {
	switch d {
	case access.Out:
		return access.In
	case access.In:
		return access.Out
	}
	return d
}

// expand follows one edge from a node of each input row.
type expand struct {
	fan
	from, rel, to int // rel or to is -1 when nobody reads it
	types         edgeTypes
	dir           access.Direction
	into, meet    bool
	intoSlot      int
	unique        []logical.Used
	adj           []access.Adjacent
	pos           int
	want          value.NodeID
	edges         []value.EdgeID
	nodes         []value.NodeID
}

func (o *expand) open(f *frame) error {
	o.adj, o.pos = o.adj[:0], 0
	o.types.resolve(f)
	return o.fan.open(f)
}

func (o *expand) next() (*batch.Batch, error) {
	o.start()
	o.edges, o.nodes = o.edges[:0], o.nodes[:0]
	for !o.full() {
		if o.pos == len(o.adj) {
			ok, err := o.advance()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			if err := o.fetch(); err != nil {
				return nil, err
			}
			continue
		}
		a := &o.adj[o.pos]
		o.pos++
		if o.into && a.Node != o.want || len(o.unique) > 0 && o.repeats(a.Edge) {
			continue
		}
		o.src = append(o.src, o.row)
		o.edges = append(o.edges, a.Edge)
		o.nodes = append(o.nodes, a.Node)
	}
	if len(o.src) == 0 {
		return nil, nil
	}
	if o.rel >= 0 {
		col := o.col(o.rel, len(o.edges))
		for i, e := range o.edges {
			col[i] = value.EdgeRef(e)
		}
	}
	if o.to >= 0 {
		col := o.col(o.to, len(o.nodes))
		for i, n := range o.nodes {
			col[i] = value.NodeRef(n)
		}
	}
	return o.finish(), nil
}

// fetch reads the edges of the current row's node.
func (o *expand) fetch() error {
	o.adj, o.pos = o.adj[:0], 0
	o.types.renew(o.f)
	node := o.nodeAt(o.from)
	if node == 0 || o.types.none {
		return nil
	}
	dir := o.dir
	if o.into {
		o.want = o.nodeAt(o.intoSlot)
		if o.want == 0 {
			return nil
		}
		if o.meet && o.f.r.Degree(o.want, opposite(dir), o.types.ids) < o.f.r.Degree(node, dir, o.types.ids) {
			node, o.want, dir = o.want, node, opposite(dir)
		}
	}
	var err error
	o.adj, err = o.f.r.Expand(node, dir, o.types.ids, o.adj)
	if err != nil {
		return err
	}
	return o.f.step(len(o.adj) + 1)
}

func (o *expand) repeats(e value.EdgeID) bool { return repeats(o.cur, o.row, o.unique, e) }

// repeats reports whether a row holds e in one of the slots used.
func repeats(b *batch.Batch, row int, used []logical.Used, e value.EdgeID) bool {
	for _, u := range used {
		v := b.Cols[u.Slot][row]
		if !u.List {
			if v.EdgeID() == e {
				return true
			}
			continue
		}
		for _, x := range v.AsList() {
			if x.EdgeID() == e {
				return true
			}
		}
	}
	return false
}
