// Package benchmarks measures what engram promises: how well recall finds
// evidence, and how fast statements run. Both are commands of engramd, so that
// anybody can check the figures on a machine of their own.
package benchmarks

import (
	"math"
	"slices"
	"time"
)

// percentile returns the value below which p percent of the durations lie
// (nearest rank); 0 for none.
func percentile(durations []time.Duration, p int) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Clone(durations)
	slices.Sort(sorted)
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func round(x float64, places int) float64 {
	scale := math.Pow10(places)
	return math.Round(x*scale) / scale
}
