package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
)

// column is a compiled expression and the slot its values go to. A plain slot
// is copied without calling anything.
type column struct {
	to   int
	from int // the slot that is copied, or -1
	fn   eval.Column
}

// fill computes the column for the rows of in into out.
func (c *column) fill(f *frame, in *batch.Batch, out []value.Value) error {
	if c.from >= 0 {
		if in.Cols[c.from] == nil {
			clear(out)
			return nil
		}
		copy(out, in.Cols[c.from])
		return nil
	}
	f.env.Cols = in.Cols
	return c.fn(&f.env, in.N, out)
}

// project computes new columns.
type project struct {
	output
	f     *frame
	in    operator
	carry []int
	items []column
}

func (o *project) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *project) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	o.begin(o.f.width)
	o.pass(in, o.carry)
	o.b.N = in.N
	for i := range o.items {
		c := &o.items[i]
		if c.from >= 0 && in.Cols[c.from] != nil {
			o.b.Cols[c.to] = in.Cols[c.from]
			continue
		}
		if err := c.fill(o.f, in, o.col(c.to, in.N)); err != nil {
			return nil, err
		}
	}
	return &o.b, nil
}

// unwind makes a row of every element of a list.
type unwind struct {
	fan
	list  eval.Fn
	slot  int
	elems []value.Value
	pos   int
	one   [1]value.Value
	out   []value.Value
}

func (o *unwind) open(f *frame) error {
	o.elems, o.pos = nil, 0
	return o.fan.open(f)
}

func (o *unwind) next() (*batch.Batch, error) {
	o.out = o.out[:0]
	if ok, err := o.fill(o); err != nil || !ok {
		return nil, err
	}
	copy(o.col(o.slot, len(o.out)), o.out)
	return o.finish(), nil
}

func (o *unwind) pending() int { return len(o.elems) - o.pos }

func (o *unwind) take(n int) {
	o.out = append(o.out, o.elems[o.pos:o.pos+n]...)
	o.pos += n
}

// find evaluates the list for the current row.
func (o *unwind) find() error {
	v, err := o.list(&o.f.env, o.row)
	if err != nil {
		return err
	}
	switch {
	case v.Kind() == value.KindList:
		o.elems = v.AsList()
	case v.IsNull():
		o.elems = nil
	default:
		o.one[0] = v
		o.elems = o.one[:]
	}
	o.pos = 0
	return o.f.step(len(o.elems) + 1)
}
