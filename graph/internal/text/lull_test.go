package text

import (
	"fmt"
	"testing"
)

// TestLull: what waits is written at the first tick without a change, and at the
// twentieth when changes keep coming.
func TestLull(t *testing.T) {
	var l lull
	seq, got := uint64(1), []int(nil)
	for tick := 1; tick <= 50; tick++ {
		if tick <= 3 || tick >= 8 {
			seq++
		}
		if l.now(seq) {
			got = append(got, tick)
		}
	}
	if want := "[4 5 6 7 27 47]"; fmt.Sprint(got) != want {
		t.Errorf("written at ticks %v; want %s", got, want)
	}
}
