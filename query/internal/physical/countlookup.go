package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
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
	n, err := o.count()
	o.col(o.slot, 1)[0] = value.Int(n)
	return &o.b, err
}

func (o *countLookup) count() (n int64, err error) {
	if o.edges {
		return o.countEdges()
	}
	if o.label == "" {
		return o.f.r.NodeCount(0), nil
	}
	if id, ok := o.f.r.Label(o.label); ok {
		return o.f.r.NodeCount(id), nil
	}
	return 0, nil
}

func (o *countLookup) countEdges() (n int64, err error) {
	count := func(t value.TypeID) (int64, error) { return o.f.r.EdgeCount(t), nil }
	if c, ok := o.f.r.(access.EdgeCounter); ok {
		count = c.CountEdges
	}
	if len(o.types) == 0 {
		return count(0)
	}
	var seen []value.TypeID
	for _, t := range o.types {
		id, ok := o.f.r.RelType(t)
		if before := len(seen); ok {
			if seen = appendNew(seen, id); len(seen) > before {
				more, err := count(id)
				if err != nil {
					return 0, err
				}
				n += more
			}
		}
	}
	return n, nil
}
