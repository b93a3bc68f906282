package benchmarks

import "fmt"

// result is one line of a file of saved results: how a question went.
type result struct {
	Set      string  `json:"set"`
	ID       string  `json:"id"`
	Category string  `json:"category"`
	R5       float64 `json:"r5"`
	R10      float64 `json:"r10"`
	RR       float64 `json:"rr"`
	Rows     int     `json:"rows"` // recalled
}

func resultsOf(set string, outcomes []outcome) []result {
	var out []result
	for _, o := range outcomes {
		out = append(out, result{set, o.id, o.category, round(o.r5, 6), round(o.r10, 6), round(o.rr, 6), o.rows})
	}
	return out
}

func saveResults(file string, results []result) error { return writeLines(file, results) }

func readResults(file string) ([]result, error) {
	results, err := readLines[result](file)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if r.Set == "" || r.ID == "" {
			return nil, fmt.Errorf("%s: line %d is no saved result: it has no set or no id", file, i+1)
		}
	}
	return results, nil
}
