package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"engram"
)

// ablation is what one leg or rule of recall does for a set, over all its
// questions: the scores without it less those with it, so that what helps is
// negative.
type ablation struct {
	Set      string  `json:"set"`
	Off      string  `json:"off"` // empty: the scores with everything on
	About    string  `json:"about,omitempty"`
	N        int     `json:"n"`
	R5       float64 `json:"r5"`
	R10      float64 `json:"r10"`
	MRR      float64 `json:"mrr"`
	OnlyWith int     `json:"only_with"` // questions found in the first 5 only with it
	OnlyOff  int     `json:"only_off"`  // and only without it
	P        float64 `json:"p"`
	Verdict  string  `json:"verdict,omitempty"`
}

// Ablation switches each leg and rule of recall off, one at a time, and prints what
// that does to each set: what does not help should be off or gone.
func Ablation(ctx context.Context, opts RecallOptions, out io.Writer) error {
	if len(opts.Sets) == 0 {
		return errors.New("bench recall: no set given")
	}
	rules := engram.RecallRules()
	configs := []config{{legs: opts.Legs, off: opts.Off}}
	for _, r := range rules {
		configs = append(configs, config{opts.Legs, append([]string{r.Name}, opts.Off...)})
	}
	var rows []ablation
	for _, set := range opts.Sets {
		outcomes, err := recallSet(ctx, set, opts.Crowd, configs)
		if err != nil {
			return fmt.Errorf("bench recall: %s: %w", set, err)
		}
		rows = append(rows, ablate(setName(set), rules, outcomes)...)
	}
	if opts.JSON {
		for _, r := range rows {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", line)
		}
		return nil
	}
	return writeAblation(out, rows)
}

// ablate compares the outcomes without each rule with those that come first, which
// have all.
func ablate(set string, rules []engram.RecallRule, outcomes [][]outcome) []ablation {
	scored := func(o outcome) bool { return o.category != nonsense }
	base := average(set, "", "_all", outcomes[0], scored)
	rows := []ablation{{Set: set, N: base.N, R5: base.R5, R10: base.R10, MRR: base.MRR, P: 1}}
	for i, rule := range rules {
		off := outcomes[i+1]
		got := average(set, "", "_all", off, scored)
		row := ablation{
			Set: set, Off: rule.Name, About: rule.About, N: got.N,
			R5: round(got.R5-base.R5, 4), R10: round(got.R10-base.R10, 4), MRR: round(got.MRR-base.MRR, 4),
		}
		for k, o := range outcomes[0] {
			switch with, without := o.hit5 > 0, off[k].hit5 > 0; {
			case with && !without:
				row.OnlyWith++
			case without && !with:
				row.OnlyOff++
			}
		}
		row.P = round(mcnemar(row.OnlyWith, row.OnlyOff), 6)
		switch {
		case row.P >= significant:
			row.Verdict = noDifference
		case row.OnlyWith > row.OnlyOff:
			row.Verdict = "it helps"
		default:
			row.Verdict = "it hurts"
		}
		rows = append(rows, row)
	}
	return rows
}

func writeAblation(out io.Writer, rows []ablation) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\twithout\tn\tR@5\tR@10\tMRR\thit@5 only with\tonly without\tp\tverdict\twhat it does")
	for _, r := range rows {
		if r.Off == "" {
			fmt.Fprintf(t, "%s\t\t%d\t%.4f\t%.4f\t%.4f\n", r.Set, r.N, r.R5, r.R10, r.MRR)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%+.4f\t%+.4f\t%+.4f\t%d\t%d\t%.4f\t%s\t%s\n",
			r.Set, r.Off, r.N, r.R5, r.R10, r.MRR, r.OnlyWith, r.OnlyOff, r.P, r.Verdict, r.About)
	}
	return t.Flush()
}
