package fn

import (
	"math"
	"math/big"

	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/internal/temporal"
)

// adder is sum. Integers add up exactly and in any order: only a total beyond
// INTEGER is an error. One float makes the total a float.
type adder struct {
	name      string
	n         int64
	ints      int64
	wide      *big.Int // the integers' total once ints has overflowed
	floats    float64
	lost      float64 // what rounding took from floats (Neumaier 1974)
	float     bool
	durations bool
	duration  value.Duration
}

func (s *adder) Add(args []value.Value) error {
	v := args[0]
	switch v.Kind() {
	case value.KindNull:
		return nil
	case value.KindInt:
		s.addInt(v.AsInt())
	case value.KindFloat:
		s.addFloat(v.AsFloat())
	case value.KindDuration:
		if s.n > 0 && !s.durations {
			return s.mixed()
		}
		s.durations = true
		d, err := fromTemporal(temporal.Add(value.OfDuration(s.duration), v))
		s.duration = d.AsDuration()
		s.n++
		return err
	default:
		return badArgument(s.name, 0, numT.Or(durationT), v.Kind())
	}
	if s.durations {
		return s.mixed()
	}
	s.n++
	return nil
}

func (s *adder) mixed() error {
	return fault.AtRuntime(fault.TypeError, "InvalidArgumentValue", "%s() cannot add numbers and durations together", s.name)
}

func (s *adder) addInt(i int64) {
	if s.wide != nil {
		s.wide.Add(s.wide, big.NewInt(i))
		return
	}
	total := s.ints + i
	if (total > s.ints) != (i > 0) && i != 0 {
		s.wide = new(big.Int).Add(big.NewInt(s.ints), big.NewInt(i))
		return
	}
	s.ints = total
}

func (s *adder) addFloat(f float64) {
	s.float = true
	total := s.floats + f
	if math.Abs(s.floats) >= math.Abs(f) {
		s.lost += (s.floats - total) + f
	} else {
		s.lost += (f - total) + s.floats
	}
	s.floats = total
}

func (s *adder) intsAsFloat() float64 {
	if s.wide == nil {
		return float64(s.ints)
	}
	f, _ := new(big.Float).SetInt(s.wide).Float64()
	return f
}

func (s *adder) total() float64 {
	t := s.floats + s.intsAsFloat()
	if math.IsInf(s.floats, 0) || math.IsNaN(s.floats) {
		return t // lost is NaN then
	}
	return t + s.lost
}

func (s *adder) Result() (value.Value, error) {
	switch {
	case s.durations:
		return value.OfDuration(s.duration), nil
	case s.float:
		return value.Float(s.total()), nil
	case s.wide == nil:
		return value.Int(s.ints), nil
	case s.wide.IsInt64():
		return value.Int(s.wide.Int64()), nil
	}
	return value.Null, overflow("%s() is %s, which is beyond INTEGER", s.name, s.wide)
}

func (s *adder) Size() int { return 96 }

// averager is avg.
type averager struct{ adder }

func (a *averager) Result() (value.Value, error) {
	switch {
	case a.n == 0:
		return value.Null, nil
	case a.durations:
		return fromTemporal(temporal.Divide(value.OfDuration(a.duration), value.Int(a.n)))
	}
	return value.Float(a.total() / float64(a.n)), nil
}
