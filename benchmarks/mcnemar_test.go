package benchmarks

import (
	"math"
	"testing"
)

// TestMcNemar holds the test against values computed by hand: twice the sum of
// binomials over a power of two.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{
		{0, 0, 1},
		{1, 0, 1},                     // 2·1/2
		{0, 5, 2.0 / 32},              // 2·1/2⁵
		{0, 6, 2.0 / 64},              // 2·1/2⁶
		{1, 7, 2 * 9.0 / 256},         // 2·(1+8)/2⁸
		{8, 2, 2 * 56.0 / 1024},       // 2·(1+10+45)/2¹⁰
		{5, 5, 1},                     // 2·638/1024, at most 1
		{3, 12, 2 * 576.0 / 32768},    // 2·(1+15+105+455)/2¹⁵
		{10, 3, 2 * 378.0 / 8192},     // 2·(1+13+78+286)/2¹³
		{4, 16, 2 * 6196.0 / 1048576}, // 2·(1+20+190+1140+4845)/2²⁰
	} {
		if got := mcnemar(c.b, c.c); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("mcnemar(%d, %d) = %v, want %v", c.b, c.c, got, c.want)
		}
	}
	if p := mcnemar(9000, 9001); p < 0.99 || p > 1 {
		t.Errorf("of a large even split p is %v", p)
	}
}

func TestSmallestDifference(t *testing.T) {
	for _, c := range []struct {
		n, discordant int
		want          float64
	}{
		{0, 0, 1},
		{3, 0, 1},        // six pairs cannot be
		{100, 0, 0.06},   // six, all one way: p 0.031
		{100, 5, 0.06},   // five all one way is p 0.0625
		{100, 8, 0.08},   // 7 to 1 is p 0.070, 8 to 0 is 0.008
		{100, 9, 0.07},   // 8 to 1 is p 0.039
		{200, 15, 0.045}, // 12 to 3 is p 0.035, 11 to 4 is 0.118
	} {
		if got := smallestDifference(c.n, c.discordant); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("smallestDifference(%d, %d) = %v, want %v", c.n, c.discordant, got, c.want)
		}
	}
}
