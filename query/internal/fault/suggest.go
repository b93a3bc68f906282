package fault

import "strings"

// Nearest returns the candidate with the smallest edit distance to word,
// compared without case, or "" when none is near enough to be a misspelling: at
// most one edit for up to four characters, two for up to eight, else three. Of
// candidates that are as near, the one that begins like word for longer is taken,
// then the earlier one.
func Nearest(word string, candidates []string) string {
	w := []rune(strings.ToUpper(word))
	limit := 3
	switch {
	case len(w) < 3:
		return ""
	case len(w) <= 4:
		limit = 1
	case len(w) <= 8:
		limit = 2
	}
	best, prefix := "", -1
	for _, c := range candidates {
		other := []rune(strings.ToUpper(c))
		d := distance(w, other, limit)
		if d == 0 || d > limit || d == limit && commonPrefix(w, other) <= prefix && best != "" {
			continue
		}
		best, limit, prefix = c, d, commonPrefix(w, other)
	}
	return best
}

func commonPrefix(a, b []rune) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// NearestName is Nearest for names whose case matters: one that differs only in
// case is the nearest of all.
func NearestName(word string, candidates []string) string {
	for _, c := range candidates {
		if c != word && strings.EqualFold(c, word) {
			return c
		}
	}
	return Nearest(word, candidates)
}

// distance is the optimal string alignment distance (insertions, deletions,
// substitutions, swaps of neighbours), or more than limit as soon as that is
// certain.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var prev2 []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		prev2, prev = prev, row
	}
	return prev[len(b)]
}
