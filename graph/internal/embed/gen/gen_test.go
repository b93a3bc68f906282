package main

import (
	"math"
	"strings"
	"testing"
)

func TestEigen(t *testing.T) {
	// Eigenvalues 1, 2 and 4 for the axes (1,-1,0)/√2, (0,0,1), (1,1,0)/√2.
	values, vectors := eigen([][]float64{{2.5, 1.5, 0}, {1.5, 2.5, 0}, {0, 0, 2}})
	found := map[int]bool{}
	for k, v := range values {
		found[int(math.Round(v))] = true
		for i, row := range [][]float64{{2.5, 1.5, 0}, {1.5, 2.5, 0}, {0, 0, 2}} {
			var got float64
			for j, x := range row {
				got += x * vectors[j][k]
			}
			if math.Abs(got-v*vectors[i][k]) > 1e-12 {
				t.Errorf("column %d is no eigenvector of %v", k, v)
			}
		}
	}
	if !found[1] || !found[2] || !found[4] {
		t.Errorf("eigenvalues %v, want 1, 2 and 4", values)
	}
}

func TestPrincipal(t *testing.T) {
	axes := principal([][]float64{{-6, -3}, {6, 3}, {-1, 2}, {1, -2}})
	for i, want := range [][]float64{{2 / math.Sqrt(5), 1 / math.Sqrt(5)}, {-1 / math.Sqrt(5), 2 / math.Sqrt(5)}} {
		if math.Abs(dot(axes[i], want)-1) > 1e-12 {
			t.Errorf("axis %d is %v, want %v", i, axes[i], want)
		}
	}
}

func TestQuantise(t *testing.T) {
	for j, c := range quantise([]float64{0.7, -0.35, 0.1, 0, -0.7}) {
		if want := []int{7, -4, 1, 0, -7}[j]; c != want && c != want+1 {
			t.Errorf("code %d is %d, want about %d", j, c, want)
		}
	}
}

func TestReadWords(t *testing.T) {
	vector := "[" + strings.Repeat("0.5,", sourceDim) + "1,"
	doc := `{"precision":8,"size":4,"dimensions":100,"words":["a",",","b","c"],"vectors":{"c":` + vector + `3],",":` + vector + `1],"b":` + vector + `2],"a":` + vector + `0]}}`
	words, size, err := readWords(strings.NewReader(doc), 2)
	if err != nil {
		t.Fatal(err)
	}
	if size != 4 || len(words) != 2 || words[0].text != "a" || words[1].text != "b" || words[1].rank != 2 {
		t.Errorf("size %d, words %v", size, words)
	}
	for _, bad := range []string{`{}`, `{"dimensions":50,"words":["a","b"],"vectors":{}}`, strings.Replace(doc, "2]", "5]", 1), strings.Replace(doc, `"b":`, `"x":`, 1)} {
		if _, _, err := readWords(strings.NewReader(bad), 2); err == nil {
			t.Errorf("no error for %.60s", bad)
		}
	}
}

func TestRarityFallsWithFrequency(t *testing.T) {
	for r := range 20_000 {
		if a, b := idf(r, 13), idf(r+1, 13); !(a > 0 && b > a && b < 64) {
			t.Fatalf("rank %d: %v, next %v", r, a, b)
		}
	}
}
