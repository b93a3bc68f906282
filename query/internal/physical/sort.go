package physical

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
)

// sortKey is one compiled sort key.
type sortKey struct {
	fn   eval.Column
	desc bool
}

// sorter orders its whole input. It is stable.
type sorter struct {
	output
	f     *frame
	in    operator
	keys  []sortKey
	rows  table
	cols  [][]value.Value // the keys, by position
	fresh [][]value.Value // the keys of the batch at hand
	sel   []int
	worst int // row that a new one must beat once enough are held, or -1
	order []int
	pos   int
	ready bool
	// top, when not nil, gives how many rows to drop and how many to keep.
	top func() (skip, limit int64, err error)
	end int
	// first tells of an input that comes in order, for top.
	first firstRows
}

func (o *sorter) open(f *frame) error {
	o.f, o.pos, o.ready, o.worst = f, 0, false, -1
	o.rows.reset()
	o.first.known = false
	if o.cols == nil {
		o.cols = make([][]value.Value, len(o.keys))
		o.fresh = make([][]value.Value, len(o.keys))
	}
	for i := range o.cols {
		clear(o.cols[i])
		o.cols[i] = o.cols[i][:0]
	}
	return o.in.open(f)
}

func (o *sorter) next() (*batch.Batch, error) {
	if !o.ready {
		if err := o.consume(); err != nil {
			return nil, err
		}
		o.ready = true
	}
	n := min(o.end-o.pos, batch.Size)
	if n <= 0 {
		return nil, nil
	}
	o.begin(o.f.width)
	o.rows.emit(&o.output, 0, n, o.order[o.pos:])
	o.pos += n
	return &o.b, nil
}

func (o *sorter) consume() error {
	skip, limit := int64(0), int64(1<<62)
	if o.top != nil {
		var err error
		if skip, limit, err = o.top(); err != nil {
			return err
		}
	}
	keep := int64(1 << 62)
	if limit < keep-skip {
		keep = skip + limit
	}
	for {
		in, err := o.in.next()
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		if err := o.add(in); err != nil {
			return err
		}
		if o.enough(keep) {
			break
		}
		if int64(o.rows.n-4*batch.Size)/2 > keep {
			if err := o.trim(int(keep)); err != nil {
				return err
			}
		}
	}
	if err := o.sort(); err != nil {
		return err
	}
	o.end = int(min(int64(o.rows.n), keep))
	o.pos = int(min(skip, int64(o.end)))
	return nil
}

func (o *sorter) add(in *batch.Batch) error {
	o.f.env.Cols = in.Cols
	for i, k := range o.keys {
		if err := k.fn(&o.f.env, in.N, sized(&o.fresh[i], in.N)); err != nil {
			return err
		}
	}
	o.first.last = o.fresh[0][in.N-1]
	if o.worst >= 0 {
		var err error
		if in, err = o.better(in); err != nil {
			return err
		}
	}
	for i, c := range o.fresh {
		o.cols[i] = append(o.cols[i], c[:in.N]...)
	}
	size := int64(in.N*len(o.keys))*24 + o.rows.add(in)
	if err := o.f.grow(size); err != nil {
		return err
	}
	return o.f.step(in.N + 1)
}

// better keeps the rows of a batch, and their keys, that come before the worst
// row held. An equal one comes behind it, for the order is stable.
func (o *sorter) better(in *batch.Batch) (*batch.Batch, error) {
	o.sel = o.sel[:0]
	for row := range in.N {
		for _, c := range o.fresh {
			if err := o.f.pass(int64(c[row].Size())); err != nil {
				return nil, err
			}
		}
		if o.beats(row) {
			o.sel = append(o.sel, row)
		}
	}
	if len(o.sel) == in.N {
		return in, nil
	}
	for i, c := range o.fresh {
		for to, from := range o.sel {
			o.fresh[i][to] = c[from]
		}
	}
	o.begin(o.f.width)
	o.gather(in, o.rows.slots, o.sel)
	o.b.N = len(o.sel)
	return &o.b, nil
}

func (o *sorter) beats(row int) bool {
	for i, k := range o.keys {
		c := value.Order(o.fresh[i][row], o.cols[i][o.worst])
		if k.desc {
			c = -c
		}
		if c != 0 {
			return c < 0
		}
	}
	return false
}

// sort fills order with the rows in order.
func (o *sorter) sort() error {
	order := identity(&o.order, o.rows.n)
	var stop error
	compared := 0
	slices.SortStableFunc(order, func(a, b int) int {
		if compared += o.cost(a, b); compared >= checkEvery && stop == nil {
			stop = o.f.step(compared)
			compared = 0
		}
		if stop != nil {
			return 0 // all equal: the sort is over soon
		}
		return o.compare(a, b)
	})
	return stop
}

// cost is how many steps a comparison takes at most: large keys are gone through.
func (o *sorter) cost(a, b int) int {
	steps := 1
	for i := range o.cols {
		steps += min(o.cols[i][a].Size(), o.cols[i][b].Size()) / (2 * passBytes)
	}
	return steps
}

func (o *sorter) compare(a, b int) int {
	for i := range o.keys {
		c := value.Order(o.cols[i][a], o.cols[i][b])
		if c == 0 {
			continue
		}
		if o.keys[i].desc {
			return -c
		}
		return c
	}
	return 0
}

// trim keeps the first rows of those held, in order, so that equal rows stay in
// the order they came.
func (o *sorter) trim(keep int) error {
	if err := o.sort(); err != nil {
		return err
	}
	kept := o.order[:min(keep, o.rows.n)]
	pick := func(col []value.Value) []value.Value {
		out := make([]value.Value, len(kept), cap(col))
		for i, row := range kept {
			out[i] = col[row]
		}
		return out
	}
	size := int64(0)
	for i := range o.cols {
		o.cols[i] = pick(o.cols[i])
	}
	for i := range o.rows.cols {
		for _, row := range o.order[len(kept):] {
			size += int64(o.rows.cols[i][row].Size())
		}
		o.rows.cols[i] = pick(o.rows.cols[i])
	}
	size += int64((o.rows.n - len(kept)) * 24 * len(o.keys))
	o.rows.n = len(kept)
	o.worst = len(kept) - 1
	return o.f.grow(-size)
}
