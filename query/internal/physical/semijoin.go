package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/logical"
)

// semiJoin keeps the input rows for which a subquery has a row; with anti those for
// which it has none.
type semiJoin struct {
	output
	f     *frame
	in    operator
	carry []int
	sub   *bound.Subquery
	outer []eval.Fn
	anti  bool
	args  []value.Value
	sel   []int
}

func (c *compiler) semiJoin(o *logical.SemiJoin) operator {
	out := &semiJoin{in: c.in(o), carry: o.Info().Carry, sub: o.Sub, anti: o.Anti}
	for _, e := range o.Sub.Outer {
		out.outer = append(out.outer, c.fn(e))
	}
	return out
}

func (o *semiJoin) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *semiJoin) next() (*batch.Batch, error) {
	for {
		in, err := o.in.next()
		if err != nil || in == nil {
			return nil, err
		}
		o.sel = o.sel[:0]
		for row := range in.N {
			some, err := o.some(in, row)
			if err != nil {
				return nil, err
			}
			if some != o.anti {
				o.sel = append(o.sel, row)
			}
		}
		if len(o.sel) == in.N {
			return in, nil
		}
		if len(o.sel) > 0 {
			o.begin(o.f.width)
			o.gather(in, o.carry, o.sel)
			o.b.N = len(o.sel)
			return &o.b, nil
		}
	}
}

// some reports whether the subquery has a row.
func (o *semiJoin) some(in *batch.Batch, row int) (bool, error) {
	if err := o.f.step(1); err != nil {
		return false, err
	}
	o.f.env.Cols = in.Cols
	o.args = o.args[:0]
	for _, e := range o.outer {
		v, err := e(&o.f.env, row)
		if err != nil {
			return false, err
		}
		o.args = append(o.args, v)
	}
	return o.f.inst.some(o.sub, o.args)
}

// degree yields a row for each edge of a node, without reading the edges.
type degree struct {
	output
	f     *frame
	in    operator
	from  int
	types edgeTypes
	dir   access.Direction
	left  int64 // rows that are still to be yielded
}

func (o *degree) open(f *frame) error {
	o.f, o.left = f, 0
	o.types.resolve(f)
	return o.in.open(f)
}

func (o *degree) next() (*batch.Batch, error) {
	for o.left == 0 {
		in, err := o.in.next()
		if err != nil || in == nil {
			return nil, err
		}
		o.types.renew(o.f)
		for _, v := range in.Cols[o.from][:in.N] {
			if v.Kind() == value.KindNode && !o.types.none {
				o.left += o.f.r.Degree(v.NodeID(), o.dir, o.types.ids)
			}
		}
		if err := o.f.step(in.N); err != nil {
			return nil, err
		}
	}
	o.begin(o.f.width)
	o.b.N = int(min(o.left, batch.Size))
	o.left -= int64(o.b.N)
	return &o.b, nil
}
