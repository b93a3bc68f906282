package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
)

// quoted writes a text as a statement has it.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + "'"
}

// maxSuggestions is how many statements a finding suggests; what is left comes when
// these have been run.
const maxSuggestions = 100

// suggest adds a statement, unless there are enough or none are wanted.
func (a *audit) suggest(f *Finding, statement string) {
	if a.o.Suggest && len(f.Suggestions) < maxSuggestions {
		f.Suggestions = append(f.Suggestions, statement)
	}
}

// hit is a node that a finding lists, with the reason.
type hit struct {
	id  value.NodeID
	why string
}

// listHits lists nodes in ascending order of id, reasons of the same node in the
// order they were found.
func (a *audit) listHits(f *Finding, hits []hit) error {
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(x.id, y.id) })
	var merged []hit
	for _, h := range hits {
		if n := len(merged); n > 0 && merged[n-1].id == h.id {
			merged[n-1].why += "; " + h.why
			continue
		}
		merged = append(merged, h)
	}
	return a.listNodes(f, len(merged), func(i int) value.NodeID { return merged[i].id }, func(i int) string { return merged[i].why })
}

// prop reads a property; Null when nothing has one of that name.
func (a *audit) prop(id value.NodeID, name string) (value.Value, error) {
	k, ok := a.tx.Key(name)
	if !ok {
		return value.Null, nil
	}
	return a.tx.NodeProp(id, k)
}

// state is whether a memory can be recalled, by what it says of itself.
type state struct {
	status string
	closed bool // what it said does not hold any more
}

func (a *audit) state(id value.NodeID) (s state, err error) {
	v, err := a.prop(id, vocab.KeyStatus)
	if err != nil {
		return s, err
	}
	s.status = vocab.StatusActive
	if v.Kind() == value.KindString {
		s.status = v.AsString()
	}
	until, err := a.prop(id, vocab.KeyValidTo)
	if err != nil {
		return s, err
	}
	ms, ok := momentOf(until)
	s.closed = ok && ms <= a.o.Now
	return s, nil
}

// recalled reports whether recall looks at such a memory.
func (s state) recalled() bool { return s.status == vocab.StatusActive && !s.closed }

// momentOf is the time of a DATETIME in milliseconds since 1970.
func momentOf(v value.Value) (int64, bool) {
	if v.Kind() != value.KindDateTime {
		return 0, false
	}
	t := v.AsDateTime()
	return t.Seconds*1000 + int64(t.Nanos)/1e6, true
}

// plural says how many there are of something.
func plural[N int | int64](n N, what string) string { return amount(n, what, what+"s") }

// amount says how many there are of what has words of its own for one and for many.
func amount[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}
