package benchmarks

import "math"

// significant is below which p a difference is called one.
const significant = 0.05

// mcnemar returns the exact two-sided p of McNemar's test: how likely b against c
// discordant pairs, or a split more uneven, would be if neither side were better.
// It is a binomial test with one half; without discordant pairs it is 1.
func mcnemar(b, c int) float64 {
	n, less := b+c, min(b, c)
	p := 0.0
	for k := 0; k <= less; k++ {
		p += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

func logChoose(n, k int) float64 {
	lg := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return lg(n) - lg(k) - lg(n-k)
}

// smallestDifference returns the smallest difference of two shares that could show
// in n pairs of which as many are discordant, as a share of n: the least uneven split
// that is significant. With fewer than six discordant pairs none is, and six that
// all go one way would be the least.
func smallestDifference(n, discordant int) float64 {
	if n == 0 {
		return 1
	}
	d := max(discordant, 6)
	for less := d / 2; less >= 0; less-- {
		if mcnemar(less, d-less) < significant {
			return min(1, float64(d-2*less)/float64(n))
		}
	}
	return 1
}
