package fn

import (
	"math"
	"slices"

	"engram/graph/value"
)

// counter is count.
type counter struct{ n int64 }

func (c *counter) Add(args []value.Value) error {
	if len(args) == 0 || !args[0].IsNull() {
		c.n++
	}
	return nil
}

func (c *counter) Result() (value.Value, error) { return value.Int(c.n), nil }
func (c *counter) Size() int                    { return 8 }

// collector is collect.
type collector struct {
	list []value.Value
	size int
}

func (c *collector) Add(args []value.Value) error {
	if !args[0].IsNull() {
		c.list = append(c.list, args[0])
		c.size += args[0].Size()
	}
	return nil
}

// Result gives a list of its own: what is added later does not show in it.
func (c *collector) Result() (value.Value, error) {
	return value.List(c.list[:len(c.list):len(c.list)]), nil
}

func (c *collector) Size() int { return 24 + c.size }

// extreme is min and max: sign is that of the order it looks for.
type extreme struct {
	sign int
	best value.Value
}

func (m *extreme) Add(args []value.Value) error {
	v := args[0]
	if v.IsNull() {
		return nil
	}
	if m.best.IsNull() || value.Order(v, m.best)*m.sign > 0 {
		m.best = v
	}
	return nil
}

func (m *extreme) Result() (value.Value, error) { return m.best, nil }
func (m *extreme) Size() int                    { return 32 }

// percentiler is percentileDisc and percentileCont.
type percentiler struct {
	name        string
	interpolate bool
	at          float64
	runs        [][]value.Value // each in order; the next is shorter than half
	tail        []value.Value   // not yet in order
	n           int
}

// sortedRun is how many values are put in order at a time. Longer runs are merged
// of two as they come, so that millions of values need no long pause at the end,
// in which nobody could stop the statement.
const sortedRun = 4096

// flush makes a run of the tail and merges runs of about the same length; with
// all, all of them.
func (p *percentiler) flush(all bool) {
	if len(p.tail) > 0 {
		slices.SortStableFunc(p.tail, value.Order)
		p.runs = append(p.runs, p.tail)
		p.tail = nil
	}
	for len(p.runs) > 1 {
		a, b := p.runs[len(p.runs)-2], p.runs[len(p.runs)-1]
		if !all && len(b) < len(a) {
			return
		}
		p.runs = append(p.runs[:len(p.runs)-2], mergeRuns(a, b))
	}
}

// mergeRuns merges two runs; of equal values those of a come first.
func mergeRuns(a, b []value.Value) []value.Value {
	out := make([]value.Value, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if value.Order(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

func (p *percentiler) Add(args []value.Value) error {
	if args[0].IsNull() {
		return nil
	}
	for i, a := range args {
		if !a.IsNumber() {
			return badArgument(p.name, i, numT, a.Kind())
		}
	}
	p.at = args[1].AsFloat()
	if !(p.at >= 0 && p.at <= 1) {
		return outOfRange("the percentile of %s() must be from 0.0 to 1.0, but is %v", p.name, p.at)
	}
	p.n++
	if p.tail = append(p.tail, args[0]); len(p.tail) == sortedRun {
		p.flush(false)
	}
	return nil
}

func (p *percentiler) Result() (value.Value, error) {
	n := p.n
	if n == 0 {
		return value.Null, nil
	}
	p.flush(true)
	values := p.runs[0]
	if !p.interpolate {
		// The least value with at least that share of values up to it.
		i := int(math.Ceil(p.at*float64(n))) - 1
		return values[max(i, 0)], nil
	}
	position := p.at * float64(n-1)
	low := int(math.Floor(position))
	high := min(low+1, n-1)
	a, b, share := values[low].AsFloat(), values[high].AsFloat(), position-float64(low)
	if share == 0 {
		return value.Float(a), nil
	}
	return value.Float(a*(1-share) + b*share), nil
}

func (p *percentiler) Size() int { return 48 + p.n*valueSize }

// deviation is stDev and stDevP by Welford's method (Technometrics 4/3, 1962),
// which loses no digits to large means.
type deviation struct {
	name     string
	less     int64 // what the divisor is less than the count
	n        int64
	mean, m2 float64
}

func (d *deviation) Add(args []value.Value) error {
	if args[0].IsNull() {
		return nil
	}
	if !args[0].IsNumber() {
		return badArgument(d.name, 0, numT, args[0].Kind())
	}
	x := args[0].AsFloat()
	d.n++
	delta := x - d.mean
	d.mean += delta / float64(d.n)
	d.m2 += delta * (x - d.mean)
	return nil
}

func (d *deviation) Result() (value.Value, error) {
	if d.n <= d.less || d.n == 0 {
		return value.Float(0), nil
	}
	return value.Float(math.Sqrt(d.m2 / float64(d.n-d.less))), nil
}

func (d *deviation) Size() int { return 40 }
