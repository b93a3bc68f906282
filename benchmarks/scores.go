package benchmarks

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// scoreRow is one line of the recall scoreboard.
type scoreRow struct {
	Set      string  `json:"set"`
	Legs     string  `json:"legs"`
	Category string  `json:"category"`
	N        int     `json:"n"`
	R5       float64 `json:"r5"`
	R10      float64 `json:"r10"`
	Hit5     float64 `json:"hit5"`
	P5       float64 `json:"p5"`
	MRR      float64 `json:"mrr"`
	// Silent is the share of nonsense questions for which nothing was recalled.
	Silent *float64 `json:"silent,omitempty"`
	P50    *float64 `json:"p50_ms,omitempty"`
	P99    *float64 `json:"p99_ms,omitempty"`
}

// score groups outcomes: by category, over all, without adversarial questions,
// and by odd and even conversations.
func score(set, legs string, outcomes []outcome) []scoreRow {
	var categories []string
	for _, o := range outcomes {
		if !slices.Contains(categories, o.category) {
			categories = append(categories, o.category)
		}
	}
	slices.Sort(categories)
	groups := []struct {
		name string
		in   func(outcome) bool
	}{
		{"_all", func(o outcome) bool { return o.category != nonsense }},
		{"_no-adversarial", func(o outcome) bool { return o.category != "adversarial" && o.category != nonsense }},
		{"_odd", func(o outcome) bool { return o.conversation%2 == 0 && o.category != nonsense }}, // the first is number 1
		{"_even", func(o outcome) bool { return o.conversation%2 == 1 && o.category != nonsense }},
	}
	var rows []scoreRow
	for _, c := range categories {
		row := average(set, legs, c, outcomes, func(o outcome) bool { return o.category == c })
		if c == nonsense {
			row.Silent = silent(outcomes)
		}
		rows = append(rows, row)
	}
	for _, g := range groups {
		if row := average(set, legs, g.name, outcomes, g.in); row.N > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// silent is the share of nonsense questions that got no row.
func silent(outcomes []outcome) *float64 {
	n, none := 0, 0
	for _, o := range outcomes {
		if o.category == nonsense {
			n++
			if o.rows == 0 {
				none++
			}
		}
	}
	share := round(float64(none)/float64(n), 4)
	return &share
}

func average(set, legs, category string, outcomes []outcome, in func(outcome) bool) scoreRow {
	row := scoreRow{Set: set, Legs: legs, Category: category}
	var took []time.Duration
	for _, o := range outcomes {
		if !in(o) {
			continue
		}
		row.N++
		row.R5 += o.r5
		row.R10 += o.r10
		row.Hit5 += o.hit5
		row.P5 += o.p5
		row.MRR += o.rr
		took = append(took, o.took)
	}
	if row.N == 0 {
		return row
	}
	for _, sum := range []*float64{&row.R5, &row.R10, &row.Hit5, &row.P5, &row.MRR} {
		*sum = round(*sum/float64(row.N), 4)
	}
	p50, p99 := milliseconds(percentile(took, 50)), milliseconds(percentile(took, 99))
	row.P50, row.P99 = &p50, &p99
	return row
}

func writeScoreLines(w io.Writer, rows []scoreRow, noTimes bool) error {
	for _, r := range rows {
		if noTimes {
			r.P50, r.P99 = nil, nil
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func writeScoreTable(w io.Writer, rows []scoreRow, noTimes bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	times := "p50 ms\tp99 ms\t"
	if noTimes {
		times = ""
	}
	fmt.Fprintf(t, "set\tlegs\tcategory\tn\tR@5\tR@10\thit@5\tP@5\tMRR\t%s\n", times)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t", r.Set, r.Legs, r.Category, r.N, r.R5, r.R10, r.Hit5, r.P5, r.MRR)
		if !noTimes && r.P50 != nil {
			fmt.Fprintf(t, "%.2f\t%.2f\t", *r.P50, *r.P99)
		}
		if r.Silent != nil {
			fmt.Fprintf(t, "nothing recalled: %.4f\t", *r.Silent)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
