package activation

import "math/bits"

// mulDiv returns a·b/c rounded down, with a 128-bit product. a·b/c must fit 64
// bits, which holds here: either b <= c, or amounts stay below
// 2^47 and factors are at most 16 times the unit c.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}
