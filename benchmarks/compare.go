package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
)

// comparison is how two ways to recall differ in one group of questions. A
// question counts as found when some of its evidence is among the first rows.
type comparison struct {
	Set      string  `json:"set"`
	Category string  `json:"category"`
	Metric   string  `json:"metric"` // hit5 or hit10
	N        int     `json:"n"`      // questions that both have
	A        float64 `json:"a"`      // share found
	B        float64 `json:"b"`
	OnlyA    int     `json:"only_a"` // discordant pairs
	OnlyB    int     `json:"only_b"`
	P        float64 `json:"p"`        // McNemar's, exact, two-sided
	Smallest float64 `json:"smallest"` // difference of A and B that could show
	Verdict  string  `json:"verdict"`
}

// verdicts of a comparison.
const (
	better       = "better"
	worse        = "worse"
	noDifference = "no measurable difference"
)

// Compare compares two ways to recall question by question and prints for each set
// and category the discordant pairs, McNemar's exact p and the smallest difference
// that could show. a and b are files that RecallOptions.Save wrote, or
// configurations to run on the sets now, such as all, legs=lexical or off=speaker.
func Compare(ctx context.Context, a, b string, opts RecallOptions, out io.Writer) error {
	var sides [2][]result
	for i, source := range []string{a, b} {
		var err error
		if sides[i], err = resultsFrom(ctx, source, opts); err != nil {
			return fmt.Errorf("bench recall: compare: %w", err)
		}
	}
	rows, err := compare(sides[0], sides[1])
	if err != nil {
		return fmt.Errorf("bench recall: compare: %w", err)
	}
	return writeComparisons(out, rows, opts.JSON, fmt.Sprintf("A is %s, B is %s", a, b))
}

func resultsFrom(ctx context.Context, source string, opts RecallOptions) ([]result, error) {
	if _, err := os.Stat(source); err == nil {
		return readResults(source)
	}
	c, err := parseConfig(source)
	if err != nil {
		return nil, err
	}
	if len(opts.Sets) == 0 {
		return nil, fmt.Errorf("%q is a configuration: name the sets to run it on", source)
	}
	var out []result
	for _, set := range opts.Sets {
		outcomes, err := recallSet(ctx, set, opts.Crowd, []config{c})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set, err)
		}
		out = append(out, resultsOf(setName(set), outcomes[0])...)
	}
	return out, nil
}

// pair is how one question went on both sides.
type pair struct{ a, b result }

// compare pairs the results by set and id. Questions that only one side has are an
// error: a comparison over what is left would be of something else.
func compare(a, b []result) ([]comparison, error) {
	type key struct{ set, id string }
	other := map[key]result{}
	for _, r := range b {
		other[key{r.Set, r.ID}] = r
	}
	var sets []string
	bySet := map[string][]pair{}
	for _, r := range a {
		k := key{r.Set, r.ID}
		x, ok := other[k]
		if !ok {
			return nil, fmt.Errorf("only A has the question %s of %s", r.ID, r.Set)
		}
		delete(other, k)
		if bySet[r.Set] == nil {
			sets = append(sets, r.Set)
		}
		bySet[r.Set] = append(bySet[r.Set], pair{r, x})
	}
	for _, r := range b {
		if _, left := other[key{r.Set, r.ID}]; left {
			return nil, fmt.Errorf("only B has the question %s of %s", r.ID, r.Set)
		}
	}
	if len(sets) == 0 {
		return nil, errors.New("there is no question")
	}
	var rows []comparison
	for _, set := range sets {
		rows = append(rows, compareSet(set, bySet[set])...)
	}
	return rows, nil
}

// compareSet compares by category, then over all and without adversarial questions.
func compareSet(set string, pairs []pair) (rows []comparison) {
	var categories []string
	for _, p := range pairs {
		if !slices.Contains(categories, p.a.Category) {
			categories = append(categories, p.a.Category)
		}
	}
	slices.Sort(categories)
	for _, c := range append(categories, "_all", "_no-adversarial") {
		in := func(r result) bool {
			switch c {
			case "_all":
				return r.Category != nonsense
			case "_no-adversarial":
				return r.Category != nonsense && r.Category != "adversarial"
			}
			return r.Category == c
		}
		for _, m := range []struct {
			name  string
			found func(result) bool
		}{
			{"hit5", func(r result) bool { return r.R5 > 0 || r.Category == nonsense && r.Rows == 0 }},
			{"hit10", func(r result) bool { return r.R10 > 0 || r.Category == nonsense && r.Rows == 0 }},
		} {
			row := comparison{Set: set, Category: c, Metric: m.name}
			for _, p := range pairs {
				if in(p.a) {
					row.count(m.found(p.a), m.found(p.b))
				}
			}
			if row.N > 0 {
				rows = append(rows, row.judged())
			}
		}
	}
	return rows
}

func (c *comparison) count(a, b bool) {
	c.N++
	if a {
		c.A++
	}
	if b {
		c.B++
	}
	switch {
	case a && !b:
		c.OnlyA++
	case b && !a:
		c.OnlyB++
	}
}

func (c comparison) judged() comparison {
	n := float64(c.N)
	c.P = round(mcnemar(c.OnlyA, c.OnlyB), 6)
	c.Smallest = round(smallestDifference(c.N, c.OnlyA+c.OnlyB), 4)
	c.A, c.B = round(c.A/n, 4), round(c.B/n, 4)
	switch {
	case c.P >= significant:
		c.Verdict = noDifference
	case c.OnlyB > c.OnlyA:
		c.Verdict = "B is " + better
	default:
		c.Verdict = "B is " + worse
	}
	return c
}

func writeComparisons(out io.Writer, rows []comparison, asJSON bool, title string) error {
	if asJSON {
		for _, r := range rows {
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", line)
		}
		return nil
	}
	fmt.Fprintln(out, title)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "set\tcategory\tmetric\tn\tA\tB\tonly A\tonly B\tp\tcould show\tverdict")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.4f\t%.4f\t%d\t%d\t%.4f\t%.4f\t%s\n", r.Set, r.Category, r.Metric, r.N, r.A, r.B, r.OnlyA, r.OnlyB, r.P, r.Smallest, r.Verdict)
	}
	return t.Flush()
}
