package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/syntax"
)

// callProc calls a procedure for every input row.
type callProc struct {
	fan
	span   syntax.Span
	proc   *Procedure
	args   []eval.Fn
	fields []int // per yield: the output it takes
	slots  []int // per yield: the slot it fills

	rows [][]value.Value
	pos  int
	out  [][]value.Value // picked for the batch at hand
	vals []value.Value
}

func (o *callProc) open(f *frame) error {
	o.rows, o.pos = nil, 0
	return o.fan.open(f)
}

func (o *callProc) next() (*batch.Batch, error) {
	o.out = o.out[:0]
	if ok, err := o.fill(o); err != nil || !ok {
		return nil, err
	}
	for i, s := range o.slots {
		col := o.col(s, len(o.out))
		for j, row := range o.out {
			col[j] = row[o.fields[i]]
		}
	}
	return o.finish(), nil
}

func (o *callProc) pending() int { return len(o.rows) - o.pos }

func (o *callProc) take(n int) {
	o.out = append(o.out, o.rows[o.pos:o.pos+n]...)
	o.pos += n
}

// find calls the procedure for the current row.
func (o *callProc) find() error {
	o.vals = o.vals[:0]
	for _, a := range o.args {
		v, err := a(&o.f.env, o.row)
		if err != nil {
			return err
		}
		o.vals = append(o.vals, v)
	}
	var err error
	if o.proc.Change != nil {
		o.rows, err = o.proc.Change(changes{o.f.r, o.f}, o.vals)
		err = at(err, o.span)
	} else {
		o.rows, err = o.proc.Call(o.f.ctx, o.f.r, o.vals)
	}
	o.pos = 0
	if err != nil {
		return err
	}
	if len(o.proc.Outputs) == 0 {
		o.rows = [][]value.Value{nil} // a procedure without outputs keeps the row
	}
	return o.f.step(len(o.rows) + 1)
}

// callSubquery runs a query for every input row.
type callSubquery struct {
	fan
	def   *bound.CallSubquery
	query *union
	vals  []value.Value
	rows  table // the query's rows for the current input row
	held  int64 // bytes of rows
	pos   int
	cols  [][]value.Value
}

func (o *callSubquery) open(f *frame) error {
	o.rows.reset()
	o.pos, o.held = 0, 0
	return o.fan.open(f)
}

func (o *callSubquery) next() (*batch.Batch, error) {
	for i := range o.cols {
		o.cols[i] = o.cols[i][:0]
	}
	if ok, err := o.fill(o); err != nil || !ok {
		return nil, err
	}
	for i, s := range o.def.Out {
		copy(o.col(s, len(o.src)), o.cols[i])
	}
	return o.finish(), nil
}

func (o *callSubquery) pending() int { return o.rows.n - o.pos }

func (o *callSubquery) take(n int) {
	for i := range o.cols {
		o.cols[i] = append(o.cols[i], o.rows.cols[i][o.pos:o.pos+n]...)
	}
	o.pos += n
}

// find collects the query's rows for the current input row.
func (o *callSubquery) find() error {
	o.rows.reset()
	o.pos = 0
	o.vals = o.vals[:0]
	for _, s := range o.def.Outer {
		o.vals = append(o.vals, o.cur.Cols[s][o.row])
	}
	// What the query holds while it runs, and the rows of the last input row, are
	// gone when the next one comes.
	before := o.f.memory + o.held
	o.held = 0
	if err := o.query.open(o.f.exec, o.def.Inner, o.vals); err != nil {
		return err
	}
	for {
		b, err := o.query.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if len(o.def.Out) > 0 {
			size := o.rows.add(b)
			o.held += size
			if err := o.f.grow(size); err != nil {
				return err
			}
		}
		if err := o.f.step(b.N); err != nil {
			return err
		}
	}
	o.f.memory = before - o.held
	if len(o.def.Out) == 0 {
		o.rows.n = 1 // a query without columns keeps the row
	}
	return nil
}
