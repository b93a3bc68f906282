package vector

import "math"

// unit is how a scale is counted: in 2^-24.
const unit = 1 << 24

// code is a vector of length 1 in whole numbers: dimension j is about
// scale·codes[j]/2^24.
type code struct {
	scale uint32 // 0: no vector
	norm  uint32 // sum of the codes' squares
	codes []int8
}

// encode quantises a vector that was checked. Every step is rounded as IEEE 754
// says, in fixed order, so all machines get the same code.
func encode(v []float32) code {
	u := normalised(v)
	greatest := 0.0
	for _, x := range u {
		greatest = max(greatest, math.Abs(x))
	}
	c := code{scale: uint32(math.Ceil(greatest * unit / 127)), codes: make([]int8, len(u))}
	for j, x := range u {
		k := int32(math.Round(x * unit / float64(c.scale)))
		c.codes[j] = int8(k)
		c.norm += uint32(k * k)
	}
	return c
}

// normalised returns a vector in the same direction, of length 1.
func normalised(v []float32) []float64 {
	greatest := 0.0
	for _, x := range v {
		greatest = max(greatest, math.Abs(float64(x)))
	}
	out := make([]float64, len(v))
	for j, x := range v {
		out[j] = float64(x) / greatest // squares neither overflow nor vanish
	}
	length := math.Sqrt(dot(out, out))
	for j := range out {
		out[j] /= length
	}
	return out
}

func dot(a, b []float64) float64 {
	var sum float64
	for j := range a {
		sum += float64(a[j] * b[j])
	}
	return sum
}

// signs sets, for each dimension, the bit that tells whether its code is positive.
func signs(out []uint64, codes []int8) {
	clear(out)
	for j, c := range codes {
		if c > 0 {
			out[j/64] |= 1 << (j % 64)
		}
	}
}
