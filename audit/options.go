package audit

import (
	"maps"
	"slices"
	"strings"

	"engram/graph"
)

// Options say what to look at and how closely.
type Options struct {
	// Only names the findings that are wanted, in any order; empty: all.
	Only []string
	// With sets thresholds by name; see Thresholds. Missing ones have their default.
	With map[string]float64
	// Limit is how many ids each list of a finding has at most, 1 to 10,000; 0 means
	// DefaultLimit.
	Limit int
	// Cursor goes on where a list ended: its Next. The other lists begin at their
	// beginning.
	Cursor string
	// Now is the time that ages are counted to, in milliseconds since 1970.
	Now int64
	// Suggest adds statements that would settle what was found.
	Suggest bool
	// Owner is what the owner of the store reports; nil when nobody else owns it.
	Owner *Owner
	// Last is what the last RECORD AUDIT kept; nil when there is none.
	Last *Recorded
	// Reads is what was counted of the names that statements read and write; nil when
	// nobody counts.
	Reads *Reads
	// Pressed are the nodes that thinking held back; nil when that is not known.
	Pressed *[]Pressed
}

// The number of ids a list has.
const (
	DefaultLimit = 20
	MaxLimit     = 10_000
)

// Threshold is a number that a finding compares with.
type Threshold struct {
	Name     string
	Default  float64
	Min, Max float64
	Meaning  string // one sentence
}

// Counts are the numbers of a graph that two reports are compared by.
type Counts struct {
	Seq   uint64
	Nodes int64
	Edges int64
	Types map[string]int64 // edges by type; types without edges may be missing
}

// Owner is what the owner of the store said about itself.
type Owner struct {
	Source string // who was asked: an address or a file
	// Err is why there is no answer; Counts then mean nothing.
	Err error
	Counts
}

// Recorded is what RECORD AUDIT kept.
type Recorded struct {
	At int64 // in milliseconds since 1970
	Counts
	// Self is the external id of the self that was declared; "": none was.
	Self string
	// Pillars are the names of those that were declared.
	Pillars []string
}

// CountsOf counts what a transaction sees.
func CountsOf(tx *graph.Tx) Counts {
	c := Counts{Seq: tx.Seq(), Nodes: tx.NodeCount(0), Edges: tx.EdgeCount(0), Types: map[string]int64{}}
	for _, t := range tx.RelTypesInUse() {
		c.Types[tx.RelTypeName(t)] = tx.EdgeCount(t)
	}
	return c
}

// Names returns the names of all findings, in the order of reports.
func Names() []string {
	names := make([]string, len(rules()))
	for i, r := range rules() {
		names[i] = r.name
	}
	return names
}

// Titles returns what each finding measures, one sentence each, by name.
func Titles() map[string]string {
	titles := map[string]string{}
	for _, r := range rules() {
		titles[r.name] = r.title
	}
	return titles
}

// check refuses what cannot be meant.
func (o *Options) check() error {
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return unknownName("finding", name, Names())
		}
	}
	known := map[string]Threshold{}
	for _, t := range Thresholds() {
		known[t.Name] = t
	}
	for _, name := range slices.Sorted(maps.Keys(o.With)) {
		t, ok := known[name]
		if !ok {
			return unknownName("threshold", name, slices.Sorted(maps.Keys(known)))
		}
		if v := o.With[name]; !(v >= t.Min && v <= t.Max) {
			return invalid("the threshold %s is from %g to %g, but %g was given", name, t.Min, t.Max, v)
		}
	}
	if o.Limit < 0 || o.Limit > MaxLimit {
		return invalid("limit is from 1 to %d, but %d was given", MaxLimit, o.Limit)
	}
	return nil
}

func unknownName(what, name string, known []string) error {
	if near := nearest(name, known); near != "" {
		return invalid("there is no %s %q; did you mean %s?", what, name, near)
	}
	return invalid("there is no %s %q; there are %s", what, name, strings.Join(known, ", "))
}

// nearest returns the name that is alike, the first of several; empty when none is.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if strings.HasPrefix(k, strings.ToLower(name)) && len(name) >= 3 {
			return k
		}
		if d := distance(strings.ToLower(name), k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is Levenshtein's, by characters.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
