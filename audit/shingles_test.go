package audit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Signatures share bands as often as theory says: a band with a probability of s to the
// power of its rows, for sets that are alike by s. So the hash functions are independent of
// each other, and next to nothing that is alike is missed.
func TestBandsFindWhatIsAlike(t *testing.T) {
	const trials = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ all, common int }{{40, 32}, {40, 20}, {10, 8}, {40, 8}} {
		found, shared := 0, 0
		for range trials {
			var a, b []uint64
			for i := range c.all {
				x := r.Uint64()
				if i < c.common || i%2 == 0 {
					a = append(a, x)
				}
				if i < c.common || i%2 == 1 {
					b = append(b, x)
				}
			}
			hit, keys, others := 0, bandKeys(a), bandKeys(b)
			for i := range keys {
				if keys[i] == others[i] {
					hit = 1
					shared++
				}
			}
			found += hit
		}
		s := float64(c.common) / float64(c.all)
		band := math.Pow(s, bandRows)
		for name, x := range map[string][2]float64{
			"of the bands":       {float64(shared) / trials / bands, band},
			"of the pairs found": {float64(found) / trials, 1 - math.Pow(1-band, bands)},
		} {
			if math.Abs(x[0]-x[1]) > 0.01 {
				t.Errorf("alike by %v: %v %s, want %v", s, x[0], name, x[1])
			}
		}
	}
}
