package temporal

import (
	"fmt"
	"math/big"

	"engram/graph/value"
)

// durationUnits gives for each key of duration's map the part it counts in
// (0 months, 1 days, 2 seconds) and its size there.
var durationUnits = map[string]struct {
	part int
	size *big.Rat
}{
	"years":        {0, big.NewRat(12, 1)},
	"quarters":     {0, big.NewRat(3, 1)},
	"months":       {0, big.NewRat(1, 1)},
	"weeks":        {1, big.NewRat(7, 1)},
	"days":         {1, big.NewRat(1, 1)},
	"hours":        {2, big.NewRat(3600, 1)},
	"minutes":      {2, big.NewRat(60, 1)},
	"seconds":      {2, big.NewRat(1, 1)},
	"milliseconds": {2, big.NewRat(1, 1_000)},
	"microseconds": {2, big.NewRat(1, 1_000_000)},
	"nanoseconds":  {2, big.NewRat(1, 1_000_000_000)},
}

// constructDuration makes a duration from a map of numbers, whose fractions
// spread to the smaller units, or from a duration.
func constructDuration(arg value.Value) (value.Value, error) {
	if arg.Kind() == value.KindDuration {
		return arg, nil
	}
	m := arg.AsMap()
	if m == nil {
		return value.Null, fmt.Errorf("duration() takes a string, a map or a duration, not %s", arg.Kind().Named())
	}
	if len(m.Entries) == 0 {
		return value.Null, fmt.Errorf("duration() needs at least one unit, such as {days: 1}")
	}
	var sums [3]big.Rat
	for _, e := range m.Entries {
		u, ok := durationUnits[e.Key]
		if !ok {
			return value.Null, fmt.Errorf("duration() has no unit %s", e.Key)
		}
		if !e.Value.IsNumber() {
			return value.Null, fmt.Errorf("%s is a number, not %s", e.Key, e.Value.Kind().Named())
		}
		n, err := rat(e.Value)
		if err != nil {
			return value.Null, err
		}
		sums[u.part].Add(&sums[u.part], n.Mul(n, u.size))
	}
	return wrap(value.OfDuration)(value.DurationOf(&sums[0], &sums[1], &sums[2]))
}
