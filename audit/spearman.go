package audit

import (
	"cmp"
	"math"
	"slices"
)

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// exactPairs is up to how many pairs p is counted over all orders: 8! are 40,320.
const exactPairs = 8

// spearman is the rank correlation of two lists of the same length, at least 3, neither
// of which is constant, with its two-sided p and how that was obtained.
func spearman(x, y []float64) (rho, p float64, how string) {
	rx, ry := ranks(x), ranks(y)
	rho = pearson(rx, ry)
	if len(x) <= exactPairs {
		return rho, exactP(rx, ry, rho), "exact, over all orders"
	}
	return rho, studentP(rho, len(x)), "by Student's t"
}

// ranks are the places in ascending order from 1; equal values share the mean of theirs.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

func pearson(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my float64
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return max(-1, min(1, xy/math.Sqrt(xx*yy)))
}

// exactP is the share of all orders of y whose correlation is at least as far from 0.
func exactP(x, y []float64, rho float64) float64 {
	y = slices.Clone(y)
	far, all := 0, 0
	var permute func(k int)
	permute = func(k int) {
		if k == len(y) {
			all++
			if math.Abs(pearson(x, y)) >= math.Abs(rho)-1e-12 {
				far++
			}
			return
		}
		for i := k; i < len(y); i++ {
			y[k], y[i] = y[i], y[k]
			permute(k + 1)
			y[k], y[i] = y[i], y[k]
		}
	}
	permute(0)
	return float64(far) / float64(all)
}

// studentP takes t = rho·sqrt((n-2)/(1-rho²)) for a value of Student's distribution with
// n-2 degrees of freedom.
func studentP(rho float64, n int) float64 {
	if rho*rho >= 1 {
		return 0
	}
	df := float64(n - 2)
	t2 := rho * rho * df / (1 - rho*rho)
	return incompleteBeta(df/2, 0.5, df/(df+t2))
}

// incompleteBeta is the regularised incomplete beta function I_x(a, b), by its continued
// fraction (Lentz), which converges fast below the mean of the distribution.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log(1-x)) / a
	const tiny = 1e-300
	f, c, d := 1.0, 1.0, 0.0
	for i := range 500 {
		m := float64(i / 2)
		var part float64
		switch {
		case i == 0:
			part = 1
		case i%2 == 0:
			part = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			part = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + part*d; math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		if c = 1 + part/c; math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if math.Abs(1-c*d) < 1e-15 {
			break
		}
	}
	return front * (f - 1)
}
