package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/logical"
)

// edgeProps are properties that every edge of a walk must have.
type edgeProps struct {
	keys  []string
	exprs []eval.Fn
	ids   []value.KeyID
	want  []value.Value
}

// load evaluates the wanted values for a row. It returns false when no edge can
// have them.
func (p *edgeProps) load(f *frame, row int) (bool, error) {
	p.ids, p.want = p.ids[:0], p.want[:0]
	for i, e := range p.exprs {
		v, err := e(&f.env, row)
		if err != nil {
			return false, err
		}
		id, ok := f.r.Key(p.keys[i])
		if !ok || v.IsNull() {
			return false, nil
		}
		p.ids, p.want = append(p.ids, id), append(p.want, v)
	}
	return true, nil
}

func (p *edgeProps) match(f *frame, e value.EdgeID) (bool, error) {
	for i, id := range p.ids {
		v, err := f.r.EdgeProp(e, id)
		if err != nil || value.Equal(v, p.want[i]) != value.True {
			return false, err
		}
	}
	return true, nil
}

// varExpand follows a number of edges from a node of each input row, depth
// first and without recursion. No walk uses an edge twice.
type varExpand struct {
	fan
	from, rel, to int // rel or to is -1 when nobody reads it
	types         edgeTypes
	dir           access.Direction
	min, max      int64 // max -1: no bound
	props         edgeProps
	into          bool
	intoSlot      int
	reverse       bool
	unique        []logical.Used
	within        walkChecks

	want   value.NodeID
	stack  []level
	adj    []access.Adjacent // of all levels, one behind the other
	walk   []value.EdgeID
	inWalk map[value.EdgeID]bool // kept once the walk is long
	nodes  []value.NodeID
	lists  []value.Value
}

// level is the edges of one node of the walk: adj[pos:end] are still to follow.
type level struct{ start, pos, end int }

// longWalk is from how many edges on a map tells whether an edge is in the walk.
const longWalk = 24

func (o *varExpand) open(f *frame) error {
	o.stack, o.adj, o.walk = o.stack[:0], o.adj[:0], o.walk[:0]
	clear(o.inWalk)
	o.types.resolve(f)
	return o.fan.open(f)
}

func (o *varExpand) next() (*batch.Batch, error) {
	o.start()
	o.nodes, o.lists = o.nodes[:0], o.lists[:0]
	for !o.full() {
		var err error
		if len(o.stack) > 0 {
			err = o.follow()
		} else {
			var ok bool
			if ok, err = o.advance(); err == nil && !ok {
				break
			}
			if err == nil {
				err = o.beginRow()
			}
		}
		if err != nil {
			return nil, err
		}
	}
	n := len(o.src)
	if n == 0 {
		return nil, nil
	}
	if o.rel >= 0 {
		copy(o.col(o.rel, n), o.lists)
	}
	if o.to >= 0 {
		col := o.col(o.to, n)
		for i, id := range o.nodes {
			col[i] = value.NodeRef(id)
		}
	}
	return o.finish(), nil
}

// beginRow starts the walks of the current row.
func (o *varExpand) beginRow() error {
	node := o.nodeAt(o.from)
	if node == 0 {
		return nil
	}
	if o.into {
		if o.want = o.nodeAt(o.intoSlot); o.want == 0 {
			return nil
		}
	}
	ok, err := o.within.node(o.f, o.row, node)
	if err != nil || !ok {
		return err
	}
	if o.min == 0 {
		o.emit(node)
	}
	ok, err = o.props.load(o.f, o.row)
	o.types.renew(o.f)
	if err != nil || !ok || o.types.none || o.max == 0 {
		return err
	}
	return o.push(node)
}

// push adds the edges of a node as a new level.
func (o *varExpand) push(node value.NodeID) error {
	start := len(o.adj)
	var err error
	if o.adj, err = o.f.r.Expand(node, o.dir, o.types.ids, o.adj); err != nil {
		return err
	}
	o.stack = append(o.stack, level{start: start, pos: start, end: len(o.adj)})
	return o.f.step(len(o.adj) - start + 1)
}

// follow takes the next edge of the deepest level, or leaves the level.
func (o *varExpand) follow() error {
	top := &o.stack[len(o.stack)-1]
	if top.pos == top.end {
		o.adj = o.adj[:top.start]
		o.stack = o.stack[:len(o.stack)-1]
		o.shorten()
		return nil
	}
	a := o.adj[top.pos]
	top.pos++
	if o.walked(a.Edge) || len(o.unique) > 0 && repeats(o.cur, o.row, o.unique, a.Edge) {
		return nil
	}
	if len(o.props.ids) > 0 {
		if ok, err := o.props.match(o.f, a.Edge); err != nil || !ok {
			return err
		}
	}
	if ok, err := o.within.follow(o.f, o.row, a.Edge, a.Node); err != nil || !ok {
		return err
	}
	o.walk = append(o.walk, a.Edge)
	if len(o.walk) > longWalk {
		o.remember()
	}
	depth := int64(len(o.walk))
	if depth >= o.min {
		o.emit(a.Node)
	}
	if o.max >= 0 && depth >= o.max {
		o.shorten()
		return nil
	}
	return o.push(a.Node)
}

// shorten takes the last edge off the walk.
func (o *varExpand) shorten() {
	if n := len(o.walk); n > 0 {
		if n > longWalk {
			delete(o.inWalk, o.walk[n-1])
		}
		o.walk = o.walk[:n-1]
	}
}

// remember puts the last edge into the map of the edges beyond longWalk.
func (o *varExpand) remember() {
	if o.inWalk == nil {
		o.inWalk = map[value.EdgeID]bool{}
	}
	o.inWalk[o.walk[len(o.walk)-1]] = true
}

func (o *varExpand) walked(e value.EdgeID) bool {
	for _, w := range o.walk[:min(len(o.walk), longWalk)] {
		if w == e {
			return true
		}
	}
	return len(o.walk) > longWalk && o.inWalk[e]
}

// emit adds an output row for the walk, which ends at node.
func (o *varExpand) emit(node value.NodeID) {
	if o.into && node != o.want {
		return
	}
	o.src = append(o.src, o.row)
	o.nodes = append(o.nodes, node)
	if o.rel < 0 {
		return
	}
	list := make([]value.Value, len(o.walk))
	for i, e := range o.walk {
		at := i
		if o.reverse {
			at = len(list) - 1 - i
		}
		list[at] = value.EdgeRef(e)
	}
	o.lists = append(o.lists, value.List(list))
}
