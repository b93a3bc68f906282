package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/fn"
)

// aggSpec is one compiled aggregate.
type aggSpec struct {
	slot     int
	args     []eval.Column
	distinct bool
	def      *fn.Aggregate
	count    *countDistinct    // for count(DISTINCT x) without groups
	at       func(error) error // gives an error its place
}

// recentGroup remembers the group of a key that is the same in every bit.
type recentGroup struct {
	key   value.Value
	group int32 // +1; 0: empty
}

// aggregate groups its whole input and yields a row a group, in the order in
// which the groups first appeared.
type aggregate struct {
	output
	f      *frame
	in     operator
	groups []column
	aggs   []aggSpec
	args   []int // slots that keep the value given from outside

	keys    rowSet
	states  []fn.Aggregator // len(aggs) a group
	counts  []int64         // rows a group, for count(*)
	keyCols [][]value.Value
	argCols [][][]value.Value
	keyRow  []value.Value
	argRow  []value.Value
	recent  [64]recentGroup // of a single key, by its bits
	pos     int
	ready   bool

	rowGroups []int // of the batch at hand
}

func (o *aggregate) open(f *frame) error {
	o.f, o.pos, o.ready = f, 0, false
	o.keys.reset(len(o.groups))
	clear(o.recent[:])
	clear(o.states)
	o.states, o.counts = o.states[:0], o.counts[:0]
	if o.argCols == nil {
		o.keyCols = make([][]value.Value, len(o.groups))
		o.argCols = make([][][]value.Value, len(o.aggs))
		for i, a := range o.aggs {
			o.argCols[i] = make([][]value.Value, len(a.args))
		}
	}
	return o.in.open(f)
}

func (o *aggregate) next() (*batch.Batch, error) {
	if !o.ready {
		if err := o.consume(); err != nil {
			return nil, err
		}
		o.ready = true
	}
	n := min(len(o.counts)-o.pos, batch.Size)
	if n <= 0 {
		return nil, nil
	}
	o.begin(o.f.width)
	o.b.N = n
	for _, s := range o.args {
		col := o.col(s, n)
		for i := range col {
			col[i] = o.f.args[s]
		}
	}
	for g := range o.groups {
		col := o.col(o.groups[g].to, n)
		for i := range col {
			col[i] = o.keys.row(o.pos + i)[g]
		}
	}
	for a := range o.aggs {
		if err := o.results(a, n); err != nil {
			return nil, err
		}
	}
	o.pos += n
	return &o.b, nil
}

func (o *aggregate) results(a, n int) error {
	spec := &o.aggs[a]
	col := o.col(spec.slot, n)
	for i := range col {
		group := o.pos + i
		if len(spec.args) == 0 {
			col[i] = value.Int(o.counts[group])
			continue
		}
		v, err := o.states[group*len(o.aggs)+a].Result()
		if err != nil {
			return spec.at(err)
		}
		if err := o.f.env.Made(v); err != nil {
			return spec.at(err)
		}
		col[i] = v
	}
	return nil
}

// consume reads the input to its end.
func (o *aggregate) consume() error {
	if len(o.groups) == 0 {
		o.addGroup() // no input still makes one row
	}
	for {
		in, err := o.in.next()
		if err != nil {
			return err
		}
		if in == nil {
			return nil
		}
		if err := o.f.step(in.N); err != nil {
			return err
		}
		if err := o.evaluate(in); err != nil {
			return err
		}
		if err := o.assign(in.N); err != nil {
			return err
		}
		for i := range o.aggs {
			if len(o.aggs[i].args) == 0 {
				continue
			}
			if err := o.add(i, in.N); err != nil {
				return err
			}
		}
	}
}

// assign finds the group of every row and counts it there.
func (o *aggregate) assign(n int) error {
	o.rowGroups = o.rowGroups[:0]
	for row := range n {
		g := 0
		if len(o.groups) > 0 {
			var err error
			if g, err = o.group(row); err != nil {
				return err
			}
		}
		o.counts[g]++
		o.rowGroups = append(o.rowGroups, g)
	}
	return nil
}

// evaluate computes the grouping keys and the arguments for a batch.
func (o *aggregate) evaluate(in *batch.Batch) error {
	for i := range o.groups {
		c := sized(&o.keyCols[i], in.N)
		if err := o.groups[i].fill(o.f, in, c); err != nil {
			return err
		}
	}
	o.f.env.Cols = in.Cols
	for i := range o.aggs {
		for j, arg := range o.aggs[i].args {
			if err := arg(&o.f.env, in.N, sized(&o.argCols[i][j], in.N)); err != nil {
				return err
			}
		}
	}
	return nil
}

// group returns the number of a row's group.
func (o *aggregate) group(row int) (int, error) {
	if len(o.groups) == 1 {
		key := o.keyCols[0][row]
		bits := value.Bits(key)
		r := &o.recent[(bits^bits>>32)%uint64(len(o.recent))]
		if r.group == 0 || !value.Same(r.key, key) {
			g, err := o.findGroup(row)
			if err != nil {
				return 0, err
			}
			r.key, r.group = key, int32(g)+1
		}
		return int(r.group) - 1, nil
	}
	return o.findGroup(row)
}

func (o *aggregate) findGroup(row int) (int, error) {
	o.keyRow = o.keyRow[:0]
	for _, c := range o.keyCols {
		o.keyRow = append(o.keyRow, c[row])
	}
	size := rowSize(o.keyRow)
	if err := o.f.pass(size); err != nil {
		return 0, err
	}
	g, isNew := o.keys.add(o.keyRow)
	if !isNew {
		return g, nil
	}
	o.addGroup()
	return g, o.f.grow(size + int64(64*len(o.aggs)))
}

func (o *aggregate) addGroup() {
	o.counts = append(o.counts, 0)
	for i := range o.aggs {
		a := &o.aggs[i]
		var state fn.Aggregator
		switch {
		case a.count != nil:
			a.count.reset()
			state = a.count
		case len(a.args) > 0:
			state = a.def.New()
			if a.distinct {
				state = fn.Distinct(state)
			}
		}
		o.states = append(o.states, state)
	}
}

// add gives aggregate i its arguments of n rows.
func (o *aggregate) add(i, n int) error {
	a, cols := &o.aggs[i], o.argCols[i]
	first := cols[0]
	if a.count != nil {
		for row := range n {
			if err := o.f.pass(int64(first[row].Size())); err != nil {
				return err
			}
			if err := o.f.grow(a.count.add(first[row])); err != nil {
				return err
			}
		}
		return nil
	}
	keeps := a.distinct || a.def.Keeps
	for row, g := range o.rowGroups[:n] {
		args := first[row : row+1 : row+1]
		if len(cols) > 1 {
			o.argRow = o.argRow[:0]
			for _, c := range cols {
				o.argRow = append(o.argRow, c[row])
			}
			args = o.argRow
		}
		if err := o.f.pass(int64(args[0].Size())); err != nil {
			return err
		}
		if err := o.states[g*len(o.aggs)+i].Add(args); err != nil {
			return a.at(err)
		}
		if keeps {
			if err := o.f.grow(int64(args[0].Size())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sized returns buf with n values, made larger when it is too short.
func sized(buf *[]value.Value, n int) []value.Value {
	if cap(*buf) < n {
		*buf = make([]value.Value, n)
	}
	*buf = (*buf)[:n]
	return *buf
}
