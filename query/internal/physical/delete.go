package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/syntax"
)

// remove deletes the nodes, edges and paths that its expressions yield. Of a
// batch it deletes the edges first, so that nodes are free by then.
type remove struct {
	f      *frame
	in     operator
	detach bool
	exprs  []eval.Fn
	spans  []syntax.Span
	nodes  []value.NodeID
	edges  []value.EdgeID
}

func (o *remove) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *remove) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	o.nodes, o.edges = o.nodes[:0], o.edges[:0]
	o.f.env.Cols = in.Cols
	for row := range in.N {
		for i, e := range o.exprs {
			v, err := e(&o.f.env, row)
			if err != nil {
				return nil, err
			}
			if err := o.add(v); err != nil {
				return nil, at(err, o.spans[i])
			}
		}
	}
	for _, e := range o.edges {
		if err := o.f.w.deleteEdge(e); err != nil {
			return nil, err
		}
	}
	for _, n := range o.nodes {
		if err := o.f.w.deleteNode(n, o.detach); err != nil {
			return nil, err
		}
	}
	return in, o.f.step(len(o.nodes) + len(o.edges))
}

func (o *remove) add(v value.Value) error {
	switch v.Kind() {
	case value.KindNull:
	case value.KindNode:
		o.nodes = append(o.nodes, v.NodeID())
	case value.KindEdge:
		o.edges = append(o.edges, v.EdgeID())
	case value.KindPath:
		for _, n := range v.AsPath().Nodes {
			o.nodes = append(o.nodes, n.NodeID())
		}
		for _, e := range v.AsPath().Edges {
			o.edges = append(o.edges, e.EdgeID())
		}
	default:
		return typeError("DELETE takes nodes, relationships and paths, but this is %s", v.Kind().Named())
	}
	return nil
}

// foreach runs its body for every element of a list, one after the other.
type foreach struct {
	f    *frame
	in   operator
	body operator
	arg  *argument
	slot int
	list eval.Fn
	one  batch.Batch
}

func (o *foreach) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *foreach) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	for row := range in.N {
		o.f.env.Cols = in.Cols
		v, err := o.list(&o.f.env, row)
		if err != nil {
			return nil, err
		}
		if v.IsNull() {
			continue
		}
		if v.Kind() != value.KindList {
			return nil, typeError("FOREACH needs a list, but this is %s", v.Kind().Named())
		}
		for _, e := range v.AsList() {
			if err := o.run(in, row, e); err != nil {
				return nil, err
			}
		}
	}
	return in, nil
}

// run runs the body with e in the slot of the variable.
func (o *foreach) run(in *batch.Batch, row int, e value.Value) error {
	if len(o.one.Cols) < o.f.width {
		o.one.Cols = make([][]value.Value, o.f.width)
	}
	clear(o.one.Cols)
	for s, c := range in.Cols {
		if c != nil {
			o.one.Cols[s] = c[row : row+1]
		}
	}
	o.one.Cols[o.slot] = []value.Value{e}
	o.one.N = 1
	o.arg.given = &o.one
	if err := o.body.open(o.f); err != nil {
		return err
	}
	for {
		if b, err := o.body.next(); err != nil || b == nil {
			return err
		}
		if err := o.f.step(1); err != nil {
			return err
		}
	}
}
