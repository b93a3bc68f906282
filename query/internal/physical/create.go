package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
)

// create makes what its patterns say for every row.
type create struct {
	output
	f      *frame
	in     operator
	makers []*maker
	fresh  []int // slots it fills
}

func (o *create) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *create) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	o.begin(o.f.width)
	copy(o.b.Cols, in.Cols)
	for _, s := range o.fresh {
		clear(o.col(s, in.N))
	}
	for row := range in.N {
		for _, m := range o.makers {
			if err := m.make(o.f, o.b.Cols, row); err != nil {
				return nil, err
			}
		}
		if err := o.f.step(len(o.makers)); err != nil {
			return nil, err
		}
	}
	o.b.N = in.N
	return &o.b, nil
}

// merge finds its pattern for a row or creates it, one row after the other, so
// that a row sees what earlier rows have created.
type merge struct {
	output
	f        *frame
	in       operator
	inner    operator
	arg      *argument
	slots    []int // kept of every row
	fresh    []int
	maker    *maker
	onCreate []setter
	onMatch  []setter

	rows  table
	one   batch.Batch
	cur   *batch.Batch
	row   int
	pos   int
	view  [][]value.Value
	nulls []value.Value
}

func (o *merge) open(f *frame) error {
	o.f, o.cur, o.row, o.pos = f, nil, 0, 0
	o.rows.slots = o.slots
	o.rows.reset()
	return o.in.open(f)
}

func (o *merge) next() (*batch.Batch, error) {
	if o.pos == o.rows.n {
		if err := o.fill(); err != nil {
			return nil, err
		}
	}
	n := min(o.rows.n-o.pos, batch.Size)
	if n == 0 {
		return nil, nil
	}
	o.begin(o.f.width)
	o.rows.emit(&o.output, o.pos, n, nil)
	o.pos += n
	return &o.b, nil
}

// fill merges input rows until there is a batch of output rows.
func (o *merge) fill() error {
	o.rows.reset()
	o.pos = 0
	for o.rows.n < batch.Size {
		if o.cur == nil || o.row == o.cur.N {
			in, err := o.in.next()
			if err != nil || in == nil {
				o.cur = nil
				return err
			}
			o.cur, o.row = in, 0
		}
		if err := o.mergeRow(); err != nil {
			return err
		}
		o.row++
	}
	return nil
}

// mergeRow adds the rows that the current input row makes.
func (o *merge) mergeRow() error {
	if len(o.one.Cols) < o.f.width {
		o.one.Cols = make([][]value.Value, o.f.width)
		o.view = make([][]value.Value, o.f.width)
	}
	clear(o.one.Cols)
	for s, c := range o.cur.Cols {
		if c != nil {
			o.one.Cols[s] = c[o.row : o.row+1]
		}
	}
	o.one.N = 1
	o.arg.given = &o.one
	if err := o.inner.open(o.f); err != nil {
		return err
	}
	first := o.rows.n
	for {
		b, err := o.inner.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		o.rows.add(b)
		if err := o.f.step(b.N); err != nil {
			return err
		}
	}
	if o.rows.n > first {
		return o.apply(o.onMatch, first)
	}
	return o.create(first)
}

func (o *merge) create(first int) error {
	if len(o.nulls) < len(o.fresh) {
		o.nulls = make([]value.Value, len(o.fresh))
	}
	clear(o.nulls)
	for i, s := range o.fresh {
		o.one.Cols[s] = o.nulls[i : i+1]
	}
	if err := o.maker.make(o.f, o.one.Cols, 0); err != nil {
		return err
	}
	o.rows.add(&o.one)
	return o.apply(o.onCreate, first)
}

// apply runs SET items on the rows from first on.
func (o *merge) apply(items []setter, first int) error {
	if len(items) == 0 {
		return nil
	}
	clear(o.view)
	for i, s := range o.rows.slots {
		o.view[s] = o.rows.cols[i][first:]
	}
	for row := range o.rows.n - first {
		for i := range items {
			o.f.env.Cols = o.view
			if err := items[i].apply(o.f, row); err != nil {
				return err
			}
		}
	}
	return nil
}
