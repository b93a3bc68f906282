package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
)

// optional runs an inner tree on whole batches of input and adds a row of nulls
// for every input row that it found nothing for, in place. The rows are told
// apart by their number, which travels through the inner tree in a slot; inner
// trees keep the order of their input.
type optional struct {
	output
	f       *frame
	in      operator
	inner   operator
	arg     *argument
	carry   []int
	fresh   []int // slots that are null where nothing was found
	rowSlot int

	given  batch.Batch
	rows   []value.Value
	cur    *batch.Batch
	innerB *batch.Batch // the batch of the inner tree being handed on
	pos    int          // next row of innerB
	want   int          // the next input row that has not been seen
	fromIn []int        // per output row: input row
	fromB  []int        // per output row: row of innerB, or -1
	done   bool         // the inner tree has ended
}

func (o *optional) open(f *frame) error {
	o.f, o.cur, o.innerB = f, nil, nil
	return o.in.open(f)
}

func (o *optional) next() (*batch.Batch, error) {
	for {
		if o.cur == nil {
			if err := o.feed(); err != nil || o.cur == nil {
				return nil, err
			}
		}
		if o.innerB == nil && !o.done {
			b, err := o.inner.next()
			if err != nil {
				return nil, err
			}
			o.innerB, o.pos, o.done = b, 0, b == nil
		}
		b := o.merge()
		if o.done && o.innerB == nil && o.want == o.cur.N {
			o.cur = nil
		}
		if b != nil {
			return b, nil
		}
	}
}

// feed starts the inner tree on the next batch of input.
func (o *optional) feed() error {
	in, err := o.in.next()
	if err != nil || in == nil {
		return err
	}
	o.cur, o.innerB, o.want, o.done = in, nil, 0, false
	if len(o.given.Cols) < o.f.width {
		o.given.Cols = make([][]value.Value, o.f.width)
	}
	copy(o.given.Cols, in.Cols)
	o.given.N = in.N
	o.given.Cols[o.rowSlot] = sized(&o.rows, in.N)
	for i := range o.rows {
		o.rows[i] = value.Int(int64(i))
	}
	o.arg.given = &o.given
	return o.inner.open(o.f)
}

// merge makes an output batch of what the inner tree has yielded and of the
// input rows that it has passed over.
func (o *optional) merge() *batch.Batch {
	o.fromIn, o.fromB = o.fromIn[:0], o.fromB[:0]
	for len(o.fromIn) < batch.Size {
		row := o.cur.N // beyond the last: only misses are left
		if o.innerB != nil {
			row = int(o.innerB.Cols[o.rowSlot][o.pos].AsInt())
		} else if !o.done {
			break
		}
		if o.want < row {
			o.fromIn, o.fromB = append(o.fromIn, o.want), append(o.fromB, -1)
			o.want++
			continue
		}
		if o.innerB == nil {
			break
		}
		o.want = row + 1
		o.fromIn, o.fromB = append(o.fromIn, row), append(o.fromB, o.pos)
		if o.pos++; o.pos == o.innerB.N {
			// The batch is handed on before the next one replaces its columns.
			return o.build()
		}
	}
	return o.build()
}

func (o *optional) build() *batch.Batch {
	n := len(o.fromIn)
	inner := o.innerB
	if inner != nil && o.pos == inner.N {
		o.innerB = nil
	}
	if n == 0 {
		return nil
	}
	o.begin(o.f.width)
	o.gather(o.cur, o.carry, o.fromIn)
	for _, s := range o.fresh {
		col := o.col(s, n)
		for i, row := range o.fromB {
			col[i] = value.Null
			if row >= 0 && inner.Cols[s] != nil {
				col[i] = inner.Cols[s][row]
			}
		}
	}
	o.b.N = n
	return &o.b
}
