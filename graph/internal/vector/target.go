package vector

import (
	"math"
	"math/bits"
)

// prior is how many vectors without direction count towards the mean: the mean of
// a few vectors is these vectors, and taking it off would leave nothing.
const prior = 50

// fine is in what parts of one the target is counted.
const fine = 1 << 14

// planes is how many bits of a target's magnitude the prefilter looks at.
const planes = 3

// target is a query made ready: its direction less the mean, in whole numbers.
type target struct {
	dim    int
	pairs  []int64 // of query - mean, times 2^32, plus of mean
	length float64 // of query - mean
	offset float64 // (query - mean)·mean
	square float64 // mean·mean
	sign   []uint64
	masks  [planes][]uint64
}

// newTarget prepares a query for a store of which totals are given; without a mean
// it is compared as it is.
func newTarget(query []float64, t totals, centred bool) *target {
	n := len(query)
	q := &target{dim: n, pairs: make([]int64, n)}
	d, mean := make([]float64, n), make([]float64, n)
	for j, x := range query {
		if centred {
			mean[j] = math.Round(float64(t.sums[j])/unit/float64(t.live+prior)*fine) / fine
		}
		d[j] = math.Round((x-mean[j])*fine) / fine
		q.pairs[j] = int64(d[j]*fine)<<32 + int64(mean[j]*fine)
	}
	q.length, q.offset, q.square = math.Sqrt(dot(d, d)), dot(d, mean), dot(mean, mean)
	q.slice(d)
	return q
}

// slice makes the signs and bit planes for the prefilter: a magnitude counts 0 to 7,
// 7 from 2.5 times the root of the mean square on.
func (q *target) slice(d []float64) {
	w := words(q.dim)
	q.sign = make([]uint64, w)
	for b := range q.masks {
		q.masks[b] = make([]uint64, w)
	}
	step := 2.5 * q.length / math.Sqrt(float64(q.dim)) / (1<<planes - 1)
	for j, x := range d {
		if x > 0 {
			q.sign[j/64] |= 1 << (j % 64)
		}
		m := uint64(0)
		if step > 0 {
			m = uint64(min(math.Round(math.Abs(x)/step), 1<<planes-1))
		}
		for b := range q.masks {
			q.masks[b][j/64] |= (m >> b & 1) << (j % 64)
		}
	}
}

// score returns the cosine of the angle between query and vector, both less the
// mean, from -1 to 1; 0 where either is the mean.
func (q *target) score(c code) float64 {
	along, mean := q.products(c.codes)
	scale := float64(c.scale) / unit
	dx := scale * float64(along) / fine
	mx := scale * float64(mean) / fine
	square := float64(float64(scale*scale)*float64(c.norm)) - float64(2*mx) + q.square
	if square < 1e-9 || q.length < 1e-9 {
		return 0
	}
	return min(max((dx-q.offset)/(q.length*math.Sqrt(square)), -1), 1)
}

// products returns the scalar products of codes with query - mean and with the mean,
// by one multiplication each: both are within 2^29, as codes have a length of at
// most 2^13 and the other sides of at most 2^15.
func (q *target) products(codes []int8) (along, mean int32) {
	var a, b int64
	pairs := q.pairs[:len(codes)]
	for len(codes) >= 4 {
		c, p := (*[4]int8)(codes), (*[4]int64)(pairs)
		a += int64(c[0])*p[0] + int64(c[1])*p[1]
		b += int64(c[2])*p[2] + int64(c[3])*p[3]
		codes, pairs = codes[4:], pairs[4:]
	}
	for j, c := range codes {
		a += int64(c) * pairs[j]
	}
	a += b
	mean = int32(a)
	return int32((a - int64(mean)) >> 32), mean
}

// coarse estimates the score from signs alone: the sum of the magnitudes of those
// dimensions in which the signs agree. It is a whole number, and linear in the
// estimate of (query - mean)·vector.
func (q *target) coarse(sign []uint64) uint32 {
	var sum int
	for w, s := range sign {
		agree := ^(s ^ q.sign[w])
		sum += bits.OnesCount64(agree&q.masks[0][w]) + 2*bits.OnesCount64(agree&q.masks[1][w]) + 4*bits.OnesCount64(agree&q.masks[2][w])
	}
	return uint32(sum)
}
