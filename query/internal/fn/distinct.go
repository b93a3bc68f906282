package fn

import (
	"math/rand/v2"

	"engram/graph/value"
)

// Distinct makes an aggregator that passes each different first argument on to
// a once, in the order of first appearance. Different is as for grouping: NaN
// equals itself and 1 equals 1.0. Null is passed on, for a to ignore.
func Distinct(a Aggregator) Aggregator {
	return &distinct{inner: a, seed: rand.Uint64(), seen: map[uint64][]value.Value{}}
}

type distinct struct {
	inner Aggregator
	seed  uint64                   // against values chosen to collide; shows in no output
	seen  map[uint64][]value.Value // by hash; never iterated
	size  int
}

func (d *distinct) Add(args []value.Value) error {
	if len(args) == 0 || args[0].IsNull() {
		return d.inner.Add(args)
	}
	h := value.HashWith(d.seed, args[0])
	for _, v := range d.seen[h] {
		if value.Equivalent(v, args[0]) {
			return nil
		}
	}
	d.seen[h] = append(d.seen[h], args[0])
	d.size += 64 + args[0].Size()
	return d.inner.Add(args)
}

func (d *distinct) Result() (value.Value, error) { return d.inner.Result() }
func (d *distinct) Size() int                    { return 48 + d.size + d.inner.Size() }
