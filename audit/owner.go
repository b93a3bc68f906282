package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ownerRuntimeDivergence compares what this process holds with what the owner of
// the store reports, and with what the last RECORD AUDIT kept.
func ownerRuntimeDivergence() rule {
	return rule{
		name:  "owner_runtime_divergence",
		title: "What this process holds against what the owner of the store reports, and the trend since the last RECORD AUDIT.",
		thresholds: []Threshold{{
			Name: "shrink", Default: 0.1, Min: 0, Max: 1,
			Meaning: "Share of nodes or edges that may be gone since the last RECORD AUDIT before it is a notice.",
		}},
		begin: func(a *audit) (work, error) {
			return work{end: func(f *Finding) error { a.ownerEnd(f); return nil }}, nil
		},
	}
}

func (a *audit) ownerEnd(f *Finding) {
	here := CountsOf(a.tx)
	f.How = "exact: counters of the snapshot"
	f.measure("nodes", here.Nodes, "nodes")
	f.measure("edges", here.Edges, "edges")
	notes := []string{}
	switch o := a.o.Owner; {
	case o == nil:
		notes = append(notes, "No other owner was named: this process holds the store itself, so there is nothing that could differ.")
	case o.Err != nil:
		f.Status = Unknown
		f.measure("owner_nodes", nil, "nodes")
		f.measure("owner_edges", nil, "edges")
		notes = append(notes, fmt.Sprintf("%s could not be asked, so it is not known whether anything differs: %v.", o.Source, o.Err))
	default:
		notes = append(notes, a.compareOwner(f, here, o))
	}
	notes = append(notes, a.trend(f, here))
	f.Note = strings.Join(notes, " ")
}

// compareOwner notes where the owner counts otherwise.
func (a *audit) compareOwner(f *Finding, here Counts, o *Owner) string {
	f.How += "; " + o.Source + " as of transaction " + fmt.Sprint(o.Seq)
	f.measure("owner_nodes", o.Nodes, "nodes")
	f.measure("owner_edges", o.Edges, "edges")
	f.measure("owner_seq", int64(o.Seq), "transactions")
	differs := 0
	for _, t := range unionKeys(here.Types, o.Types) {
		if here.Types[t] != o.Types[t] {
			differs++
			f.part("type", t, here.Types[t], fmt.Sprintf("%d at the owner", o.Types[t]))
		}
	}
	same := differs == 0 && here.Nodes == o.Nodes && here.Edges == o.Edges
	switch {
	case same:
		return fmt.Sprintf("%s has the same numbers of nodes and edges, of each type too.", o.Source)
	case here.Seq == o.Seq:
		f.Status = Defect
		return fmt.Sprintf("%s stands at the same transaction and counts otherwise: %+d nodes, %+d edges here, and %s. One of the two is not what was written.",
			o.Source, here.Nodes-o.Nodes, here.Edges-o.Edges, amount(differs, "type differs", "types differ"))
	}
	f.Status = Notice
	return fmt.Sprintf("%s stands at transaction %d, this snapshot at %d: %+d nodes, %+d edges here. That may be what was written in between.",
		o.Source, o.Seq, here.Seq, here.Nodes-o.Nodes, here.Edges-o.Edges)
}

// trend compares with what was recorded last.
func (a *audit) trend(f *Finding, here Counts) string {
	last := a.o.Last
	if last == nil {
		return "No RECORD AUDIT is there to tell a trend from."
	}
	f.measure("nodes_since_last", here.Nodes-last.Nodes, "nodes")
	f.measure("edges_since_last", here.Edges-last.Edges, "edges")
	for _, t := range unionKeys(here.Types, last.Types) {
		if d := here.Types[t] - last.Types[t]; d != 0 {
			f.part("type since last", t, d, "")
		}
	}
	least := 1 - a.threshold("shrink")
	if float64(here.Nodes) < least*float64(last.Nodes) || float64(here.Edges) < least*float64(last.Edges) {
		if f.Status == OK {
			f.Status = Notice
		}
		return fmt.Sprintf("Since the last RECORD AUDIT (transaction %d) the graph shrank: %+d nodes, %+d edges.", last.Seq, here.Nodes-last.Nodes, here.Edges-last.Edges)
	}
	return fmt.Sprintf("Since the last RECORD AUDIT (transaction %d): %+d nodes, %+d edges.", last.Seq, here.Nodes-last.Nodes, here.Edges-last.Edges)
}

func unionKeys(a, b map[string]int64) []string {
	keys := slices.Collect(maps.Keys(a))
	keys = slices.AppendSeq(keys, maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
