package audit

import (
	"math"
	"testing"
)

// TestSpearman compares with values that were computed independently: ranks with ties
// by sorting, all orders counted, Student's density integrated.
func TestSpearman(t *testing.T) {
	up := make([]float64, 30)
	far, near := make([]float64, 30), make([]float64, 30)
	for i := range up {
		n := i + 1
		up[i], far[i], near[i] = float64(n), float64(n*7%30+n/3), float64(n/2+n*5%7)
	}
	for _, c := range []struct {
		x, y   []float64
		rho, p float64
	}{
		{[]float64{1, 2, 3, 4, 5}, []float64{5, 6, 7, 8, 7}, 0.8207826816681233, 2.0 / 15},
		{[]float64{1, 2, 2, 4, 5, 6, 7}, []float64{3, 1, 2, 2, 5, 9, 7}, 0.7181818181818181, 0.075},
		{up, far, 0.18461205127624591, 0.3287550256700903},
		{up, near, 0.9113396423018297, 2.6143531783873186e-12},
		{up, up, 1, 0},
	} {
		rho, p, _ := spearman(c.x, c.y)
		if math.Abs(rho-c.rho) > 1e-12 || math.Abs(p-c.p) > 1e-9*max(c.p, 1e-6) && math.Abs(p-c.p) > 1e-11 {
			t.Errorf("rho %v p %v, want %v and %v", rho, p, c.rho, c.p)
		}
	}
}
