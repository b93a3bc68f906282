package benchmarks

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fullText measures top-10 searches for either of two words, and holds them
// against BM25 computed here, word by word, over the generated texts.
func (r *speedRun) fullText() error {
	q := r.queries.Ft
	hits := make([][]string, len(q))
	row, err := r.measure("ft", len(q), func(i int) error {
		res, err := r.query("CALL text.search($q, 10) YIELD node, score RETURN node.id", map[string]any{"q": q[i][0] + " " + q[i][1]})
		if err != nil {
			return err
		}
		hits[i] = hits[i][:0]
		for _, row := range res.Rows {
			hits[i] = append(hits[i], row[0].AsString())
		}
		return nil
	})
	if err != nil {
		return err
	}
	exact, err := readTexts(filepath.Join(r.set, "nodes.csv"))
	if err != nil {
		return err
	}
	share := 0.0
	for i := range q {
		share += exact.share(q[i], hits[i])
	}
	share /= float64(len(q))
	right := share >= 0.95
	row.Checksum, row.OK = fmt.Sprintf("share %.4f", share), &right
	r.add(row)
	return nil
}

// texts is a naive inverted index.
type texts struct {
	lengths  map[string]int
	postings map[string]map[string]int // word → id → frequency
	mean     float64
}

func readTexts(nodesCSV string) (*texts, error) {
	f, err := os.Open(nodesCSV)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &texts{lengths: map[string]int{}, postings: map[string]map[string]int{}}
	s := bufio.NewScanner(f)
	s.Scan() // header
	for s.Scan() {
		cells := strings.SplitN(s.Text(), ",", 4)
		if len(cells) < 4 {
			return nil, fmt.Errorf("%s: a line without content", nodesCSV)
		}
		words := strings.Fields(cells[2])
		t.lengths[cells[0]] = len(words)
		t.mean += float64(len(words))
		for _, w := range words {
			if t.postings[w] == nil {
				t.postings[w] = map[string]int{}
			}
			t.postings[w][cells[0]]++
		}
	}
	t.mean /= float64(len(t.lengths))
	return t, s.Err()
}

// share is the part of ten hits whose exact score reaches the exact tenth's.
func (t *texts) share(words [2]string, hits []string) float64 {
	const k1, b = 1.2, 0.4
	scores := map[string]float64{}
	for _, w := range words {
		df := float64(len(t.postings[w]))
		idf := math.Log(1 + (float64(len(t.lengths))-df+0.5)/(df+0.5))
		for id, tf := range t.postings[w] {
			norm := k1 * (1 - b + b*float64(t.lengths[id])/t.mean)
			scores[id] += idf * float64(tf) * (k1 + 1) / (float64(tf) + norm)
		}
	}
	var all []float64
	for _, s := range scores {
		all = append(all, s)
	}
	slices.Sort(all)
	want := min(10, len(all))
	if want == 0 {
		return 1
	}
	floor := all[len(all)-want] - 1e-9
	reached := 0
	for _, id := range hits[:min(len(hits), want)] {
		if scores[id] >= floor {
			reached++
		}
	}
	return float64(reached) / float64(want)
}
