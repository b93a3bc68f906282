package tck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Score collects outcomes.
type Score struct {
	passed, failed map[string]int // by area
	reasons        map[string]int
	failing        []string
}

// Add notes the outcome of a scenario; failure is nil when it passed.
func (s *Score) Add(sc *Scenario, failure *Failure) {
	if s.passed == nil {
		s.passed, s.failed, s.reasons = map[string]int{}, map[string]int{}, map[string]int{}
	}
	if failure == nil {
		s.passed[sc.Area()]++
		return
	}
	s.failed[sc.Area()]++
	s.reasons[failure.Reason]++
	s.failing = append(s.failing, sc.ID()+" — "+failure.Reason)
}

// Passed returns how many passed.
func (s *Score) Passed() int { return sum(s.passed) }

// Total returns how many there were.
func (s *Score) Total() int { return sum(s.passed) + sum(s.failed) }

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// Summary is the one line a reader looks for.
func (s *Score) Summary() string { return fmt.Sprintf("tck: passed %d of %d", s.Passed(), s.Total()) }

// String is the scoreboard: the sum, passed and failed by area, failed by
// reason, and the failing scenarios in the order they were added.
func (s *Score) String() string {
	var b strings.Builder
	b.WriteString(s.Summary() + "\n\n")
	fmt.Fprintf(&b, "%-40s %6s %6s\n", "area", "passed", "failed")
	areas := map[string]bool{}
	for a := range s.passed {
		areas[a] = true
	}
	for a := range s.failed {
		areas[a] = true
	}
	for _, a := range sortedKeys(areas) {
		fmt.Fprintf(&b, "%-40s %6d %6d\n", a, s.passed[a], s.failed[a])
	}
	fmt.Fprintf(&b, "\n%-40s %6s %6s\n", "reason", "", "failed")
	reasons := sortedKeys(s.reasons)
	slices.SortStableFunc(reasons, func(x, y string) int { return cmp.Compare(s.reasons[y], s.reasons[x]) })
	for _, r := range reasons {
		fmt.Fprintf(&b, "%-40s %6s %6d\n", r, "", s.reasons[r])
	}
	b.WriteString("\nfailing\n")
	for _, f := range s.failing {
		b.WriteString(f + "\n")
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
