package graphgen

import (
	"math/big"
	"sort"
)

// stream is the mulberry32 generator: 32 bits of state, each value a multiple of
// 2^-32 in [0, 1).
type stream struct{ state uint32 }

func newStream(seed, purpose uint32) *stream { return &stream{state: seed ^ purpose} }

func (s *stream) float() float64 {
	s.state += 0x6D2B79F5
	t := (s.state ^ s.state>>15) * (s.state | 1)
	t ^= t + (t^t>>7)*(t|61)
	return float64(t^t>>14) / (1 << 32)
}

func (s *stream) below(n int) int { return int(s.float() * float64(n)) }

// permutation shuffles 0..n-1 from the end (Fisher and Yates).
func permutation(n int, r *stream) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		j := r.below(i + 1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// zipf draws ranks 0..n-1 with probability in proportion to (rank+1)^-s.
type zipf struct{ cumulative []float64 }

// newZipf takes s in quarters: 4 is 1, 3 is 0.75, 2 is 0.5. Powers are rounded
// from 96 bits, so that the sums agree on every machine.
func newZipf(n, quarters int) zipf {
	z := zipf{make([]float64, n)}
	sum := 0.0
	for i := range z.cumulative {
		sum += inversePower(i+1, quarters)
		z.cumulative[i] = sum
	}
	return z
}

func inversePower(x, quarters int) float64 {
	if quarters == 4 {
		return 1 / float64(x)
	}
	number := func() *big.Float { return new(big.Float).SetPrec(96) }
	root := number().Sqrt(number().SetInt64(int64(x)))
	if quarters == 3 {
		root.Mul(root, number().Sqrt(root))
	}
	f, _ := number().Quo(number().SetInt64(1), root).Float64()
	return f
}

func (z zipf) draw(r *stream) int {
	last := len(z.cumulative) - 1
	u := r.float() * z.cumulative[last]
	return sort.Search(last, func(i int) bool { return z.cumulative[i] >= u })
}
