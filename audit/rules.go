package audit

import (
	"slices"
	"strings"
)

// rule is one finding: what it is called and how it is measured. The work is cut
// so that all findings share one pass over the topology and one over the records.
type rule struct {
	name  string
	title string // what it measures, one sentence
	// thresholds are the numbers that it compares with.
	thresholds []Threshold
	// begin prepares the finding. It may read the snapshot, but what is in every
	// node's record it gets through the work that it returns.
	begin func(a *audit) (work, error)
}

// work is a finding under way. Each part may be nil.
type work struct {
	// node sees every node of the topology in ascending order of id.
	node func(n node)
	// edge sees every edge once, in ascending order of id, after all nodes.
	edge func(e edge)
	// record sees every node's record in ascending order of id, after the topology.
	record func(r *record) error
	// end fills the finding in. Status is OK before.
	end func(f *Finding) error
}

// rules lists the findings in the order of reports. Each has a file of its own.
func rules() []rule {
	return []rule{
		ownerRuntimeDivergence(),
		indexDivergence(),
		typedEdgeDistribution(),
		orphansAndDangling(),
		componentsAndHubs(),
		selfModelConnectivity(),
		supersession(),
		duplicates(),
		tiersAndDecay(),
		valueExecutionConsistency(),
		wonderAuthenticity(),
		schemaDrift(),
		provenance(),
		embeddingCoverage(),
	}
}

// Thresholds lists the numbers that Options.With may set, by name.
func Thresholds() []Threshold {
	var out []Threshold
	for _, r := range rules() {
		out = append(out, r.thresholds...)
	}
	slices.SortFunc(out, func(a, b Threshold) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// What the findings that follow are made with.
var _, _ = (*audit).wantAll, (*audit).listEdges
