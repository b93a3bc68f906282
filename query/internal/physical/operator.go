// Package physical runs plans: every logical operator has one here that pulls
// batches of rows, held in columns, from the one below.
//
// A batch and its columns belong to the operator that returned it and stay
// valid until its next call. Nobody changes a column but the operator that
// allocated it; an operator that keeps rows copies them.
package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
)

// operator is one running operator. open makes it ready to yield rows from the
// start, again and again; next returns nil at the end and never an empty batch.
type operator interface {
	open(f *frame) error
	next() (*batch.Batch, error)
}

// output is the memory of an operator's own columns.
type output struct {
	b   batch.Batch
	own [][]value.Value // by slot
}

// begin starts a batch of width dead columns.
func (o *output) begin(width int) {
	if len(o.b.Cols) < width {
		o.b.Cols = make([][]value.Value, width)
		o.own = make([][]value.Value, width)
	}
	clear(o.b.Cols)
	o.b.N = 0
}

// col returns the operator's own column for slot, n rows long. What it holds is
// from earlier batches.
func (o *output) col(slot, n int) []value.Value {
	c := o.own[slot]
	if cap(c) < n {
		c = make([]value.Value, max(n, min(2*cap(c), batch.Size)))
		o.own[slot] = c
	}
	c = c[:n]
	o.b.Cols[slot] = c
	return c
}

// pass hands columns of in on as they are.
func (o *output) pass(in *batch.Batch, carry []int) {
	for _, s := range carry {
		o.b.Cols[s] = in.Cols[s]
	}
}

// gather fills columns with the rows of in that src lists.
func (o *output) gather(in *batch.Batch, carry []int, src []int) {
	for _, s := range carry {
		from := in.Cols[s]
		if from == nil {
			continue
		}
		to := o.col(s, len(src))
		for i, row := range src {
			to[i] = from[row]
		}
	}
}

// argument yields the batch it was given, once.
type argument struct {
	given *batch.Batch
	done  bool
}

func (a *argument) open(*frame) error { a.done = false; return nil }

func (a *argument) next() (*batch.Batch, error) {
	if a.done || a.given == nil || a.given.N == 0 {
		return nil, nil
	}
	a.done = true
	return a.given, nil
}

// fan is the base of operators that make any number of rows of each input row.
type fan struct {
	output
	f     *frame
	in    operator
	carry []int
	cur   *batch.Batch
	row   int
	src   []int // for each output row the row of cur it comes from
	room  int   // rows that the next output batch may have
	most  int   // rows that this one may have
	ended bool
}

func (o *fan) open(f *frame) error {
	o.f, o.cur, o.row, o.ended = f, nil, 0, false
	o.room = batch.Size
	if f.few {
		o.room = 1
	}
	o.src = o.src[:0]
	return o.in.open(f)
}

// start begins an output batch.
func (o *fan) start() {
	o.begin(o.f.width)
	o.src = o.src[:0]
	o.most = o.room
	o.room = min(4*o.room, batch.Size)
	if o.cur != nil { // others have used the environment since the last call
		o.f.env.Cols = o.cur.Cols
	}
}

// full reports whether the output batch has no room left.
func (o *fan) full() bool { return len(o.src) >= o.most }

// advance moves to the next input row. It returns false when the output has to
// be handed on first, since its rows point into the current input, and at the
// end.
func (o *fan) advance() (bool, error) {
	for {
		if o.cur != nil && o.row+1 < o.cur.N {
			o.row++
			return true, nil
		}
		if len(o.src) > 0 || o.ended {
			return false, nil
		}
		b, err := o.in.next()
		if err != nil {
			return false, err
		}
		if b == nil {
			o.ended, o.cur = true, nil
			return false, nil
		}
		o.cur, o.row = b, -1
		o.f.env.Cols = b.Cols
	}
}

// finder finds something for every input row, of which fill makes output rows.
type finder interface {
	pending() int // how much of the current input row's is not handed on yet
	take(n int)   // hands the next n on
	find() error  // looks for what there is for the row that has just become the current one
}

// fill begins an output batch and fills it. It returns false at the end.
func (o *fan) fill(from finder) (bool, error) {
	o.start()
	for !o.full() {
		if n := min(from.pending(), o.most-len(o.src)); n > 0 {
			for range n {
				o.src = append(o.src, o.row)
			}
			from.take(n)
			continue
		}
		ok, err := o.advance()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if err := from.find(); err != nil {
			return false, err
		}
	}
	return len(o.src) > 0, nil
}

// finish completes the output batch; nil when it is empty.
func (o *fan) finish() *batch.Batch {
	if len(o.src) == 0 {
		return nil
	}
	o.gather(o.cur, o.carry, o.src)
	o.b.N = len(o.src)
	return &o.b
}

// nodeAt returns the node in a column of the current input row; 0 for null and
// other kinds.
func (o *fan) nodeAt(slot int) value.NodeID { return o.cur.Cols[slot][o.row].NodeID() }
