package benchmarks

import (
	"math"
	"reflect"
	"testing"
	"time"
)

func TestPercentileIsTheNearestRank(t *testing.T) {
	durations := []time.Duration{40, 10, 30, 20}
	for p, want := range map[int]time.Duration{1: 10, 25: 10, 26: 20, 50: 20, 51: 30, 99: 40, 100: 40} {
		if got := percentile(durations, p); got != want {
			t.Errorf("percentile %d is %d, want %d", p, got, want)
		}
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if durations[0] != 40 {
		t.Error("the durations were sorted in place")
	}
}

func TestScoreGroups(t *testing.T) {
	rows := score("s", "all", []outcome{
		{category: "b", conversation: 0, r5: 1, r10: 1, hit5: 1, p5: 0.2, rr: 1, took: 2 * time.Millisecond},
		{category: "adversarial", conversation: 1, r5: 0, r10: 0.5, rr: 0.125, took: 4 * time.Millisecond},
		{category: "b", conversation: 1, r5: 0.5, r10: 0.5, hit5: 1, p5: 0.2, rr: 0.5, took: 6 * time.Millisecond},
	})
	type line struct {
		category             string
		n                    int
		r5, r10, hit5, p5, m float64
	}
	var got []line
	for _, r := range rows {
		got = append(got, line{r.Category, r.N, r.R5, r.R10, r.Hit5, r.P5, r.MRR})
	}
	want := []line{
		{"adversarial", 1, 0, 0.5, 0, 0, 0.125},
		{"b", 2, 0.75, 0.75, 1, 0.2, 0.75},
		{"_all", 3, 0.5, 0.6667, 0.6667, 0.1333, 0.5417},
		{"_no-adversarial", 2, 0.75, 0.75, 1, 0.2, 0.75},
		{"_odd", 1, 1, 1, 1, 0.2, 1},
		{"_even", 2, 0.25, 0.5, 0.5, 0.1, 0.3125},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if *rows[2].P50 != 4 || *rows[2].P99 != 6 {
		t.Errorf("latencies %v and %v ms, want 4 and 6", *rows[2].P50, *rows[2].P99)
	}
}

// TestShare holds hits against scores computed by hand: three texts of four words.
func TestShare(t *testing.T) {
	x := &texts{
		lengths:  map[string]int{"1": 4, "2": 4, "3": 4},
		postings: map[string]map[string]int{"a": {"1": 2, "2": 1}, "b": {"3": 1}},
		mean:     4,
	}
	for _, c := range []struct {
		words [2]string
		hits  []string
		want  float64
	}{
		{[2]string{"a", "b"}, []string{"1", "3", "2"}, 1},
		{[2]string{"a", "b"}, []string{"1", "3"}, 2.0 / 3},
		{[2]string{"a", "none"}, []string{"2", "1"}, 1},
		{[2]string{"a", "none"}, []string{"3", "1"}, 0.5},
		{[2]string{"none", "neither"}, nil, 1},
	} {
		if got := x.share(c.words, c.hits); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v with %v: share %v, want %v", c.words, c.hits, got, c.want)
		}
	}
}
