package logical

import "strings"

// Rules is a set of rules, used to switch them off.
type Rules uint32

// The rules. rewrite has the order in which they are applied.
const (
	// OrderPatterns starts a MATCH at its cheapest node and follows the cheapest
	// edge first, instead of reading it from left to right.
	OrderPatterns Rules = 1 << iota
	// PushFilters tests predicates as soon as what they read is known.
	PushFilters
	// SeekIDs finds a node by its id instead of scanning for it.
	SeekIDs
	// ScanLabels scans the nodes of a label instead of all nodes.
	ScanLabels
	// SeekIndexes finds nodes by an index instead of scanning a label.
	SeekIndexes
	// JoinValues finds the nodes of a disconnected pattern by hash.
	JoinValues
	// MeetInto follows edges between two known nodes from the cheaper end.
	MeetInto
	// FuseTopK keeps the first rows while sorting instead of sorting all.
	FuseTopK
	// ProjectLate computes items for the rows that a limit leaves only.
	ProjectLate
	// LookUpCounts reads counts of all nodes or edges from the statistics.
	LookUpCounts
	// SpareBarriers puts a barrier only where a write could be seen, instead of
	// around every write.
	SpareBarriers
	// PruneColumns drops columns that nobody reads any more.
	PruneColumns
	// ReachEnds searches for the ends of walks instead of listing the walks where
	// only the set of ends matters.
	ReachEnds
	// FuseCreates makes one operator of CREATE clauses that follow each other.
	FuseCreates
	// SemiJoins looks for one row of an EXISTS { } that rows are filtered by.
	SemiJoins
	// LookUpDegrees reads the number of a node's edges from the topology where
	// EXISTS { } or COUNT { } wants to know no more.
	LookUpDegrees
	// ReadInOrder reads nodes in the order of an index where the first rows in that
	// order are all that is asked for.
	ReadInOrder
	endOfRules
)

// AllRules switches every rule off.
const AllRules = endOfRules - 1

// Has reports whether a rule is in the set.
func (r Rules) Has(rule Rules) bool { return r&rule != 0 }

var ruleNames = []string{
	"OrderPatterns", "PushFilters", "SeekIDs", "ScanLabels", "SeekIndexes", "JoinValues", "MeetInto", "FuseTopK", "ProjectLate", "LookUpCounts", "SpareBarriers", "PruneColumns",
	"ReachEnds", "FuseCreates", "SemiJoins", "LookUpDegrees", "ReadInOrder",
}

// RuleNames returns the names of the rules; rule i
// is Rules(1) << i.
func RuleNames() []string { return append([]string(nil), ruleNames...) }

// String lists the rules of the set.
func (r Rules) String() string {
	var out []string
	for i, n := range ruleNames {
		if r.Has(1 << i) {
			out = append(out, n)
		}
	}
	return strings.Join(out, ",")
}

// rewrite applies the rules to a part. OrderPatterns has worked while the
// patterns were laid out.
func (b *builder) rewrite(p *Part) {
	steps := []struct {
		rule  Rules
		apply func(*Op)
	}{
		{PushFilters, pushFilters},
		{SeekIDs, seekIDs},
		{SeekIndexes, b.seekIndexes},
		{SeekIndexes, b.narrowRecalls},
		{ScanLabels, b.scanLabels},
		{JoinValues, joinValues},
		{SemiJoins, semiJoins},
		{MeetInto, meetInto},
		{FuseTopK, fuseTopK},
		{FuseCreates, fuseCreates},
		{ProjectLate, projectLate},
		{ReadInOrder, b.readInOrder},
		{LookUpCounts, lookUpCounts},
	}
	for _, s := range steps {
		if !b.off.Has(s.rule) {
			everywhere(&p.Op, s.apply)
		}
	}
	if b.writes {
		b.insertBarriers(&p.Op)
	}
	b.pruneColumns(p)
	if b.ask != askRows && !b.off.Has(LookUpDegrees) {
		lookUpDegrees(p)
	}
	if !b.off.Has(ReachEnds) {
		b.reachEnds(p.Op, b.ask == askSome)
	}
}

// everywhere applies a rule to every operator, outer ones first.
func everywhere(op *Op, rule func(*Op)) {
	rule(op)
	for _, in := range (*op).Inputs() {
		everywhere(in, rule)
	}
}
