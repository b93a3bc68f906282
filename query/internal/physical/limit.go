package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// count evaluates the number of SKIP or LIMIT.
func count(f *frame, n eval.Fn, at syntax.Span, what string) (int64, error) {
	f.env.Cols = nil
	v, err := n(&f.env, 0)
	if err != nil {
		return 0, err
	}
	if v.Kind() != value.KindInt {
		return 0, fault.New(fault.SyntaxError, fault.Runtime, "InvalidArgumentType", at,
			"%s needs an integer, but got %s", what, v.Kind().Named())
	}
	if v.AsInt() < 0 {
		return 0, fault.New(fault.SyntaxError, fault.Runtime, "NegativeIntegerArgument", at,
			"%s needs a number that is not negative, but got %d", what, v.AsInt())
	}
	return v.AsInt(), nil
}

// window drops the first rows of its input and keeps a number of those behind.
type window struct {
	output
	f       *frame
	in      operator
	carry   []int
	bounds  func(f *frame) (skip, limit int64, err error)
	drain   bool // read the input to its end all the same
	started bool
	skip    int64
	limit   int64
}

func (o *window) open(f *frame) error {
	o.f, o.started = f, false
	return o.in.open(f)
}

func (o *window) next() (*batch.Batch, error) {
	if !o.started {
		var err error
		if o.skip, o.limit, err = o.bounds(o.f); err != nil {
			return nil, err
		}
		o.started = true
	}
	for o.limit > 0 || o.drain {
		in, err := o.in.next()
		if err != nil || in == nil {
			return nil, err
		}
		from := min(o.skip, int64(in.N))
		o.skip -= from
		n := min(int64(in.N)-from, o.limit)
		o.limit -= n
		if n == 0 {
			continue
		}
		if from == 0 && n == int64(in.N) {
			return in, nil
		}
		o.begin(o.f.width)
		for _, s := range o.carry {
			if c := in.Cols[s]; c != nil {
				o.b.Cols[s] = c[from : from+n]
			}
		}
		o.b.N = int(n)
		return &o.b, nil
	}
	return nil, nil
}

// distinct keeps the first of the rows that agree in some slots.
type distinct struct {
	output
	f     *frame
	in    operator
	carry []int
	slots []int
	seen  rowSet
	row   []value.Value
	sel   []int
}

func (o *distinct) open(f *frame) error {
	o.f = f
	o.seen.reset(len(o.slots))
	return o.in.open(f)
}

func (o *distinct) next() (*batch.Batch, error) {
	for {
		in, err := o.in.next()
		if err != nil || in == nil {
			return nil, err
		}
		o.sel = o.sel[:0]
		for i := range in.N {
			o.row = o.row[:0]
			for _, s := range o.slots {
				o.row = append(o.row, in.Cols[s][i])
			}
			size := rowSize(o.row)
			if err := o.f.pass(size); err != nil {
				return nil, err
			}
			if _, isNew := o.seen.add(o.row); !isNew {
				continue
			}
			if err := o.f.grow(size); err != nil {
				return nil, err
			}
			o.sel = append(o.sel, i)
		}
		if err := o.f.step(in.N); err != nil {
			return nil, err
		}
		switch len(o.sel) {
		case 0:
			continue
		case in.N:
			return in, nil
		}
		o.begin(o.f.width)
		o.gather(in, o.carry, o.sel)
		o.b.N = len(o.sel)
		return &o.b, nil
	}
}
