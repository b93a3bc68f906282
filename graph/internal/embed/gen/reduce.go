package main

import (
	"math"
	"slices"
)

// All sums here are taken in a fixed order, and each product is rounded by a
// conversion before it is added, so that no compiler may fuse the two: the same
// source gives the same bits on every machine.

// reduce makes unit vectors of outDim dimensions. Words' vectors are brought to
// unit length and centred on their mean; the dropped strongest principal
// components, which tell frequent from rare words rather than meanings (Mu and
// Viswanath, All-but-the-Top, 2018), are left out, and the next outDim components
// are the new axes.
func reduce(words []word, dropped, outDim int) [][]float64 {
	rows := make([][]float64, len(words))
	mean := make([]float64, sourceDim)
	for i, w := range words {
		rows[i] = unit(slices.Clone(w.vector))
		for j, x := range rows[i] {
			mean[j] += x
		}
	}
	for _, row := range rows {
		for j := range row {
			row[j] -= mean[j] / float64(len(words))
		}
	}
	axes := principal(rows)[dropped : dropped+outDim]
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = make([]float64, outDim)
		for k, axis := range axes {
			out[i][k] = dot(row, axis)
		}
		unit(out[i])
	}
	return out
}

// principal returns the principal axes of centred rows, strongest first. Of each,
// the entry of greatest magnitude is positive.
func principal(rows [][]float64) [][]float64 {
	n := len(rows[0])
	cov := make([][]float64, n)
	for i := range cov {
		cov[i] = make([]float64, n)
		for j := range i + 1 {
			for _, row := range rows {
				cov[i][j] += float64(row[i] * row[j])
			}
			cov[j][i] = cov[i][j]
		}
	}
	values, vectors := eigen(cov)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] > values[b]:
			return -1
		case values[a] < values[b]:
			return 1
		}
		return 0
	})
	axes := make([][]float64, n)
	for i, at := range order {
		axes[i] = make([]float64, n)
		greatest := 0
		for j := range n {
			axes[i][j] = vectors[j][at]
			if math.Abs(axes[i][j]) > math.Abs(axes[i][greatest]) {
				greatest = j
			}
		}
		if axes[i][greatest] < 0 {
			for j := range axes[i] {
				axes[i][j] = -axes[i][j]
			}
		}
	}
	return axes
}

// eigen returns the eigenvalues of a symmetric matrix, and its eigenvectors as
// columns, by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations,
// 8.5). It overwrites the matrix.
func eigen(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	v := make([][]float64, n)
	for i := range v {
		v[i] = make([]float64, n)
		v[i][i] = 1
	}
	for range 30 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p][q] != 0 {
					rotate(a, v, p, q)
				}
			}
		}
	}
	values = make([]float64, n)
	for i := range values {
		values[i] = a[i][i]
	}
	return values, v
}

// rotate makes a[p][q] zero.
func rotate(a, v [][]float64, p, q int) {
	tau := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := 1 / (math.Abs(tau) + math.Sqrt(1+float64(tau*tau)))
	if tau < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(1+float64(t*t))
	s := t * c
	for k := range a {
		x, y := a[k][p], a[k][q]
		a[k][p], a[k][q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
	for k := range a {
		x, y := a[p][k], a[q][k]
		a[p][k], a[q][k] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
		x, y = v[k][p], v[k][q]
		v[k][p], v[k][q] = float64(c*x)-float64(s*y), float64(s*x)+float64(c*y)
	}
	a[p][q], a[q][p] = 0, 0
}

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// unit brings a vector to length 1, in place.
func unit(v []float64) []float64 {
	if n := math.Sqrt(dot(v, v)); n > 0 {
		for i := range v {
			v[i] /= n
		}
	}
	return v
}
