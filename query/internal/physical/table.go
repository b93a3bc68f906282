package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
)

// table keeps rows: copies of the columns of slots.
type table struct {
	slots []int
	cols  [][]value.Value // by position in slots
	n     int
}

func (t *table) reset() {
	if t.cols == nil {
		t.cols = make([][]value.Value, len(t.slots))
	}
	for i := range t.cols {
		clear(t.cols[i])
		t.cols[i] = t.cols[i][:0]
	}
	t.n = 0
}

// add appends all rows of a batch and returns an estimate of the bytes taken.
func (t *table) add(in *batch.Batch) int64 {
	size := int64(0)
	for i, s := range t.slots {
		from := in.Cols[s]
		if from == nil {
			from = nullColumn[:]
		}
		t.cols[i] = append(t.cols[i], from[:in.N]...)
		for _, v := range from[:in.N] {
			size += int64(v.Size())
		}
	}
	t.n += in.N
	return size
}

// emit puts rows order[0], order[1], ... into out; a nil order means the rows
// from at on.
func (t *table) emit(out *output, at, n int, order []int) {
	for i, s := range t.slots {
		col := out.col(s, n)
		if order == nil {
			copy(col, t.cols[i][at:at+n])
			continue
		}
		for j, row := range order[:n] {
			col[j] = t.cols[i][row]
		}
	}
	out.b.N = n
}

var nullColumn [batch.Size]value.Value // never written

// eager reads its input to the end before it yields the first row.
type eager struct {
	output
	f     *frame
	in    operator
	rows  table
	pos   int
	ready bool
	held  int64
}

func (o *eager) open(f *frame) error {
	o.f, o.pos, o.ready, o.held = f, 0, false, 0
	o.rows.reset()
	return o.in.open(f)
}

func (o *eager) next() (*batch.Batch, error) {
	for !o.ready {
		in, err := o.in.next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			o.ready = true
			break
		}
		size := o.rows.add(in)
		o.held += size
		if err := o.f.grow(size); err != nil {
			return nil, err
		}
	}
	n := min(o.rows.n-o.pos, batch.Size)
	if n <= 0 {
		return nil, o.release()
	}
	o.begin(o.f.width)
	o.rows.emit(&o.output, o.pos, n, nil)
	o.b.N = n
	o.pos += n
	return &o.b, nil
}

// release gives the memory back to the budget.
func (o *eager) release() error {
	held := o.held
	o.held = 0
	return o.f.grow(-held)
}
