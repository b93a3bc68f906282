package physical

import (
	"engram/query/internal/batch"
	"engram/query/internal/eval"
)

// filter keeps the rows for which all predicates are true.
type filter struct {
	output
	f     *frame
	in    operator
	carry []int
	preds []eval.Filter
	sel   []int
	// made[i] says that the scan below makes predicate i when within is exact.
	made   []bool
	within *within
}

func (o *filter) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *filter) next() (*batch.Batch, error) {
	for {
		in, err := o.in.next()
		if err != nil || in == nil {
			return nil, err
		}
		o.f.env.Cols = in.Cols
		sel := identity(&o.sel, in.N)
		for i, p := range o.preds {
			if o.made[i] && o.within.exact {
				continue
			}
			if sel, err = p(&o.f.env, sel); err != nil {
				return nil, err
			}
			if len(sel) == 0 {
				break
			}
		}
		if len(sel) == 0 {
			if err := o.f.step(in.N); err != nil {
				return nil, err
			}
			continue
		}
		if len(sel) == in.N {
			return in, nil
		}
		o.begin(o.f.width)
		o.gather(in, o.carry, sel)
		o.b.N = len(sel)
		return &o.b, nil
	}
}

// identity fills buf with 0 to n-1.
func identity(buf *[]int, n int) []int {
	s := (*buf)[:0]
	for i := range n {
		s = append(s, i)
	}
	*buf = s
	return s
}
