package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
)

// countLookup yields one row with a count of the graph's statistics.
type countLookup struct {
	output
	f     *frame
	in    operator
	slot  int
	label string
	edges bool
	types []string
	args  []int // slots that keep the value given from outside
	done  bool
}

func (o *countLookup) open(f *frame) error {
	o.f, o.done = f, false
	return o.in.open(f)
}

func (o *countLookup) next() (*batch.Batch, error) {
	if o.done {
		return nil, nil
	}
	o.done = true
	o.begin(o.f.width)
	o.b.N = 1
	for _, s := range o.args {
		o.col(s, 1)[0] = o.f.args[s]
	}
	o.col(o.slot, 1)[0] = value.Int(o.count())
	return &o.b, nil
}

func (o *countLookup) count() int64 {
	if !o.edges {
		if o.label == "" {
			return o.f.r.NodeCount(0)
		}
		if id, ok := o.f.r.Label(o.label); ok {
			return o.f.r.NodeCount(id)
		}
		return 0
	}
	if len(o.types) == 0 {
		return o.f.r.EdgeCount(0)
	}
	var n int64
	var seen []value.TypeID
	for _, t := range o.types {
		id, ok := o.f.r.RelType(t)
		if before := len(seen); ok {
			if seen = appendNew(seen, id); len(seen) > before {
				n += o.f.r.EdgeCount(id)
			}
		}
	}
	return n
}
